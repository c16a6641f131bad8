"""What the lesson on cheaper attention shows, worked out once more: see `derived`.

Addresses of a site end with the head and what a way is set by: the window, the global tokens or
the rank; those of tiles with the head, the query and the keys of a tile.
"""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from model import reference
from model.verify.counted import kind_of_mask

if TYPE_CHECKING:
    from model.verify.derived import Ran

Array = np.ndarray
BYTES, LENGTHS = 4, tuple(2**power for power in range(6, 18))
NOTHING = 0  # a size that a kind of mask has no use for


class _Head(NamedTuple):
    """One head of the independent run."""

    q: Array
    k: Array
    v: Array
    scores: Array
    bias: Array | float
    mask: Array


def _head(ran: "Ran", site: str, head: int) -> _Head:
    q, k = ran.arrays[f"{site}.q"], ran.arrays[f"{site}.k"]
    shared = head * len(k) // len(q)
    bias = ran.arrays.get(f"{site}.bias")
    return _Head(
        q[head],
        k[shared],
        ran.arrays[f"{site}.v"][shared],
        ran.arrays[f"{site}.scores"][head],
        0.0 if bias is None else bias[head],
        np.asarray(ran.arrays[f"{site}.mask"], bool),
    )


# --- the weights of each way --------------------------------------------------------------------


def _allowed(own: _Head, window: int, n_global: int) -> Array:
    sizes = (window, NOTHING, n_global, NOTHING, NOTHING)
    return own.mask & kind_of_mask("global_tokens", len(own.mask), sizes)


def _exact(own: _Head) -> Array:
    return reference.softmax(np.where(own.mask, own.scores, -np.inf))


def _kept(own: _Head, window: int, n_global: int = 0) -> Array:
    """The exact weights of the pairs that are kept, divided by their sum."""
    weights = np.where(_allowed(own, window, n_global), _exact(own), 0.0)
    return weights / weights.sum(axis=-1, keepdims=True)


def _linear(own: _Head) -> Array:
    """max(x, 0) + e^min(x, 0) is elu(x) + 1."""
    mapped = [np.maximum(x, 0) + np.exp(np.minimum(x, 0)) for x in (own.q, own.k)]
    heights = np.einsum("ir,jr->ij", *mapped) * own.mask
    return heights / heights.sum(axis=-1, keepdims=True)


def _low_rank(own: _Head, rank: int) -> Array:
    """The sum of the first terms of the whole matrix's singular value decomposition."""
    left, values, right = np.linalg.svd(own.q @ own.k.T, full_matrices=False)
    products = np.einsum("ir,r,rj->ij", left[:, :rank], values[:rank], right[:rank])
    scores = products / math.sqrt(own.q.shape[-1]) + own.bias
    return reference.softmax(np.where(own.mask, scores, -np.inf))


WEIGHTS: dict[str, Callable[..., Array]] = {
    "windowed": _kept,
    "global": _kept,
    "linear": _linear,
    "low_rank": _low_rank,
}


def _shown(way: str) -> Callable[..., Array]:
    """The weights, NaN where no pair is computed, (T, T)."""

    def made(ran: "Ran", site: str, head: int, *sizes: int) -> Array:
        own = _head(ran, site, head)
        is_kept = _allowed(own, *_two(sizes)) if WEIGHTS[way] is _kept else own.mask
        return np.where(is_kept, WEIGHTS[way](own, *sizes), np.nan)

    return made


def _two(sizes: tuple[int, ...]) -> tuple[int, int]:
    """A window and how many tokens are global."""
    window, *n_global = sizes
    return window, sum(n_global)


def _length(x: Array) -> float:
    return math.sqrt(math.fsum(np.square(x).ravel().tolist()))


def _error_of(own: _Head, weights: Array) -> float:
    exact = _exact(own)
    return _length((weights - exact) @ own.v) / _length(exact @ own.v)


def _error(way: str) -> Callable[..., Array]:
    def made(ran: "Ran", site: str, head: int, *sizes: int) -> Array:
        own = _head(ran, site, head)
        return np.asarray(_error_of(own, WEIGHTS[way](own, *sizes)))

    return made


