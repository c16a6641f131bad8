"""What Home is sent: the last tokens of a sentence, one head's weights, and what comes next."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from model.analysis.heads import strongest_pair
from model.analysis.probabilities import distribution
from model.decoding.filters import SLACK, Sampling
from model.trace import AttentionRecord, Trace
from viz.figures.labels import signs, told_apart
from viz.kit.sampling import BOUNDS
from viz.kit.wire import (
    Bounds,
    Data,
    Settings,
    bounds_data,
    finite,
    packed,
    stream_data,
)

HOME = "home"
MOST_TOKENS = 32  # of a longer sentence, the last ones
NAMED_TOKENS = 8  # bars
TEMPERATURE: Bounds = BOUNDS["temperature"]


class ShownHead(NamedTuple):
    """One head of one layer, and what it is called."""

    record: AttentionRecord
    head: int
    name: str


class Following(NamedTuple):
    """What can follow the text: what each id stands for, and why nothing can, where nothing can."""

    vocabulary: Sequence[str]
    why_no_more: str | None


def home_data(
    key: str, trace: Trace, shown_head: ShownHead, following: Following, settings: Settings
) -> Data:
    """The last tokens, a head of self-attention over them, and the logits after the last one.

    `key` is new when anything but the settings is.
    """
    record, head, head_name = shown_head
    vocabulary, why_no_more = following
    n_left_out = max(0, len(record.pattern[head]) - MOST_TOKENS)
    shown = slice(n_left_out, None)
    pattern = record.pattern[head][shown, shown]
    mask = record.mask_of(head)[shown, shown]
    query, its_key = strongest_pair(pattern, record.site.kind)
    assert trace.logits is not None
    logits = trace.logits[-1]
    leading = _leading(logits, vocabulary)
    return {
        "instrument": HOME,
        "key": key,
        "head": head_name,
        "stream": _last(stream_data(trace.stream(record.queries)), n_left_out),
        "n_left_out": n_left_out,
        "pattern": packed(pattern.astype(np.float32)),
        "mask": packed(mask.astype(np.uint8)),
        "telling": [query, its_key, finite(pattern[query, its_key])],
        "logits": packed(logits),
        "leading": leading,
        "signs": "; ".join(signs(token["label"] for token in leading)),
        "bounds": {"temperature": bounds_data(TEMPERATURE)},
        "slack": SLACK,
        "why_no_more": why_no_more,
        "settings": settings,
    }


def _leading(logits: np.ndarray, vocabulary: Sequence[str]) -> list[Data]:
    """The most likely tokens and their probabilities at temperature 1. logits: (V,)."""
    before = distribution(logits, Sampling()).before
    ids = [int(i) for i in np.argsort(-logits, kind="stable")[:NAMED_TOKENS]]
    names = told_apart(vocabulary, ids)
    return [{"id": i, "label": names[i], "prob": float(before[i])} for i in ids]


def _last(stream: Data, n_left_out: int) -> Data:
    """A stream's data without its first tokens."""
    return {
        name: value[n_left_out:] if name in ("labels", "axis") else None
        for name, value in stream.items()
    } | {"kind": stream["kind"]}
