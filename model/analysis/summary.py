"""Many heads as one map: their mean or their maximum."""

from collections.abc import Sequence

import numpy as np


def summarise_patterns(
    patterns: Sequence[np.ndarray] | np.ndarray, how: str, over: str, index: int
) -> np.ndarray:
    """Mean or maximum of attention patterns over heads, layers, or both: (Tq, Tk).

    patterns: L of (H, Tq, Tk), one of which is in memory at a time where they are worked out.
    `how` is "mean" or "maximum"; `over` is "layer" (all heads of layer `index`), "head" (head
    `index` of all layers) or "all". Raises ValueError for others and for an index out of range.
    """
    n = {"layer": len(patterns), "head": len(patterns[0]), "all": index + 1}
    if how not in SUMMARIES or over not in n:
        raise ValueError(
            f"no summary {how} over {over}; give mean or maximum over layer, head or all"
        )
    if not 0 <= index < n[over]:
        sizes = f"{n['layer']} layers × {n['head']} heads"
        raise ValueError(f"{over} {index} of {sizes} does not exist")
    layers = patterns[index : index + 1] if over == "layer" else patterns
    heads = slice(index, index + 1) if over == "head" else slice(None)
    return SUMMARIES[how]([SUMMARIES[how](layer[heads], axis=0) for layer in layers], axis=0)


SUMMARIES = {"mean": np.mean, "maximum": np.max}
