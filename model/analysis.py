"""Questions asked of a finished trace, answered in numpy."""

import numpy as np
import torch

from model.attention import attention_pattern


def masking_alternatives(scores: np.ndarray, mask: np.ndarray) -> dict[str, np.ndarray]:
    """One head's scores turned into weights in three ways, of which only the first is right.

    - "before": −inf in masked cells before softmax. Rows sum to one, masked cells are zero.
    - "score_zero": score 0 in masked cells before softmax. e⁰ = 1, so they get weight all the same.
    - "after": softmax over all cells, masked weights set to zero after. Rows sum to less than one,
      because the hidden cells have already taken their share.

    scores and mask: (Tq, Tk), scores before the mask. Returns (Tq, Tk) for each name.
    """
    s, m = torch.tensor(scores), torch.tensor(mask)
    return {
        "before": attention_pattern(s, m).numpy(),
        "score_zero": attention_pattern(s.masked_fill(~m, 0.0)).numpy(),
        "after": attention_pattern(s).masked_fill(~m, 0.0).numpy(),
    }


def cosine_similarity(vectors: np.ndarray) -> np.ndarray:
    """Cosine of the angle between every two rows; zero rows give zero. (N, D) → (N, N)."""
    x = vectors.astype(np.float64)
    lengths = np.linalg.norm(x, axis=1, keepdims=True)
    unit = np.divide(x, lengths, out=np.zeros_like(x), where=lengths > 0)
    return unit @ unit.T


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