def _moved(way: str) -> Callable[..., Array]:
    """The weight that keys have too much of, mean over the rows."""

    def made(ran: "Ran", site: str, head: int, *sizes: int) -> Array:
        own = _head(ran, site, head)
        surplus = np.maximum(WEIGHTS[way](own, *sizes) - _exact(own), 0)
        return np.asarray(surplus.sum() / len(surplus))

    return made


def _errors(way: str) -> Callable[..., Array]:
    """At each power of two up to the first that is no less than the text and 64."""

    def made(ran: "Ran", site: str, head: int, *n_global: int) -> Array:
        own, sizes = _head(ran, site, head), [1]
        while sizes[-1] < max(64, len(own.q)):
            sizes.append(2 * sizes[-1])
        return np.array([_error_of(own, WEIGHTS[way](own, size, *n_global)) for size in sizes])

    return made


def _linear_everywhere(ran: "Ran", site: str, head: int) -> Array:
    """The same error at each size: there is none to set."""
    n_sizes = len(_errors("windowed")(ran, site, head))
    own = _head(ran, site, head)
    return np.full(n_sizes, _error_of(own, _linear(own)))


# --- multiplications ----------------------------------------------------------------------------


def _products(way: str) -> Callable[..., Array]:
    def made(ran: "Ran", site: str, head: int, *sizes: int) -> Array:
        own = _head(ran, site, head)
        n, d = own.q.shape
        pairs = np.count_nonzero(own.mask)
        if way in ("windowed", "global"):
            pairs = np.count_nonzero(_allowed(own, *_two(sizes)))
        if way == "linear":
            return np.asarray(n * d * (d + d + 1))
        r = min(*sizes, d) if way == "low_rank" else d
        return np.asarray(pairs * r + pairs * d + (2 * n * r * d if way == "low_rank" else 0))

    return made


# --- tiles --------------------------------------------------------------------------------------


def _row(ran: "Ran", site: str, head: int, query: int) -> tuple[Array, Array]:
    """The scores of the keys that a query may attend to, and their values."""
    own = _head(ran, site, head)
    keys = own.mask[query]
    return own.scores[query][keys], own.v[keys]


def _after_each(work: Callable[[Array, Array], object]) -> Callable[..., Array]:
    """Something of all keys up to the end of each tile, at one go."""

    def made(ran: "Ran", site: str, head: int, query: int, size: int) -> Array:
        scores, values = _row(ran, site, head, query)
        ends = [*range(size, len(scores), size), len(scores)]
        return np.array([work(scores[:end], values[:end]) for end in ends])

    return made


def _seen(ran: "Ran", site: str, head: int, query: int, size: int) -> Array:
    """The share of the row's weight on the keys up to the end of each tile."""
    weights = reference.softmax(_row(ran, site, head, query)[0])
    ends = [*range(size, len(weights), size), len(weights)]
    return np.array([math.fsum(weights[:end].tolist()) for end in ends])


CHEAPENED_OF_A_SITE: dict[str, Callable[..., Array]] = {
    **{f"unmasked_{way}": _shown(way) for way in WEIGHTS},
    **{f"{way}_error": _error(way) for way in WEIGHTS},
    **{f"{way}_moved": _moved(way) for way in WEIGHTS},
    **{f"{way}_errors": _errors(way) for way in WEIGHTS if way != "linear"},
    "linear_errors": _linear_everywhere,
    **{f"{way}_products": _products(way) for way in ("exact", *WEIGHTS)},
    "tile_scores": lambda ran, site, head, query: _row(ran, site, head, query)[0],
    "tile_maxima": _after_each(lambda scores, values: scores.max()),
    "tile_sums": _after_each(lambda scores, values: np.exp(scores - scores.max()).sum()),
    "tile_outputs": _after_each(lambda scores, values: reference.softmax(scores) @ values),
    "tile_seen": _seen,
    "tile_count": lambda *given: np.array(len(_seen(*given))),
}


def _heads(ran: "Ran") -> int:
    return int(ran.files.config["n_heads"])


CHEAPENED: dict[str, Callable[..., Array]] = {
    "memory.maps": lambda ran: np.array([BYTES * _heads(ran) * n * n for n in LENGTHS], float),
    "memory.running": lambda ran: np.array([BYTES * _heads(ran) * (n + n) for n in LENGTHS], float),
}
