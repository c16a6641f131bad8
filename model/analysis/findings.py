"""What tells most about one run, by measures: a copy, a heavy arrow, where an answer settles."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from model.analysis.heads import Role, induction_edges, induction_head, strongest_arrow
from model.analysis.measures import ROLES
from model.trace import AttentionRecord, Site, Trace


class Edge(NamedTuple):
    """One arrow query → key of a head, and the number it was found by."""

    site: Site
    head: int
    query: int
    key: int
    value: float


class Copied(NamedTuple):
    """What the induction head of a run copies: its clearest edge, and its role."""

    edge: Edge
    role: Role
    n_predicted: int  # of the role's queries, those whose most likely next token is the copied one


def copied(trace: Trace) -> Copied | None:
    """The induction head with its largest weight on what the model then predicts.

    None where no head is named, or where less than its bound of the weight it is named for lies on
    such tokens: then it looks for copies, and the model hardly copies.
    """
    named = induction_head(trace)
    if named is None or trace.output is None:
        return None
    site, head, role = named
    record = trace.record(site)
    ids = np.asarray(trace.stream(record.queries).ids)
    best = np.asarray(trace.output).argmax(axis=-1)  # (T,)
    predicted = induction_edges(ids) & record.mask_of(head) & (ids[None, :] == best[:, None])
    weights = np.where(predicted, record.pattern[head], 0.0)
    query, key = map(int, np.unravel_index(weights.argmax(), weights.shape))
    if weights.sum() < ROLES["induction"].at * role.value * role.n_queries:
        return None
    edge = Edge(site, head, query, key, float(weights[query, key]))
    return Copied(edge, role, int(predicted.any(axis=-1).sum()))


def heaviest_arrow(records: Sequence[AttentionRecord], norms: Sequence[np.ndarray]) -> Edge | None:
    """The arrow of any head that adds the longest vector ‖αv·W_O‖ to the stream.

    norms: ‖v·W_O‖ of each record's keys, (H, Tk) (Kobayashi et al. 2020, §3). Rows with one key
    alone have no choice and are passed over; None where there are no others.
    """
    best: Edge | None = None
    for record, lengths in zip(records, norms, strict=True):
        arrows = strongest_arrow(np.asarray(record.pattern), lengths, record.mask)
        head = int(arrows.norms.argmax())
        value = float(arrows.norms[head])
        if value > (best.value if best else 0.0):
            query, key = int(arrows.queries[head]), int(arrows.keys[head])
            best = Edge(record.site, head, query, key, value)
    return best


def settled_from(best: Sequence[int]) -> int:
    """The first row from which on the most likely token is the last row's. best: (L + 1,)."""
    changes = [row for row, token in enumerate(best) if token != best[-1]]
    return changes[-1] + 1 if changes else 0
