"""What the lesson on the residual shows, worked out once more by gradients by hand: see `derived`.

Addresses end with the kind of network (0 pre-norm, 1 post-norm, 2 and 3 the same without the sums),
its depth, and the seed of its weights, as far as an array depends on them.
"""

import math
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from model import reference
from model.verify import backward

if TYPE_CHECKING:
    from model.verify.derived import Ran

Array = np.ndarray
DEPTHS = (2, 4, 8, 16, 32, 48)
INPUTS, TOKENS, WIDTH, HEADS, NEURONS, N_KINDS = 8, 8, 32, 4, 64, 4
SHAPES = {
    **{f"attn.{name}_proj": (WIDTH, WIDTH) for name in ("q", "k", "v", "out")},
    "ffn.up": (NEURONS, WIDTH),
    "ffn.down": (WIDTH, NEURONS),
}


def _length(gradient: Array) -> float:
    """√(Σ x²) of (T, D); of several inputs (B, T, D) the B-th root of the product of theirs."""
    squares = (gradient**2).sum(axis=(-2, -1)).ravel().tolist()
    return math.exp(math.fsum(map(math.log, squares)) / (2 * len(squares)))


@lru_cache(maxsize=1)
def _weights(seed: int) -> dict[str, Array]:
    """Of the deepest network: shallower ones have its first blocks."""
    found = {"final_norm.gain": np.ones(WIDTH)}
    for layer in range(max(DEPTHS)):
        drawn = np.random.default_rng([seed, 0, layer])
        for name, shape in SHAPES.items():
            found[f"blocks.{layer}.{name}.weight"] = drawn.normal(size=shape) / shape[1] ** 0.5
        for name in ("attn", "ffn"):
            found[f"blocks.{layer}.{name}_norm.gain"] = np.ones(WIDTH)
    return found


def _config(kind: int) -> reference.Config:
    placement = ("pre", "post")[kind % 2]
    sizes = {"n_heads": HEADS, "n_kv_heads": HEADS, "d_model": WIDTH}
    own = {"position": "none", "feedforward": "relu", "norm_placement": placement}
    return reference.DEFAULTS | sizes | own


@lru_cache(maxsize=len(DEPTHS) * N_KINDS)
def _lengths(kind: int, depth: int, seed: int) -> Array:
    """The gradient before each block and after the last, (depth + 1,)."""
    if depth not in DEPTHS or kind >= N_KINDS:
        raise KeyError(depth)
    model = reference.Reader(reference.Files(_config(kind), _weights(seed)))
    mask, keeps = np.tri(TOKENS, dtype=bool), float(kind < 2)
    stream = [np.random.default_rng([seed, 1]).normal(size=(INPUTS, TOKENS, WIDTH))]
    for layer in range(depth):
        part = model.part(f"blocks.{layer}")
        middle = backward.forward_half(part, stream[-1], mask, "attn", keeps)
        stream.append(backward.forward_half(part, middle, mask, "ffn", keeps))
    after = np.random.default_rng([seed, 2]).normal(size=(INPUTS, TOKENS, WIDTH))
    after /= np.sqrt((after**2).sum(axis=(1, 2), keepdims=True))
    if kind % 2 == 0:
        after = backward.norm(model, "final_norm", stream[-1], after)
    return _walked_back(model, stream[:-1], mask, after, keeps)


def _walked_back(
    model: reference.Reader, streams: list[Array], mask: Array, after: Array, keeps: float
) -> Array:
    """Lengths of the gradients on the way from the last block to the first, in layer order."""
    found = [_length(after)]
    for layer in reversed(range(len(streams))):
        after = backward.block(model.part(f"blocks.{layer}"), streams[layer], mask, after, keeps)
        found.append(_length(after))
    return np.array(found[::-1])


def _own(ran: "Ran") -> Array:
    """Of the mean loss of the run's text, before each block and after the last, (L + 1,)."""
    logits, ids = ran.arrays["output"], np.asarray(ran.arrays["decoder.ids"])
    n = len(ids) - 1
    of_logits = reference.softmax(logits)
    of_logits[np.arange(n), ids[1:]] -= 1
    of_logits[n] = 0
    name = "embed" if ran.files.config["tied_embeddings"] else "unembed"
    after = of_logits / n @ ran.model.get(f"{name}.weight")
    last = ran.arrays[f"decoder.blocks.{ran.n_layers - 1}.resid_post"]
    if ran.files.config["norm_placement"] == "pre":
        after = backward.norm(ran.model, "final_norm", last, after)
    streams = [ran.arrays[f"decoder.blocks.{i}.resid_pre"] for i in range(ran.n_layers)]
    mask = np.asarray(ran.arrays["decoder.blocks.0.attn.mask"])
    return _walked_back(ran.model, streams, mask, after, 1.0)


DEEP: dict[str, Callable[..., Array]] = {
    "deep.first": lambda ran, kind, seed: np.array(
        [_lengths(kind, depth, seed)[0] for depth in DEPTHS]
    ),
    "deep.layers": lambda ran, kind, depth, seed: _lengths(kind, depth, seed),
    "deep.own": _own,
}
