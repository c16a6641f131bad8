"""What one head does, in a number, a role or a pair of tokens."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from model.analysis.measures import ROLES, TRAITS, Trait
from model.trace import AttentionKind, AttentionRecord, Site, Trace

NEAR = 4  # tokens


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
    candidates = np.fmax(pattern, 0.0)  # NaN is no weight
    if kind == "self":
        candidates[:, 0] = 0.0
        np.fill_diagonal(candidates, 0.0)
    best = candidates if candidates.max(initial=0.0) > 0 else np.fmax(pattern, 0.0)
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


def next_token(patterns: np.ndarray, mask: np.ndarray) -> Averages:
    """Mean weight on the token after the query; over no query where none may attend to it."""
    return _mean_at(patterns, mask, np.arange(patterns.shape[-2]) + 1)


def near_tokens(patterns: np.ndarray, mask: np.ndarray) -> Averages:
    """Mean weight on the tokens 1 to 4 places away, on both sides; the token itself is left out.

    Of the queries that may attend to one of them.
    """
    n_queries, n_keys = patterns.shape[-2:]
    apart = np.abs(np.arange(n_queries)[:, None] - np.arange(n_keys)[None, :])
    is_near = (apart > 0) & (apart <= NEAR) & mask
    weights = np.where(is_near, patterns, 0).sum(axis=-1)
    return _mean_over(weights, is_near.any(axis=-1) & _has_choice(mask))


def first_token(patterns: np.ndarray, mask: np.ndarray) -> Averages:
    """Mean weight of the others on the first token (an attention sink, Xiao et al. 2023)."""
    keys = np.zeros(patterns.shape[-2], dtype=int)
    keys[:1] = -1  # to it, its own key is itself
    return _mean_at(patterns, mask, keys)


def self_token(patterns: np.ndarray, mask: np.ndarray) -> Averages:
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


def induction(patterns: np.ndarray, mask: np.ndarray, ids: np.ndarray) -> Averages:
    """Mean weight on all tokens that came right after earlier copies of the query; ids are (T,).

    "Induction heads" of Olsson et al. 2022: having seen A B, they attend from the next A to B.
    """
    pairs = induction_edges(ids) & mask
    weights = np.where(pairs, patterns, 0).sum(axis=-1)
    return _mean_over(weights, pairs.any(axis=-1) & _has_choice(mask))


def induction_edges(ids: np.ndarray) -> np.ndarray:
    """Whether a key came right after an earlier copy of the query, (T, T); ids are (T,)."""
    follows = np.zeros((len(ids), len(ids)), dtype=bool)
    follows[:, 1:] = ids[:, None] == ids[None, :-1]  # key j: the token before it is the query's
    return follows & np.tri(len(ids), k=-1, dtype=bool)


def distance(patterns: np.ndarray, mask: np.ndarray) -> Averages:
    """Mean of Σ weight · |i − j|: how many tokens away a query attends, on average."""
    n_queries, n_keys = patterns.shape[-2:]
    apart = np.abs(np.arange(n_queries)[:, None] - np.arange(n_keys)[None, :])
    return _mean_over(np.einsum("hqk,qk->hq", patterns, apart), _has_choice(mask))


def largest_weight(patterns: np.ndarray, mask: np.ndarray) -> Averages:
    """Mean of each row's largest weight, of the rows that have a choice; see `sharpness`."""
    return _mean_over(patterns.max(axis=-1), _has_choice(mask))


def row_entropy(patterns: np.ndarray, mask: np.ndarray) -> Averages:
    """Mean of −Σ p log₂ p over the rows, in bits."""
    return _mean_over(_entropies(patterns) / np.log(2), _has_choice(mask))


def kept_pattern(patterns: np.ndarray, others: np.ndarray, mask: np.ndarray) -> Averages:
    """Mean of Σ min(p, p′) over rows: what stays of a pattern when words are exchanged.

    others: the patterns (H, Tq, Tk) of the same places with other words in them. 1: the head
    attends by position alone ("positional heads" in Voita et al. 2019, §5); 0: by words alone.
    It is 1 minus the total variation distance of the two rows.
    """
    return _mean_over(np.minimum(patterns, others).sum(axis=-1), _has_choice(mask))


