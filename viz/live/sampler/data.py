"""What the sampler is sent: logits over the whole vocabulary, and the leading tokens' labels."""

from collections.abc import Sequence

import numpy as np

from model.decoding.filters import SLACK
from viz.figures.labels import visible
from viz.live.core.wire import Bounds, Data, Settings, bounds_data, packed

SAMPLER = "sampler"
NAMED_TOKENS = 20  # bars
BOUNDS = {
    "temperature": Bounds(0.05, 3.0, 0.01),
    "top_p": Bounds(0.01, 1.0, 0.01),
    "min_p": Bounds(0.0, 0.99, 0.01),
}


def sampler_data(
    key: str, logits: np.ndarray, vocabulary: Sequence[str], settings: Settings
) -> Data:
    """Logits (V,) of one position, and the labels of the most likely tokens.

    `key` tells one set of logits from another. Temperature changes no order, so the leading tokens
    are the same for all settings.
    """
    leading = np.argsort(-logits, kind="stable")[:NAMED_TOKENS]
    return {
        "instrument": SAMPLER,
        "key": key,
        "logits": packed(logits),
        "labels": [visible(vocabulary[int(i)]) for i in leading],
        "settings": settings,
        "bounds": {name: bounds_data(bounds) for name, bounds in BOUNDS.items()},
        "slack": SLACK,
    }
