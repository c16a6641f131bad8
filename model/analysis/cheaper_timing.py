"""How long one causal head takes at growing lengths: exact, in a window, as a running sum.

Torch on one CPU thread, so that other work on the machine disturbs little. Times do not depend on
what the numbers are: the vectors of a head are repeated to each length.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from model.analysis.timing import Timing, time_rounds
from model.attention import additive_mask
from model.masks import causal
from model.verify.check import relative_error

EXACT, WINDOW, LINEAR = "exact", "window", "linear"
LENGTHS = (128, 192, 256, 384, 512, 768, 1024, 1536, 2048)
CHUNK = 64  # queries done together; divides every length
ROUNDS, LEAST_ROUNDS = 9, 3


def exact(q: Tensor, k: Tensor, v: Tensor, added: Tensor) -> Tensor:
    """softmax(q·kᵀ/√Dh + added) · v with all of its scores. added: (T, T). (T, Dh)."""
    scores = q @ k.T / math.sqrt(q.shape[-1])  # (T, T)
    return (scores + added).softmax(dim=-1) @ v


def ahead(n: int) -> Tensor:
    """The causal mask to be added: −∞ where a key comes after its query. (n, n)."""
    return additive_mask(causal(n), torch.float32)


def windowed(q: Tensor, k: Tensor, v: Tensor, window: int) -> Tensor:
    """The same over the last `window` keys of each query, CHUNK queries at a time. (T, Dh)."""
    n, reach = len(q), CHUNK + window - 1

    def around(x: Tensor) -> Tensor:
        """What the queries of each chunk may attend to, (T/CHUNK, reach, Dh)."""
        return F.pad(x, (0, 0, window - 1, 0)).unfold(0, reach, CHUNK).transpose(1, 2)

    places = torch.arange(CHUNK)[:, None] - torch.arange(reach)  # (CHUNK, reach)
    near = (places <= 0) & (places > -window)
    starts = torch.arange(0, n, CHUNK)[:, None] + torch.arange(reach) - (window - 1)
    mask = near & (starts >= 0)[:, None]  # (T/CHUNK, CHUNK, reach)
    chunks = q.unflatten(0, (-1, CHUNK))  # (T/CHUNK, CHUNK, Dh)
    scores = chunks @ around(k).transpose(1, 2) / math.sqrt(q.shape[-1])
    return ((scores + additive_mask(mask, q.dtype)).softmax(dim=-1) @ around(v)).flatten(0, 1)


def linear(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Linear attention with elu + 1 as a running sum over chunks. (T, Dh).

    Values have a column of ones more, whose sum is what to divide by.
    """
    queries, keys = (F.elu(x).add(1).unflatten(0, (-1, CHUNK)) for x in (q, k))
    values = F.pad(v, (0, 1), value=1.0).unflatten(0, (-1, CHUNK))  # (T/CHUNK, CHUNK, Dh + 1)
    sums = keys.transpose(1, 2) @ values  # of each chunk, (T/CHUNK, Dh, Dh + 1)
    before = sums.cumsum(dim=0) - sums
    within = (queries @ keys.transpose(1, 2)).tril() @ values
    z = (queries @ before + within).flatten(0, 1)
    return z[:, :-1] / z[:, -1:]


def ways(
    window: int, lengths: Sequence[int]
) -> Mapping[str, Callable[[Tensor, Tensor, Tensor], Tensor]]:
    """What is timed, by name; masks of all lengths are made before."""
    masks = {n: ahead(n) for n in lengths}
    return {
        EXACT: lambda q, k, v: exact(q, k, v, masks[len(q)]),
        WINDOW: lambda q, k, v: windowed(q, k, v, window),
        LINEAR: linear,
    }


@torch.inference_mode()
def time_ways(
    vectors: tuple[np.ndarray, np.ndarray, np.ndarray], window: int, budget_s: float = 5.0
) -> Iterator[Timing]:
    """Time each way at each of LENGTHS, round after round, and yield a timing after each run.

    vectors: q, k and v of a head, (T, Dh) each. At the shortest length the window as long as the
    text must give what the exact way gives; how far they are apart is the first timing's
    `difference`.
    """
    found = ways(window, LENGTHS)
    q, k, v = vectors
    inputs = {n: (_repeated(q, n), _repeated(k, n), _repeated(v, n)) for n in LENGTHS}
    shortest = inputs[LENGTHS[0]]
    apart = _apart(windowed(*shortest, LENGTHS[0]), found[EXACT](*shortest))
    for way in found.values():
        way(*inputs[LENGTHS[1]])  # the first runs of a kind are slow
    runs = {(name, n): partial(found[name], *inputs[n]) for n in LENGTHS for name in found}
    yield from time_rounds(
        runs,
        dict.fromkeys(found, apart),
        n_rounds=ROUNDS,
        least_rounds=LEAST_ROUNDS,
        budget_s=budget_s,
    )


def _repeated(x: np.ndarray, n: int) -> Tensor:
    return torch.from_numpy(np.resize(np.asarray(x, np.float32), (n, x.shape[-1])))


def _apart(actual: Tensor, expected: Tensor) -> float:
    return relative_error(actual.numpy(), expected.numpy())
