"""What a trace's logits say: probabilities and losses, in float64."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from model.decoding.filters import Sampling, filter_logits
from model.trace import Trace

AT_ONCE = 4_000_000  # logits in float64


def probabilities(logits: np.ndarray) -> Tensor:
    """softmax of each row in float64. logits: (…, V). Returns (…, V)."""
    return torch.tensor(logits).double().softmax(dim=-1)


def next_token_losses(logits: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """−ln p of each token but the first, in nats. logits: (T, V), ids: (T,). Returns (T − 1,)."""
    return -at_targets(logits[:-1], ids[1:], torch.log_softmax)


def given_probabilities(trace: Trace) -> np.ndarray:
    """Probability the model gave each token from those before it, (T,); NaN for the first."""
    probs = target_probabilities(trace.logits[:-1], trace.ids[1:].tolist())
    return np.concatenate([[np.nan], probs])


def target_probabilities(logits: np.ndarray, targets: Sequence[int]) -> np.ndarray:
    """Probability of a target at each position. logits: (T, V), targets: T ids. Returns (T,)."""
    return at_targets(logits, targets, torch.softmax)


def at_targets(
    logits: np.ndarray, targets: Sequence[int] | np.ndarray, of: Callable[..., Tensor]
) -> np.ndarray:
    """A function of all logits of a row, in float64, at its target; of a long text in pieces."""
    places = torch.tensor(targets, dtype=torch.long)[:, None]
    n_pieces = 1 + logits.size // AT_ONCE
    pieces = zip(np.array_split(logits, n_pieces), places.tensor_split(n_pieces), strict=True)
    values = [of(torch.tensor(x).double(), dim=-1).gather(1, at)[:, 0] for x, at in pieces]
    return torch.cat(values).numpy()


def rank(logits: np.ndarray, token_id: int) -> int:
    """How many tokens are more likely, a lower id first on ties. logits: (V,)."""
    value = logits[token_id]
    return int((logits > value).sum() + (logits[:token_id] == value).sum())


def most_likely_other(logits: np.ndarray, token_id: int) -> int:
    """The most likely token but one. logits: (V,)."""
    first, second = np.argsort(-logits, kind="stable")[:2]
    return int(second if first == token_id else first)


def leading_tokens(before: np.ndarray, after: np.ndarray, k: int) -> list[tuple[int, float, float]]:
    """The k most likely tokens of either of two distributions: id and both probabilities.

    before and after: logits (V,). Ordered by the second one.
    """
    first, second = probabilities(before), probabilities(after)
    leading = {
        i for probs in (first, second) for i in probs.topk(min(k, len(probs))).indices.tolist()
    }
    return [
        (i, float(first[i]), float(second[i])) for i in sorted(leading, key=lambda i: -second[i])
    ]


@dataclass(frozen=True, eq=False)
class Distribution:
    """The next token's distribution from the model and after the filters, (V,) each."""

    logits: np.ndarray
    before: np.ndarray  # softmax of the logits
    after: np.ndarray  # what is sampled from; zero where removed
    kept: np.ndarray  # bool


def distribution(logits: np.ndarray, sampling: Sampling) -> Distribution:
    """The distribution over the whole vocabulary, before and after the filters. logits: (V,)."""
    filtered = filter_logits(torch.tensor(logits), sampling)
    return Distribution(
        logits=logits,
        before=probabilities(logits).numpy(),
        after=filtered.double().softmax(dim=0).numpy(),
        kept=(filtered > -torch.inf).numpy(),
    )
