"""What a sampler leaves of a row of logits, worked out once more: see `derived`.

The settings stand in the address in whole numbers: the row; the order of the steps, a digit each,
as in `STEPS`; then temperature, top-k (0: all), top-p and min-p, all but top-k in millionths.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from model.verify.derived import Ran

Array = np.ndarray
STEPS = {"1": "temperature", "2": "top_k", "3": "top_p", "4": "min_p"}
MILLIONTHS = 1e-6
EXACT = 1e-12  # a sum of shares is no better known than that


def _shares(falling: Array, temperature: float, count: int) -> Array:
    """Softmax of the leading `count` logits at a temperature, (count,)."""
    powers = np.exp((falling[:count] - falling[0]) / temperature)
    return powers / powers.sum()


def _kept(name: str, shares: Array, k: int, p: float, m: float) -> int:
    """How many of falling shares a step leaves, at least one."""
    if name == "top_k":
        return min(k, len(shares)) if k else len(shares)
    if name == "top_p" and p < 1:
        before = np.concatenate([[0.0], np.cumsum(shares)[:-1]])
        return max(1, int((before < p - EXACT).sum()))
    if name == "min_p":
        return max(1, int((shares >= (m - EXACT) * shares[0]).sum()))
    return len(shares)


def _steps(falling: Array, order: int, *settings: int) -> list[tuple[int, float]]:
    """After each step how many tokens are left, and the share they hold of what it was handed."""
    if len(settings) != len(STEPS) or not settings[0]:
        raise KeyError(settings)  # as any name that is none
    temperature, p, m = (MILLIONTHS * settings[i] for i in (0, 2, 3))
    now, count, found = 1.0, len(falling), []
    for digit in str(order):
        name = STEPS[digit]
        now = temperature if name == "temperature" else now
        shares = _shares(falling, now, count)
        count = _kept(name, shares, settings[1], p, m)
        found.append((count, float(shares[:count].sum())))
    return found


def sampled(ran: "Ran", row: int, order: int, *settings: int) -> Array:
    """The probability each token is drawn with, (V,); 0 where a filter removes it."""
    logits = ran.arrays["output"][row]
    ids = np.argsort(-logits, kind="stable")
    falling = logits[ids]
    count = _steps(falling, order, *settings)[-1][0]
    probabilities = np.zeros_like(logits)
    probabilities[ids[:count]] = _shares(falling, MILLIONTHS * settings[0], count)
    return probabilities


def _of_steps(column: int) -> Callable[..., Array]:
    """What there is to say of each step in its order, (steps,)."""

    def found(ran: "Ran", row: int, order: int, *settings: int) -> Array:
        falling = np.sort(ran.arrays["output"][row])[::-1]
        return np.array([step[column] for step in _steps(falling, order, *settings)], float)

    return found


def _entropy(ran: "Ran", row: int, order: int, *settings: int) -> Array:
    shares = sampled(ran, row, order, *settings)
    left = shares[shares > 0]
    return np.asarray(-(left * np.log(left)).sum())


def _perplexity(ran: "Ran", row: int, order: int, *settings: int) -> Array:
    return np.exp(_entropy(ran, row, order, *settings))


SAMPLED: dict[str, Callable[..., Array]] = {
    "sampled": sampled,
    "sampled.left": _of_steps(0),
    "sampled.mass": _of_steps(1),
    "sampled.entropy": _entropy,
    "sampled.perplexity": _perplexity,
}
