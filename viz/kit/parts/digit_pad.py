"""What the digit pad is sent: the picture, its classes, and what one row of patches attends to."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from model.analysis.patches import rollout
from model.trace import Trace
from viz.kit.part import Answers, Part
from viz.kit.wire import Data, Settings, packed

WAYS = {"head": "one head", "mean": "mean of the layer", "rollout": "rollout"}


class Shipped(NamedTuple):
    """The shipped pictures: which is shown, its class, how many there are, and those got wrong."""

    chosen: int
    label: int | None
    n: int
    wrong: Sequence[int]


def answer_data(trace: Trace, query: int) -> Data:
    """Logits (C,); of every head's pattern the row `query`, (L, H, T), and of the rollout, (T,)."""
    patterns = [record.pattern for record in trace.attention]
    assert trace.output is not None
    return {
        "query": query,
        "logits": packed(trace.output[0].astype(np.float32)),
        "rows": packed(np.stack([pattern[:, query] for pattern in patterns]).astype(np.float32)),
        "rollout": packed(rollout(patterns)[query].astype(np.float32)),
    }


def digit_pad_part(
    key: str, trace: Trace, pixels: bytes, answers: Answers, shipped: Shipped, settings: Settings
) -> Part:
    """The picture of a run as bytes, what the model answers, and what answers while one is drawn.

    Arrays by the row that is looked at: every head's pattern (T, L, H, T), the rollout (T, T).
    `key` is that of the run. settings: {"digit": number of the shipped picture, "drawing": a drawn
    one as the address has it or nothing, "at": the head, "way": one of WAYS}.
    """
    stream = trace.main
    patterns = [record.pattern for record in trace.attention]
    assert stream.pixels is not None and trace.output is not None
    spec = {
        "key": key,
        "size": len(stream.pixels),
        "side": stream.side,
        "group": trace.groups[0].name,
        "shipped": {**shipped._asdict(), "wrong": list(shipped.wrong)},
        "ways": [{"name": name, "text": text} for name, text in WAYS.items()],
    }
    arrays = {
        "pixels": np.frombuffer(pixels, np.uint8),
        "logits": trace.output[0].astype(np.float32),
        "rows": np.stack(patterns).transpose(2, 0, 1, 3).astype(np.float32),
        "rollout": rollout(patterns).astype(np.float32),
    }
    split = {"rows": 1, "rollout": 1}
    return Part("digit_pad", spec, settings, arrays, split, answers)
