"""Checks of attention records: they need no model, so they serve records of any source.

Attention is recomputed in numpy float64 from the record's own q, k, v, mask, bias and scale.
"""

from collections.abc import Callable

import numpy as np
import torch

from model.attention import fused_attention, share_kv_heads
from model.trace import AttentionRecord, Trace
from model.verify.check import Check, relative_error
from model.worked_out import WorkedOut


def check_records(trace: Trace) -> tuple[Check, ...]:
    """All checks of a trace's attention, each the worst over its records.

    Of a pattern that was not kept it is checked that it makes the z that ran.
    """
    kept = tuple(x for x in trace.attention if not isinstance(x.pattern, WorkedOut))
    plain = tuple(x for x in kept if x.softcap is None and x.sinks is None)
    others = tuple(x for x in trace.attention if x not in kept)
    checked = [(one, plain if one[2] in OF_PLAIN else kept) for one in ATTENTION_CHECKS]
    checked.append((OF_WORKED_OUT, others))
    return tuple(
        Check(name, max(map(error, records)), bound)
        for (name, bound, error), records in checked
        if records
    )


def recomputed_scores(record: AttentionRecord) -> np.ndarray:
    """scale · q·kᵀ + bias in float64, under the softcap if there is one. Returns (H, Tq, Tk)."""
    return np.stack([record.scores_of(x, dtype=np.float64) for x in range(record.n_heads)])


def recomputed_pattern(record: AttentionRecord) -> np.ndarray:
    """Softmax over the visible keys, in float64; rows that see nothing are zero. (H, Tq, Tk)."""
    return np.stack([record.pattern_of(x, dtype=np.float64) for x in range(record.n_heads)])


def _shared(x: np.ndarray, n_heads: int) -> np.ndarray:
    return np.repeat(x.astype(np.float64), n_heads // len(x), axis=0)


def _row_sums(record: AttentionRecord) -> float:
    sums = record.pattern.sum(axis=-1, dtype=np.float64)  # (H, Tq)
    expected = np.broadcast_to(record.mask.any(axis=-1), sums.shape).astype(np.float64)
    return relative_error(sums, expected)


def _masked_cells(record: AttentionRecord) -> float:
    hidden = np.broadcast_to(~record.mask, record.pattern.shape)
    return relative_error(record.pattern[hidden], np.zeros(hidden.sum()))


def _weighted_values(record: AttentionRecord) -> float:
    expected = record.pattern.astype(np.float64) @ _shared(record.v, record.n_heads)
    return relative_error(record.z, expected)


def _weighted_head_by_head(record: AttentionRecord) -> float:
    """As `_weighted_values`, one head in memory at a time."""
    heads = range(record.n_heads)
    return max(
        relative_error(record.z[x], record.pattern[x] @ record.v[record.kv_head(x)].astype(float))
        for x in heads
    )


def _explicit_is_fused(record: AttentionRecord) -> float:
    q, k, v = (torch.tensor(x)[None] for x in (record.q, record.k, record.v))
    bias = None if record.bias is None else torch.tensor(record.bias)
    keys, values = share_kv_heads(k, record.n_heads), share_kv_heads(v, record.n_heads)
    mask = torch.tensor(record.mask)
    z = fused_attention(q, keys, values, mask=mask, bias=bias, scale=record.scale)
    return relative_error(record.z, z[0].numpy())


RecordCheck = Callable[[AttentionRecord], float]

ATTENTION_CHECKS: tuple[tuple[str, float, RecordCheck], ...] = (
    ("each row of the pattern sums to one", 1e-6, _row_sums),
    ("masked cells are exactly zero", 0.0, _masked_cells),
    (
        "scores = scale · q·kᵀ + bias, in float64",
        1e-5,
        lambda record: relative_error(record.scores, recomputed_scores(record)),
    ),
    (
        "pattern = softmax of the masked scores, in float64",
        1e-5,
        lambda record: relative_error(record.pattern, recomputed_pattern(record)),
    ),
    ("z = pattern·v, in float64", 1e-5, _weighted_values),
    ("explicit attention = torch's fused attention", 1e-5, _explicit_is_fused),
)
OF_WORKED_OUT: tuple[str, float, RecordCheck] = (
    "z = v weighted by the pattern worked out from q and k, in float64",
    1e-5,
    _weighted_head_by_head,
)
# True of attention without softcap and sinks alone: torch's kernel knows neither.
OF_PLAIN = (_row_sums, _explicit_is_fused)