def moved_value(patterns: np.ndarray, norms: np.ndarray, mask: np.ndarray) -> Averages:
    """Mean of Σ ‖αv·W_O‖ over what even weights would move (Kobayashi et al. 2020, §3).

    norms: (H, Tk), ‖v·W_O‖ of each key. 1: as much as even weights over the keys that the query
    may attend to; below 1, the weights lie where values are small, as on a sink.
    """
    even = np.broadcast_to(mask, patterns.shape) / np.maximum(mask.sum(axis=-1), 1)[..., None]
    most = np.einsum("hqk,hk->hq", even, norms)
    moved = np.einsum("hqk,hk->hq", patterns, norms)
    shares = np.divide(moved, most, out=np.zeros_like(most), where=most > 0)
    return _mean_over(shares, _has_choice(mask))


def broadness(patterns: np.ndarray, mask: np.ndarray) -> Averages:
    """Mean of each row's entropy over the largest it can have, the log of its number of keys.

    1 when every row is even, 0 when every query attends to one key alone.
    """
    n_keys = np.broadcast_to(mask.sum(axis=-1), patterns.shape[:-1])  # (H, Tq)
    return _mean_over(_entropies(patterns) / np.log(np.maximum(n_keys, 2)), n_keys > 1)


def measures(record: AttentionRecord, ids: np.ndarray | None = None) -> dict[str, Averages]:
    """The measures by which a record's heads are named, by their names in `ROLES`.

    Those by place and by token are left out where queries and keys are different streams: there
    the diagonal is no "self" and the first key no sink. `ids` (T,) are the stream's, if it has any.
    """
    patterns, mask = np.asarray(record.pattern), record.mask
    whole = _with_sink(record)
    averages = {"broad": broadness(*whole)}
    if record.sinks is not None:
        averages["sink"] = _mean_over(whole[0][..., -1], _has_choice(whole[1]))
    if record.site.kind == "cross" or record.queries != record.keys:
        return averages
    averages |= {
        "previous": previous_token(patterns, mask),
        "next": next_token(patterns, mask),
        "first": first_token(patterns, mask),
        "self": self_token(patterns, mask),
    }
    if ids is None:
        return averages
    return averages | {
        "same": same_token(patterns, mask, ids),
        "induction": induction(patterns, mask, ids),
    }


def every_measure(
    record: AttentionRecord,
    ids: np.ndarray | None,
    others: np.ndarray | None,
    norms: np.ndarray | None,
) -> dict[str, Averages]:
    """All measures that mean something for a record, by their names in `OF_RUN`.

    ids: as for `measures`. others: patterns with words exchanged, see `kept_pattern`. norms: of the
    values, see `moved_value`. What is not given is not measured.
    """
    record = record.in_full
    patterns, mask = record.pattern, record.mask
    averages = measures(record, ids) | {
        "entropy": row_entropy(*_with_sink(record)),
        "largest": largest_weight(patterns, mask),
    }
    if "self" in averages:
        averages |= {"near": near_tokens(patterns, mask), "distance": distance(patterns, mask)}
    if others is not None:
        averages["kept"] = kept_pattern(patterns, others, mask)
    if norms is not None:
        averages["moved"] = moved_value(patterns, norms, mask)
    return averages


def pooled(parts: Sequence[Averages]) -> Averages:
    """One average of several, over the queries of all; NaN where there are none at all."""
    totals = [np.where(part.n_queries > 0, part.values * part.n_queries, 0.0) for part in parts]
    n = np.sum([part.n_queries for part in parts], axis=0)
    total = np.sum(totals, axis=0)
    return Averages(np.divide(total, n, out=np.full(n.shape, np.nan), where=n > 0), n)


class Arrow(NamedTuple):
    """The arrow query → key that moves most in each head, and ‖αv·W_O‖ of it; (H,) each."""

    norms: np.ndarray
    queries: np.ndarray
    keys: np.ndarray


