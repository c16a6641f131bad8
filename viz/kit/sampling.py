"""What the panels of sampling are sent: logits over the whole vocabulary, and how to draw."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from model.decoding.filters import SLACK, Sampling
from viz.kit.wire import Bounds, Data, bounds_data
from viz.labels import signs, told_apart

NAMED_TOKENS = 12  # bars
BOUNDS = {
    "temperature": Bounds(0.05, 3.0, 0.01),
    "top_p": Bounds(0.01, 1.0, 0.01),
    "min_p": Bounds(0.0, 0.99, 0.01),
}


def sampling_data(sampling: Sampling) -> Data:
    """How a token is drawn, as the browser's filters take it; they draw without a seed."""
    return {
        "temperature": sampling.temperature,
        "top_k": sampling.top_k,
        "top_p": sampling.top_p,
        "min_p": sampling.min_p,
        "order": list(sampling.order),
    }


def limits_data() -> Data:
    """Where the sliders end, and by how much rounding may not move a cut."""
    bounds = {name: bounds_data(bounds) for name, bounds in BOUNDS.items()}
    return {"bounds": bounds, "slack": SLACK}


class Distribution(NamedTuple):
    """What is said of a distribution, and its logits (V,)."""

    said: Data
    logits: np.ndarray


def distribution_of(
    key: str,
    at: int,
    logits: np.ndarray,
    vocabulary: Sequence[str],
    sampling: Sampling | None = None,
    drawn: int | None = None,
) -> Distribution:
    """Logits (V,) of what comes as token `at` of the whole text, and the most likely by name.

    `key` tells one set of logits from another. `sampling` is what the token there was drawn with,
    None where sliders say how to draw; `drawn` is its id, None where there is none yet. Temperature
    changes no order, so the leading tokens are the same for all settings.
    """
    leading = [int(i) for i in np.argsort(-logits, kind="stable")[:NAMED_TOKENS]]
    named = leading if drawn is None or drawn in leading else [*leading[:-1], drawn]
    labels = list(told_apart(vocabulary, named).values())
    said = {
        "key": key,
        "at": at,
        "ids": named,
        "labels": labels,
        "signs": "; ".join(signs(labels)),
        "sampling": None if sampling is None else sampling_data(sampling),
        "drawn": drawn,
    }
    return Distribution(said, logits.astype(np.float32))
