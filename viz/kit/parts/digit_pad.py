"""What the digit pad is sent: the picture, its classes, and what one row of patches attends to."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from model.analysis.patches import rollout
from model.trace import Trace
from viz.kit.part import Answers, Part
from viz.kit.wire import Settings

SPLIT = ("rows", "rollout")  # by the row of patches that is looked at
WAYS = {"head": "one head", "mean": "mean of the layer", "rollout": "rollout"}


class Shipped(NamedTuple):
    """The shipped pictures: which is shown, its class, how many there are, and those got wrong."""

    chosen: int
    label: int | None
    n: int
    wrong: Sequence[int]


def answer_arrays(trace: Trace) -> dict[str, np.ndarray]:
    """Logits (C,); by the row that is looked at every head's pattern (T, L, H, T) and rollout
    (T, T).
    """
    patterns = [record.pattern for record in trace.attention]
    assert trace.output is not None
    return {
        "logits": trace.output[0].astype(np.float32),
        "rows": np.stack(patterns).transpose(2, 0, 1, 3).astype(np.float32),
        "rollout": rollout(patterns).astype(np.float32),
    }


def digit_pad_part(
    key: str, trace: Trace, pixels: bytes, answers: Answers, shipped: Shipped, settings: Settings
) -> Part:
    """The picture of a run as bytes, what the model answers, and what answers while one is drawn.

    `key` is that of the run. settings: {"digit": number of the shipped picture, "drawing": a drawn
    one as the address has it or nothing, "at": the head, "way": one of WAYS}.
    """
    stream = trace.main
    assert stream.pixels is not None
    spec = {
        "key": key,
        "size": len(stream.pixels),
        "side": stream.side,
        "group": trace.groups[0].name,
        "shipped": {name: getattr(shipped, name) for name in ("chosen", "label", "n")},
        "ways": [{"name": name, "text": text} for name, text in WAYS.items()],
    }
    arrays = {
        "pixels": np.frombuffer(pixels, np.uint8),
        "wrong": np.array(shipped.wrong, np.int32),
        **answer_arrays(trace),
    }
    return Part("digit_pad", spec, settings, arrays, dict.fromkeys(SPLIT, 1), answers)
