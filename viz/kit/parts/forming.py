"""Heads as they form: what each attends to on one text, at the steps of a training."""

import numpy as np

from model.training.runs import Frames
from viz.kit.part import Part
from viz.kit.wire import Settings, axis_labels
from viz.labels import visible

NONE = -1  # in the place of a step: none is taken away
STATE = {"against": NONE, "head": ""}


def forming_part(frames: Frames, settings: Settings, *, key: str) -> Part:
    """Every head at every step that was kept.

    settings: `step` is that on screen, `against` the one that is taken away from it, `head` the one
    that is large, as "1.0" (layer and head).
    """
    labels = {name: [*map(visible, getattr(frames, name))] for name in ("queries", "keys")}
    _, n_layers, n_heads, *_ = frames.patterns.shape
    spec = {
        "key": key,
        "text": frames.text.strip(),
        "labels": labels,
        "axis": {name: axis_labels(own) for name, own in labels.items()},
        "is_self": frames.queries == frames.keys,
        "n_layers": n_layers,
        "n_heads": n_heads,
    }
    steps = np.array(frames.steps, np.int32)
    arrays = {"patterns": frames.patterns, "mask": frames.mask, "steps": steps}
    state = {"step": frames.steps[-1], **STATE, **settings}
    return Part("forming", spec, state, arrays, {"patterns": 1})
