"""Why a head looks there, as a part: what query and key hold, and the row without some of it."""

from collections.abc import Sequence

import numpy as np

from model.analysis.why.reasons import KINDS, SIDES, Cell
from model.analysis.why.sentence import KINDS_SAID, STANDS_OUT, looks, sentence
from model.analysis.writers import Writer
from model.trace import Site, Trace
from viz.kit.part import Part
from viz.kit.wire import Data, Settings, stream_labels, stream_looks

STATE = {"taken": "", "other": None}  # what is taken away; a second key to compare with


def why_part(
    cell: Cell, settings: Settings | None = None, *, key: str = "why", can_open: bool = False
) -> Part:
    """One cell, with words and writers; `against` is the key that the sentence compares with.

    settings: `taken` is "kind:match", "words:24.18" (a pair by the numbers of its parts; "" in the
    place of one for a whole side), "query:3" or "key:3" (a writer). can_open: whether a head that
    wrote something can be opened from here.
    """
    of, record, site = cell.of, cell.of.record, cell.reasons.site
    streams = [cell.reasons.trace.stream(name) for name in (record.queries, record.keys)]
    sides = [(cell.words.asking, cell.words.asked), tuple(one.writers for one in cell.writers)]
    trace, ends = cell.reasons.trace, ((record.queries, of.query), (record.keys, cell.key))
    words, wrote = (
        [_writers(one, trace, *end) for one, end in zip(side, ends, strict=True)] for side in sides
    )
    spec = {
        "key": key,
        "site": [site.group, site.layer, of.head],
        "at": [of.query, cell.key],
        "labels": dict(zip(SIDES, map(stream_labels, streams), strict=True)),
        "token_looks": dict(zip(SIDES, map(stream_looks, streams), strict=True)),
        "says": sentence(cell),
        "looks": looks(cell),
        "against": cell.other,
        "kinds": [
            {"name": name, "sides": sides, "says": KINDS_SAID[name]}
            for name, sides in KINDS.items()
        ],
        "words": dict(zip(SIDES, words, strict=True)),
        "writers": dict(zip(SIDES, wrote, strict=True)),
        "stands_out": STANDS_OUT,
        "softcap": record.softcap,
        "sink": None if record.sinks is None else float(record.sinks[of.head]),
        "can_open": can_open,
    }
    query, keys = cell.writers
    arrays = {
        "seen": of.seen,
        "added": of.added.astype(np.float32),
        "weights": np.asarray(record.pattern[of.head])[of.query],
        "kinds": cell.apart.terms.astype(np.float32),
        "words": cell.words.terms.astype(np.float32),
        "query": query.terms.astype(np.float32),
        "keys": keys.terms.astype(np.float32),
    }
    return Part("why", spec, {**STATE, "other": cell.other, **(settings or {})}, arrays)


def _writers(side: Sequence[Writer], trace: Trace, stack: str, at: int) -> list[Data]:
    """Who wrote a side, at a token: its name, and what a head or a word is found by."""
    return [
        {
            "name": one.name,
            "kind": one.kind,
            "head": _head(one, trace, stack, at),
            "token": one.token if one.kind == "word" else None,
        }
        for one in side
    ]


def _head(one: Writer, trace: Trace, stack: str, at: int) -> Data | None:
    """Where a head is, as it is chosen on a page, and the cell of what it wrote there most.

    None for what is no head.
    """
    if one.head < 0:
        return None
    site = Site(stack, "cross" if one.kind == "cross head" else "self", one.layer)
    key = int(trace.record(site).pattern[one.head][at].argmax())
    return {"attention": site.group, "layer": one.layer, "head": one.head, "cell": [at, key]}
