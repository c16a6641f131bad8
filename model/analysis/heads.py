"""What one head does, in a number, a role or a pair of tokens."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from model.trace import AttentionKind, AttentionRecord

# The mean from which a measure names a head: a third of all weight on one kind of key, or rows
# nearly as even as they can be; half the weight on one of 13 keys, the rest even, makes 0.75.
AT_LEAST = {"previous": 1 / 3, "first": 1 / 3, "self": 1 / 3, "same": 1 / 3, "broad": 0.8}


class Averages(NamedTuple):
    """A measure of each head, averaged over queries: NaN where there are none to average over."""

    values: np.ndarray  # (H,)
    n_queries: np.ndarray  # (H,)


class Role(NamedTuple):
    """What a head does most: the name of a measure, its mean, and over how many queries."""

    name: str
    value: float
    n_queries: int


def sharpness(patterns: np.ndarray, kind: AttentionKind = "self") -> np.ndarray:
    """Mean over rows of a row's largest weight ("confidence" in Voita et al. 2019, §4).

    In self-attention the first row is left out: under a causal mask it has one key alone.
    patterns: (..., Tq, Tk) with rows that sum to one. Returns (...): 1 when every query attends
    to one key alone. A single row counts as it is.
    """
    has_others = kind == "self" and patterns.shape[-2] > 1
    rows = patterns[..., 1:, :] if has_others else patterns
    return rows.max(axis=-1).mean(axis=-1)


def strongest_pair(pattern: np.ndarray, kind: AttentionKind = "self") -> tuple[int, int]:
    """Query and key of the largest weight in one head's pattern (Tq, Tk).

    In self-attention the first key, often a sink for attention that has nowhere else to go, and
    the diagonal, a token that attends to itself, are passed over when something else is left.
    """
    candidates = pattern.copy()
    if kind == "self":
        candidates[:, 0] = 0.0
        np.fill_diagonal(candidates, 0.0)
    best = candidates if candidates.max(initial=0.0) > 0 else pattern
    query, key = np.unravel_index(best.argmax(), best.shape)
    return int(query), int(key)


# --- measures -------------------------------------------------------------------------------------
#
# Each takes the patterns of one layer, (H, Tq, Tk), and its mask, (Tq, Tk) or (H, Tq, Tk), True =
# may attend, and averages over the queries that may attend to such a key and to another one
# besides: a row with one key alone, as the first under a causal mask, has no choice.


def previous_token(patterns: np.ndarray, mask: np.ndarray) -> Averages:
    """Mean weight on the token before the query ("positional heads" in Voita et al. 2019, §5)."""
    return _mean_at(patterns, mask, np.arange(patterns.shape[-2]) - 1)


def first_token(patterns: np.ndarray, mask: np.ndarray) -> Averages:
    """Mean weight of the others on the first token (an attention sink, Xiao et al. 2023)."""
    keys = np.zeros(patterns.shape[-2], dtype=int)
    keys[:1] = -1  # to it, its own key is itself
    return _mean_at(patterns, mask, keys)


def own_token(patterns: np.ndarray, mask: np.ndarray) -> Averages:
    """Mean weight of a token on itself, where queries and keys are the same tokens."""
    return _mean_at(patterns, mask, np.arange(patterns.shape[-2]))


def same_token(patterns: np.ndarray, mask: np.ndarray, ids: np.ndarray) -> Averages:
    """Mean weight on all earlier tokens of the query's id; ids are (T,), of queries and keys.

    Such heads are the "duplicate token heads" of Wang et al. 2022, §3.
    """
    earlier = np.tri(len(ids), k=-1, dtype=bool)
    pairs = (ids[:, None] == ids[None, :]) & earlier & mask
    weights = np.where(pairs, patterns, 0).sum(axis=-1)
    return _mean_over(weights, pairs.any(axis=-1) & _has_choice(mask))


def broadness(patterns: np.ndarray, mask: np.ndarray) -> Averages:
    """Mean of each row's entropy over the largest it can have, the log of its number of keys.

    1 when every row is even, 0 when every query attends to one key alone.
    """
    n_keys = np.broadcast_to(mask, patterns.shape).sum(axis=-1)  # (H, Tq)
    logs = np.log(patterns, out=np.zeros_like(patterns), where=patterns > 0)
    entropies = -(patterns * logs).sum(axis=-1)
    return _mean_over(entropies / np.log(np.maximum(n_keys, 2)), n_keys > 1)


def measures(record: AttentionRecord, ids: np.ndarray | None = None) -> dict[str, Averages]:
    """The measures that mean something for a record, by their names in `AT_LEAST`.

    Those by place and by token are left out where queries and keys are different streams: there
    the diagonal is no "self" and the first key no sink. `ids` (T,) are the stream's, if it has any.
    """
    patterns, mask = record.pattern, record.mask
    found = {"broad": broadness(patterns, mask)}
    if record.site.kind == "cross" or record.queries != record.keys:
        return found
    found |= {
        "previous": previous_token(patterns, mask),
        "first": first_token(patterns, mask),
        "self": own_token(patterns, mask),
    }
    return found if ids is None else found | {"same": same_token(patterns, mask, ids)}


def roles(found: Mapping[str, Averages]) -> list[Role | None]:
    """For each head the largest of its measures that reaches `AT_LEAST`; None where none does.

    Of equal ones the first in the order of `AT_LEAST`.
    """
    n_heads = len(next(iter(found.values())).values)
    return [_role(found, head) for head in range(n_heads)]


def _role(found: Mapping[str, Averages], head: int) -> Role | None:
    known = [
        Role(name, float(found[name].values[head]), int(found[name].n_queries[head]))
        for name in AT_LEAST
        if name in found
    ]
    reached = [role for role in known if role.value >= AT_LEAST[role.name]]
    return max(reached, key=lambda role: role.value, default=None)


def _mean_at(patterns: np.ndarray, mask: np.ndarray, keys: np.ndarray) -> Averages:
    """Mean weight of each query on one key, keys (Tq,); keys that do not exist have no part."""
    queries = np.arange(len(keys))
    exists = (keys >= 0) & (keys < patterns.shape[-1])
    places = np.where(exists, keys, 0)
    may = exists & mask[..., queries, places] & _has_choice(mask)
    return _mean_over(patterns[..., queries, places], may)


def _has_choice(mask: np.ndarray) -> np.ndarray:
    """Which queries may attend to more than one key, (Tq,) or (H, Tq)."""
    return mask.sum(axis=-1) > 1


def _mean_over(values: np.ndarray, queries: np.ndarray) -> Averages:
    """Mean of values (H, Tq) over the queries, (Tq,) or (H, Tq) bool, that count."""
    counted = np.broadcast_to(queries, values.shape)
    n = counted.sum(axis=-1)
    totals = np.where(counted, values, 0).sum(axis=-1, dtype=np.float64)
    return Averages(np.divide(totals, n, out=np.full(len(n), np.nan), where=n > 0), n)
