"""What the page of translations is sent: both rows of words, all heads small, and what was drawn.

The browser draws one map and the lines between the words; both are fetched by address.
"""

import base64
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from model.analysis.probabilities import distribution, rank
from model.decoding.filters import Sampling
from model.trace import HeadGroup, Trace
from viz.figures.labels import told_apart
from viz.kit.arrays import encoded, head_address, head_arrays, summary_arrays
from viz.kit.tiles import MASKED, group_data
from viz.kit.wire import (
    Bounds,
    Data,
    Settings,
    bounds_data,
    finite,
    stream_data,
)

TRANSLATION = "translation"
NAMED_TOKENS = 40  # of each step, the most likely
MOST_SENT_ALONG = 400_000  # bytes of a map; larger ones are fetched
CROSS = "decoder.cross_attn"

# By name in settings and in the URL, as on screen.
DECODING = {"greedy": "greedy", "sampling": "sampling", "beam": "beam search"}
HEADS = {"head": "this head", "layer": "mean of its layer", "all": "mean of all layers"}
ROWS = {"output": "while it is predicted", "input": "with it as input"}


class Target(NamedTuple):
    """A target as it was written, its end included where it came.

    `drawn_by` is how each token was drawn, None where the most likely ones were taken or beams were
    searched. The first `n_forced` a person fed in.
    """

    ids: Sequence[int]
    drawn_by: Sampling | None
    n_forced: int


class Words(NamedTuple):
    """What ids stand for: of all the vocabulary, and of special tokens what they mean."""

    vocabulary: Sequence[str]
    specials: Mapping[int, str]

    def labels(self, ids: Iterable[int]) -> dict[int, str]:
        """Tokens of one list as a person reads them, by id."""
        return {**told_apart(self.vocabulary, ids), **self.specials}


class Kept(NamedTuple):
    """A trace, and the key it is in the store under."""

    trace: Trace
    key: str


def translation_data(
    key: str,
    kept: Kept,
    target: Target,
    words: Words,
    settings: Settings,
    bounds: Mapping[str, Bounds],
) -> Data:
    """What the browser needs of one translation. `key` is new when anything but settings is."""
    trace = kept.trace
    return {
        "instrument": TRANSLATION,
        "key": key,
        "arrays_key": kept.key,
        "streams": {stream.name: _stream(trace, stream.name, words) for stream in trace.streams},
        "groups": [group_data(group) for group in trace.groups],
        "steps": [_step(trace, target, words, n) for n in range(len(trace.main))],
        "n_written": len(target.ids),
        "options": {"decode": _pairs(DECODING), "heads": _pairs(HEADS), "rows": _pairs(ROWS)},
        "bounds": {name: bounds_data(found) for name, found in bounds.items()},
        "arrays": _sent_along(trace, kept.key, settings),
        "tile_codes": {"masked": MASKED},
        "settings": settings,
    }


def _pairs(options: Mapping[str, str]) -> list[list[str]]:
    return [[name, text] for name, text in options.items()]


def _stream(trace: Trace, name: str, words: Words) -> Data:
    """A stream's labels, special tokens by what they mean."""
    stream = trace.stream(name)
    data = stream_data(stream)
    assert stream.ids is not None
    special = [words.specials.get(int(i)) for i in stream.ids]
    return data | {
        part: [own or label for own, label in zip(special, data[part], strict=True)]
        for part in ("labels", "axis")
    }


def _step(trace: Trace, target: Target, words: Words, n: int) -> Data:
    """What the model said after n tokens of the target, and which token came there.

    After the last one of a target that has no end, none came.
    """
    found = distribution(trace.logits[n], target.drawn_by or Sampling())
    leading = np.argsort(-found.before, kind="stable")[:NAMED_TOKENS]
    came = int(target.ids[n]) if n < len(target.ids) else None
    labels = words.labels([*leading.tolist(), *([] if came is None else [came])])
    return {
        "id": came,
        "label": "" if came is None else labels[came],
        "prob": None if came is None else finite(found.before[came]),
        "rank": None if came is None else rank(trace.logits[n], came),
        "is_forced": n < target.n_forced,
        "leading": [
            {
                "id": int(i),
                "label": labels[int(i)],
                "before": float(found.before[i]),
                "after": float(found.after[i]),
            }
            for i in leading
        ],
        "n_others": len(found.before) - len(leading),
    }


def _sent_along(trace: Trace, key: str, settings: Settings) -> dict[str, str]:
    """The map that is drawn first and the one of the lines, by address, if they are small."""
    name, layer, head = chosen_head(settings["at"])
    over = settings["shown_heads"]
    own = trace.group(name)
    cross = trace.group(CROSS)
    is_cross = name == CROSS
    wanted = {_address(key, own, over, layer, head): _arrays(own, over, layer, head)}
    if not is_cross:
        wanted[_address(key, cross, "all", 0, 0)] = _arrays(cross, "all", 0, 0)
    files = {address: encoded(arrays) for address, arrays in wanted.items()}
    return {
        address: base64.b64encode(data).decode("ascii")
        for address, data in files.items()
        if len(data) <= MOST_SENT_ALONG
    }


def chosen_head(at: str) -> tuple[str, int, int]:
    """Group, layer and number of a head as an address spells it: decoder.cross_attn.3.0."""
    name, layer, head = at.rsplit(".", 2)
    return name, int(layer), int(head)


def _address(key: str, group: HeadGroup, over: str, layer: int, head: int) -> str:
    """Where a map is fetched from, as `addressOf` in heads.js."""
    if over == "head":
        return head_address(key, group.records[layer].site, head)
    index = layer if over == "layer" else 0
    return f"live/arrays/{key}/summary/{group.name}/mean/{over}/{index}"


def _arrays(group: HeadGroup, over: str, layer: int, head: int) -> dict[str, np.ndarray]:
    if over == "head":
        return head_arrays(group.records[layer], head)
    return summary_arrays(group, "mean", over, layer if over == "layer" else 0)
