"""How alike vectors are."""

import numpy as np


def cosine_similarity(vectors: np.ndarray) -> np.ndarray:
    """Cosine of the angle between every two rows; zero rows give zero. (N, D) → (N, N)."""
    x = vectors.astype(np.float64)
    lengths = np.linalg.norm(x, axis=1, keepdims=True)
    unit = np.divide(x, lengths, out=np.zeros_like(x), where=lengths > 0)
    return unit @ unit.T
