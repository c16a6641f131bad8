"""The forms in which data travels to the browser; wire.js writes the same down as types."""

import dataclasses
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from model.trace import Stream
from viz.labels import clipped, escape, token_labels, visible, word_groups, word_labels
from viz.theme import FONT, palette

LONGEST_TICK = 16  # characters of a label on an axis
SPECIAL = "special"  # of a look

Data = dict[str, Any]
Settings = dict[str, Any]


class Bounds(NamedTuple):
    """Where a number may lie, and its steps."""

    low: float
    high: float
    step: float


class Option(NamedTuple):
    """One of several things to choose from; `why` says why it cannot be chosen, None when it can.

    `name` is as in settings and in the URL, `text` as on screen.
    """

    name: str
    text: str
    why: str | None = None


def finite(value: float | None) -> float | None:
    """A number as JSON has it; JSON knows neither NaN nor infinity."""
    return round(float(value), 6) if value is not None and np.isfinite(value) else None


def bounds_data(bounds: Bounds) -> Data:
    """Bounds as the browser takes them."""
    return bounds._asdict()


def options_data(options: Sequence[Option]) -> list[Data]:
    """Options as the browser takes them."""
    return [option._asdict() for option in options]


@lru_cache(maxsize=2)
def themes_data(*, small_weights: bool = True) -> Data:
    """Both themes as the browser takes them."""
    found = {kind: palette(kind, small_weights=small_weights) for kind in ("light", "dark")}
    return {kind: {**dataclasses.asdict(one), "font": FONT} for kind, one in found.items()}


def axis_labels(labels: Sequence[str]) -> list[str]:
    """Labels short enough for an axis, and escaped for Plotly."""
    return [
        escape(label if len(label) <= LONGEST_TICK else clipped(label, LONGEST_TICK))
        for label in labels
    ]


def stream_labels(stream: Stream) -> list[str]:
    """Labels as a person reads them. Only tokens of a tokenizer are known to be pieces of words."""
    return token_labels(stream.labels) if _has_words(stream) else list(map(visible, stream.labels))


def stream_looks(stream: Stream) -> list[str] | None:
    """Of each token who wrote it and whether it is special, in words; None where nothing is known.

    Such as "user", "template special", and "" for plain text of no chat.
    """
    if not stream.roles and not stream.special:
        return None
    looks = list(stream.roles or [""] * len(stream))
    for place in stream.special:
        looks[place] = f"{looks[place]} {SPECIAL}".strip()
    return looks


def stream_data(stream: Stream) -> Data:
    """A stream's labels and looks, and the words its tokens belong to where there are words."""
    labels, looks = stream_labels(stream), stream_looks(stream)
    data = {"kind": stream.kind, "labels": labels, "axis": axis_labels(labels), "looks": looks}
    if not _has_words(stream):
        return data | dict.fromkeys(("words", "word_labels", "word_axis", "word_looks"))
    groups = word_groups(stream.labels, _borders(looks or []))
    words = word_labels(stream.labels, groups)
    firsts = [at for at, word in enumerate(groups) if not at or word != groups[at - 1]]
    of_words = looks and [looks[at] for at in firsts]
    own = {"words": groups, "word_labels": words, "word_axis": axis_labels(words)}
    return {**data, **own, "word_looks": of_words}


def _borders(looks: Sequence[str]) -> set[int]:
    """Where the look changes: no word goes on there."""
    return {at for at, (one, other) in enumerate(pairwise(looks), 1) if one != other}


def _has_words(stream: Stream) -> bool:
    return stream.kind == "text" and stream.ids is not None
