"""Many heads as one map: their mean or their maximum."""

import numpy as np


def summarise_patterns(patterns: np.ndarray, how: str, over: str, index: int) -> np.ndarray:
    """Mean or maximum of attention patterns over heads, layers, or both. (L, H, Tq, Tk) → (Tq, Tk).

    `how` is "mean" or "maximum"; `over` is "layer" (all heads of layer `index`), "head" (head
    `index` of all layers) or "all". Raises ValueError for others and for an index out of range.
    """
    n_layers, n_heads = patterns.shape[:2]
    chosen = {
        "layer": patterns[index : index + 1],
        "head": patterns[:, index : index + 1],
        "all": patterns,
    }
    if how not in SUMMARIES or over not in chosen:
        raise ValueError(
            f"no summary {how} over {over}; give mean or maximum over layer, head or all"
        )
    if not chosen[over].size:
        raise ValueError(f"{over} {index} of {n_layers} layers × {n_heads} heads does not exist")
    return SUMMARIES[how](chosen[over], axis=(0, 1))


SUMMARIES = {"mean": np.mean, "maximum": np.max}