def strongest_arrow(patterns: np.ndarray, norms: np.ndarray, mask: np.ndarray) -> Arrow:
    """Where ‖αv·W_O‖ is largest in each head, among the rows that have a choice.

    patterns: (H, Tq, Tk), norms: (H, Tk), ‖v·W_O‖ of each key (Kobayashi et al. 2020). Of equal
    ones the first; 0 of a head without such a row.
    """
    has_choice = np.broadcast_to(_has_choice(mask), patterns.shape[:2])
    moved = patterns * norms[:, None, :] * has_choice[..., None]
    flat = moved.reshape(len(moved), -1)
    places = flat.argmax(axis=-1)
    queries, keys = np.divmod(places, patterns.shape[-1])
    return Arrow(flat[np.arange(len(flat)), places], queries, keys)


def roles(measured: Mapping[str, Averages]) -> list[Role | None]:
    """For each head the largest of its measures that names one; None where none does.

    Of equal ones the first in the order of `ROLES`.
    """
    n_heads = len(next(iter(measured.values())).values)
    return [_role(measured, head) for head in range(n_heads)]


def induction_head(trace: Trace) -> tuple[Site, int, Role] | None:
    """The head of a run that is named for induction: whoever speaks of one means this.

    It has the largest mean over all tokens that come again. None where that does not name
    it, or where even this head does something else more.
    """
    best, named = 0.0, None
    for record in trace.attention:
        ids = trace.stream(record.queries).ids
        if ids is None or record.queries != record.keys:
            continue
        means = np.nan_to_num(induction(np.asarray(record.pattern), record.mask, ids).values)
        if means.max() > best:
            best, head = means.max(), int(means.argmax())
            role = roles(measures(record, ids))[head]
            named = (record.site, head, role) if role and role.name == "induction" else None
    return named


def traits(measured: Mapping[str, Averages]) -> list[list[Trait]]:
    """For each head all words that its measures support, in the order of `TRAITS`."""
    n_heads = len(next(iter(measured.values())).values)
    known = [trait for trait in TRAITS if trait.measure in measured]
    return [
        [trait for trait in known if trait.holds(measured[trait.measure].values[head])]
        for head in range(n_heads)
    ]


def _role(measured: Mapping[str, Averages], head: int) -> Role | None:
    known = [
        Role(name, float(measured[name].values[head]), int(measured[name].n_queries[head]))
        for name in ROLES
        if name in measured
    ]
    reached = [role for role in known if ROLES[role.name].holds(role.value)]
    return max(reached, key=lambda role: role.value, default=None)


def _mean_at(patterns: np.ndarray, mask: np.ndarray, keys: np.ndarray) -> Averages:
    """Mean weight of each query on one key, keys (Tq,); keys that do not exist have no part."""
    queries = np.arange(len(keys))
    exists = (keys >= 0) & (keys < patterns.shape[-1])
    places = np.where(exists, keys, 0)
    may = exists & mask[..., queries, places] & _has_choice(mask)
    return _mean_over(patterns[..., queries, places], may)


def _with_sink(record: AttentionRecord) -> tuple[np.ndarray, np.ndarray]:
    """Pattern and mask of a record; a sink, which its softmax chooses from too, as the last key."""
    patterns, mask = np.asarray(record.pattern), record.mask
    if record.sinks is None:
        return patterns, mask
    shares = np.clip(1 - patterns.sum(axis=-1, keepdims=True), 0, 1)
    may = np.ones((*mask.shape[:-1], 1), bool)
    return np.concatenate([patterns, shares], axis=-1), np.concatenate([mask, may], axis=-1)


def _entropies(patterns: np.ndarray) -> np.ndarray:
    """−Σ p ln p of each row."""
    logs = np.log(patterns, out=np.zeros_like(patterns), where=patterns > 0)
    return -np.multiply(patterns, logs, out=logs).sum(axis=-1)


def _has_choice(mask: np.ndarray) -> np.ndarray:
    """Which queries may attend to more than one key, (Tq,) or (H, Tq)."""
    return mask.sum(axis=-1) > 1


def _mean_over(values: np.ndarray, queries: np.ndarray) -> Averages:
    """Mean of values (H, Tq) over the queries, (Tq,) or (H, Tq) bool, that count."""
    counted = np.broadcast_to(queries, values.shape)
    n = counted.sum(axis=-1)
    totals = np.where(counted, values, 0).sum(axis=-1, dtype=np.float64)
    return Averages(np.divide(totals, n, out=np.full(len(n), np.nan), where=n > 0), n)
