"""What is said of many heads, worked out once more from the independent run.

Each entry of `OF_A_GROUP` is of all layers of one kind of attention, such as decoder.attn; nothing
here calls the code that made what is on screen.
"""

from collections.abc import Callable

import numpy as np

from model.verify.derived import Array, Ran

MOST_CELLS = 48  # on a side of a small map; more are merged
Averaged = tuple[Array, Array]  # (L, H) the mean over queries, and over how many of them


def sites_of(ran: Ran, group: str) -> list[str]:
    """The addresses of a group's layers, the first one first; KeyError where there are none."""
    stack, _, module = group.rpartition(".")
    names = (f"{stack}.blocks.{layer}.{module}" for layer in range(len(ran.arrays)))
    found = []
    for name in names:
        if f"{name}.pattern" not in ran.arrays:
            break
        found.append(name)
    if not found:
        raise KeyError(group)
    return found


def patterns_of(ran: Ran, group: str) -> Array:
    """The weights of all heads, (L, H, Tq, Tk)."""
    return np.stack([ran.arrays[f"{site}.pattern"] for site in sites_of(ran, group)])


def open_of(ran: Ran, group: str) -> Array:
    """True where a query may attend, (L, H, Tq, Tk)."""
    shape = patterns_of(ran, group).shape
    masks = [ran.arrays[f"{site}.mask"].astype(bool) for site in sites_of(ran, group)]
    return np.stack([np.broadcast_to(mask, shape[1:]) for mask in masks])


# --- numbers of a head ----------------------------------------------------------------------------


def sharpness(ran: Ran, group: str) -> Array:
    """The mean of each row's largest weight, (L, H); of self-attention without the first row."""
    largest = patterns_of(ran, group).max(axis=-1)  # (L, H, Tq)
    is_self = group.endswith(".attn")
    return largest[..., 1:].mean(axis=-1) if is_self and largest.shape[-1] > 1 else largest.mean(-1)


def previous(ran: Ran, group: str) -> Averaged:
    """The weight on the token before."""
    return _on_a_diagonal(ran, group, -1)


def own(ran: Ran, group: str) -> Averaged:
    """The weight of a token on itself."""
    return _on_a_diagonal(ran, group, 0)


def first(ran: Ran, group: str) -> Averaged:
    """The weight of all other tokens on the first."""
    weights, is_open = patterns_of(ran, group), open_of(ran, group)
    counts = is_open[..., 0] & (is_open.sum(axis=-1) > 1)
    counts[..., 0] = False
    return mean_over(weights[..., 0], counts)


def same(ran: Ran, group: str) -> Averaged:
    """The weight on all earlier tokens of the query's id."""
    weights, is_open = patterns_of(ran, group), open_of(ran, group)
    ids = ran.arrays[f"{group.split('.')[0]}.ids"]
    is_copy = np.tril(np.equal.outer(ids, ids), -1)
    pairs = is_open & is_copy
    return mean_over((weights * pairs).sum(-1), pairs.any(-1) & (is_open.sum(-1) > 1))


def broad(ran: Ran, group: str) -> Averaged:
    """The entropy of a row over the largest it can have."""
    weights, is_open = patterns_of(ran, group), open_of(ran, group)
    n_keys = is_open.sum(axis=-1)
    most = np.log2(np.maximum(n_keys, 2))
    return mean_over(bits(weights) / most, n_keys > 1)


def bits(weights: Array) -> Array:
    """−Σ p log₂ p of each row."""
    return -(weights * np.log2(np.where(weights > 0, weights, 1.0))).sum(axis=-1)


def _on_a_diagonal(ran: Ran, group: str, offset: int) -> Averaged:
    weights, is_open = patterns_of(ran, group), open_of(ran, group)
    n_queries, n_keys = weights.shape[-2:]
    values, counts = np.zeros(weights.shape[:-1]), np.zeros(weights.shape[:-1], dtype=bool)
    for i in range(n_queries):
        if 0 <= i + offset < n_keys:
            values[..., i] = weights[..., i, i + offset]
            counts[..., i] = is_open[..., i, i + offset] & (is_open[..., i, :].sum(axis=-1) > 1)
    return mean_over(values, counts)


def mean_over(values: Array, counts: Array) -> Averaged:
    """Over the queries that count, (L, H, Tq) each; NaN where none does."""
    n = counts.sum(axis=-1)
    total = (values * counts).sum(axis=-1)
    return np.where(n > 0, total / np.maximum(n, 1), np.nan), n.astype(np.float64)


# --- maps -----------------------------------------------------------------------------------------


def tiles(ran: Ran, group: str) -> Array:
    """The small map of each head, row by row, (L·H, rows·columns); NaN where all is masked.

    Above 48 tokens on a side so many neighbours become one cell, the largest of them, that no side
    has more.
    """
    drawn = np.where(open_of(ran, group), patterns_of(ran, group), np.nan)
    n_queries, n_keys = drawn.shape[-2:]
    step = -(-max(n_queries, n_keys) // MOST_CELLS)
    starts = [np.arange(0, n, step) for n in (n_queries, n_keys)]
    merged = np.fmax.reduceat(np.fmax.reduceat(drawn, starts[0], axis=-2), starts[1], axis=-1)
    return merged.reshape(drawn.shape[0] * drawn.shape[1], -1)


AXES: dict[str, int | tuple[int, int]] = {"layer": 1, "head": 0, "all": (0, 1)}


def _of_many(axes: int | tuple[int, int], how: Callable[..., Array]) -> Callable[[Ran, str], Array]:
    return lambda ran, group: np.asarray(how(patterns_of(ran, group), axis=axes))


def _open_to_any(axes: int | tuple[int, int]) -> Callable[[Ran, str], Array]:
    return lambda ran, group: np.asarray(open_of(ran, group).any(axis=axes), dtype=np.float64)


def _part(of: Callable[[Ran, str], Averaged], part: int) -> Callable[[Ran, str], Array]:
    return lambda ran, group: of(ran, group)[part]


MEASURES = {"previous": previous, "first": first, "self": own, "same": same, "broad": broad}
OF_A_GROUP: dict[str, Callable[[Ran, str], Array]] = {
    "sharpness": sharpness,
    "layer_sharpness": lambda ran, group: sharpness(ran, group).mean(axis=1),
    "head_sharpness": lambda ran, group: sharpness(ran, group).mean(axis=0),
    **{name: _part(of, 0) for name, of in MEASURES.items()},
    **{f"{name}_queries": _part(of, 1) for name, of in MEASURES.items()},
    "tiles": tiles,
    **{f"mean_{over}": _of_many(axes, np.mean) for over, axes in AXES.items()},
    **{f"maximum_{over}": _of_many(axes, np.max) for over, axes in AXES.items()},
    **{f"open_{over}": _open_to_any(axes) for over, axes in AXES.items()},
}


# --- one layer ------------------------------------------------------------------------------------


def mean_entropy(ran: Ran, site: str) -> Array:
    """The mean of the rows' entropies in bits, (H,)."""
    return bits(ran.arrays[f"{site}.pattern"]).mean(axis=-1)


OF_A_LAYER: dict[str, Callable[[Ran, str], Array]] = {"mean_entropy": mean_entropy}


def probabilities(ran: Ran) -> Array:
    """The softmax of the logits at each position, (T, V)."""
    logits = ran.arrays["output"]
    powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


OF_THE_OUTPUT: dict[str, Callable[[Ran], Array]] = {"probs": probabilities}
