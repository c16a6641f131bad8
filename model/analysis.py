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
