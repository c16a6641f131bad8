"""The error function of whole arrays, for the independent run; numpy has none."""

from collections.abc import Sequence

import numpy as np

Array = np.ndarray

# Coefficients of Cody 1969 as his program CALERF has them: from 0 to NEAR, to FAR, and beyond.
NEAR, FAR = 0.46875, 4.0
_A = (3.16112374387056560e00, 1.13864154151050156e02, 3.77485237685302021e02,
      3.20937758913846947e03, 1.85777706184603153e-1)  # fmt: skip
_B = (2.36012909523441209e01, 2.44024637934444173e02, 1.28261652607737228e03,
      2.84423683343917062e03)  # fmt: skip
_C = (5.64188496988670089e-1, 8.88314979438837594e0, 6.61191906371416295e01,
      2.98635138197400131e02, 8.81952221241769090e02, 1.71204761263407058e03,
      2.05107837782607147e03, 1.23033935479799725e03, 2.15311535474403846e-8)  # fmt: skip
_D = (1.57449261107098347e01, 1.17693950891312499e02, 5.37181101862009858e02,
      1.62138957456669019e03, 3.29079923573345963e03, 4.36261909014324716e03,
      3.43936767414372164e03, 1.23033935480374942e03)  # fmt: skip
_P = (3.05326634961232344e-1, 3.60344899949804439e-1, 1.25781726111229246e-1,
      1.60837851487422766e-2, 6.58749161529837803e-4, 1.63153871373020978e-2)  # fmt: skip
_Q = (2.56852019228982242e00, 1.87295284992346725e00, 5.27905102951428412e-1,
      6.05183413124413191e-2, 2.33520497626869185e-3)  # fmt: skip


def erf(x: Array) -> Array:
    """2/√π ∫₀ˣ exp(−t²) dt of each value, to the last digits of float64 (Cody 1969)."""
    size = np.abs(x)
    near = x * _ratio(np.minimum(size, NEAR) ** 2, _A, _B)
    middle = np.exp(-(size**2)) * _ratio(np.clip(size, NEAR, FAR), _C, _D)
    inverse = 1 / np.maximum(size, FAR) ** 2
    tail = (1 / np.sqrt(np.pi) - inverse * _ratio(inverse, _P, _Q)) / np.maximum(size, FAR)
    rest = np.where(size <= FAR, middle, np.exp(-(size**2)) * tail)
    return np.where(size <= NEAR, near, np.copysign(1 - rest, x))


def _ratio(x: Array, above: Sequence[float], below: Sequence[float]) -> Array:
    """A quotient of polynomials; the last coefficient above is the leading one, below it is 1."""
    top, bottom = above[-1] * x, x
    for a, b in zip(above[:-2], below[:-1], strict=True):
        top, bottom = (top + a) * x, (bottom + b) * x
    return (top + above[-2]) / (bottom + below[-1])
