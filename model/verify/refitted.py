"""A law E + A/N^α + B/D^β fitted once more, from other starts and in other unknowns.

The unknowns are E, the two other terms at the middle of all runs, α and β. Starts are a grid of
exponents with E, A and B by least squares; from there Newton's steps, curvatures by differences.
"""

import math
from collections.abc import Sequence

import numpy as np

Array = np.ndarray
DELTA = 0.1
EXPONENTS = (0.1, 0.2, 0.3, 0.45, 0.6, 0.8, 1.1)
BEST, STEPS, LEAST_FLOOR, FLAT = 3, 100, 0.01, 1e-14


def _parts(unknowns: Array, x: Array, y: Array) -> tuple[Array, Array, Array]:
    """The law, and its two terms, where x and y are ln of N and D from their middles."""
    floor, of_size, of_tokens, alpha, beta = unknowns
    size, tokens = of_size * np.exp(-alpha * x), of_tokens * np.exp(-beta * y)
    return floor + size + tokens, size, tokens


def _cost(unknowns: Array, x: Array, y: Array, loss: Array) -> float:
    law = _parts(unknowns, x, y)[0]
    if not np.all(law > 0) or min(unknowns[:3]) < 0:
        return math.inf
    off = [abs(math.log(a / b)) for a, b in zip(law.tolist(), loss.tolist(), strict=True)]
    return math.fsum(r * r / 2 if r < DELTA else DELTA * (r - DELTA / 2) for r in off)


def _gradient(unknowns: Array, x: Array, y: Array, loss: Array) -> Array:
    """By all unknowns but a floor that is none."""
    law, size, tokens = _parts(unknowns, x, y)
    pull = np.maximum(np.minimum(np.log(law / loss), DELTA), -DELTA) / law
    slopes = np.stack(
        [np.ones_like(x), size / unknowns[1], tokens / unknowns[2], -x * size, -y * tokens]
    )
    return (slopes @ pull) * [unknowns[0] > 0, 1, 1, 1, 1]


def _curvature(unknowns: Array, x: Array, y: Array, loss: Array) -> Array:
    rows = []
    for i in range(5):
        if unknowns[i] == 0:  # the floor that is none stays so
            rows.append(np.eye(5)[i])
            continue
        step = np.zeros(5)
        step[i] = 1e-6 * max(abs(unknowns[i]), 1e-3)
        ends = [_gradient(unknowns + sign * step, x, y, loss) for sign in (1, -1)]
        rows.append((ends[0] - ends[1]) / (2 * step[i]))
    curved = np.array(rows)
    return (curved + curved.T) / 2


def _starts(x: Array, y: Array, loss: Array) -> list[Array]:
    found = []
    for alpha in EXPONENTS:
        for beta in EXPONENTS:
            columns = np.stack([np.ones_like(x), np.exp(-alpha * x), np.exp(-beta * y)], axis=1)
            solved = np.linalg.lstsq(columns / loss[:, None], np.ones_like(x), rcond=None)[0]
            found.append(np.array([*np.maximum(solved, 0.05), alpha, beta]))
    return sorted(found, key=lambda one: _cost(one, x, y, loss))[:BEST]


def _downhill(at: Array, x: Array, y: Array, loss: Array) -> Array:
    """Newton's steps, shorter and steeper where they would lead uphill."""
    cost, damping = _cost(at, x, y, loss), 1e-6
    for _ in range(STEPS):
        slope = _gradient(at, x, y, loss)
        if np.abs(slope).max() < FLAT:
            return at
        curved = _curvature(at, x, y, loss)
        least = float(np.linalg.eigvalsh(curved)[0])
        while damping < 1e8:
            lifted = curved + (max(-2 * least, 0.0) + damping) * np.eye(5)
            step = np.linalg.solve(lifted, -slope)
            tried = _cost(at + step, x, y, loss)
            if tried < cost:
                break
            damping *= 5
        else:
            return at
        at, cost, damping = at + step, tried, max(damping / 10, 1e-15)
    return at


def refit(sizes: Sequence[float], tokens: Sequence[float], losses: Sequence[float]) -> Array:
    """E, A, B, α and β of the lowest Huber loss of ln L, (5,)."""
    x, y = np.log(np.asarray(sizes, float)), np.log(np.asarray(tokens, float))
    loss, middle_x, middle_y = np.asarray(losses, float), float(x.mean()), float(y.mean())
    x, y = x - middle_x, y - middle_y
    starts = _starts(x, y, loss)
    starts += [np.array([0.0, *start[1:]]) for start in starts]
    ends = [_downhill(start, x, y, loss) for start in starts]
    ends = [end for end in ends if not 0 < end[0] < LEAST_FLOOR]
    floor, of_size, of_tokens, alpha, beta = min(ends, key=lambda one: _cost(one, x, y, loss))
    a, b = of_size * math.exp(alpha * middle_x), of_tokens * math.exp(beta * middle_y)
    return np.array([floor, a, b, alpha, beta])
