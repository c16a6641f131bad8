"""What tells most about one run, by measures: a copy, a heavy arrow, where an answer settles."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from model.analysis.heads import after_copies, strongest_arrow
from model.trace import AttentionRecord, Site, Trace


class Found(NamedTuple):
    """One arrow query → key of a head, and the number it was found by."""

    site: Site
    head: int
    query: int
    key: int
    value: float


def strongest_copy(trace: Trace) -> Found | None:
    """The arrow with the largest weight from a token to what came after an earlier copy of it.

    That is how an induction head copies (Olsson et al. 2022): having seen A B, it attends from the
    next A to B. The larger of equal ones is the first. None where no token of a stream occurs twice
    with another after it, or where no head may attend there.
    """
    best: Found | None = None
    for record in trace.attention:
        ids = trace.stream(record.queries).ids
        if record.queries != record.keys or ids is None:
            continue
        weights = np.where(after_copies(ids) & record.mask, record.pattern, 0.0)
        head, query, key = np.unravel_index(weights.argmax(), weights.shape)
        value = float(weights[head, query, key])
        if value > (best.value if best else 0.0):
            best = Found(record.site, int(head), int(query), int(key), value)
    return best


def heaviest_arrow(records: Sequence[AttentionRecord], norms: Sequence[np.ndarray]) -> Found | None:
    """The arrow of any head that adds the longest vector ‖αv·W_O‖ to the stream.

    norms: ‖v·W_O‖ of each record's keys, (H, Tk) (Kobayashi et al. 2020, §3). Rows with one key
    alone have no choice and are passed over; None where there are no others.
    """
    best: Found | None = None
    for record, lengths in zip(records, norms, strict=True):
        arrows = strongest_arrow(np.asarray(record.pattern), lengths, record.mask)
        head = int(arrows.norms.argmax())
        value = float(arrows.norms[head])
        if value > (best.value if best else 0.0):
            query, key = int(arrows.queries[head]), int(arrows.keys[head])
            best = Found(record.site, head, query, key, value)
    return best


def settled_from(best: Sequence[int]) -> int:
    """The first row from which on the most likely token is the last row's. best: (L + 1,)."""
    changes = [row for row, token in enumerate(best) if token != best[-1]]
    return changes[-1] + 1 if changes else 0
