"""What the lesson on kernels shows, worked out once more: see `derived`.

Addresses end with the number of the kernel, its width in hundredths and the seed of the points;
kernel.weights has the place of the query in hundredths before the seed. Those of houses end with
the kernel, the width and the size in m².
"""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from model import reference

if TYPE_CHECKING:
    from model.verify.derived import Ran

Array = np.ndarray
N, LAST, NOISE, HUNDREDTHS = 50, 5.0, 0.5, 0.01
GRID = 101  # places at which curves are drawn


def _points(seed: int) -> tuple[list[float], list[float]]:
    drawn = np.random.default_rng(seed)
    places = sorted(drawn.uniform(0, LAST, N).tolist())
    noise = drawn.normal(0, NOISE, N).tolist()
    return places, [2 * math.sin(x) + x**0.8 + e for x, e in zip(places, noise, strict=True)]


def _height(kind: int, u: float) -> float:
    if kind == 0:
        return math.exp(-u * u / 2)
    return float([0, abs(u) < 1, max(1 - u * u, 0), max(1 - abs(u), 0), 1][kind])


def _row(x: float, kind: int, width: int, seed: int) -> list[float]:
    """The weights of one query; zeros where nothing is in reach."""
    places, _ = _points(seed)
    heights = [_height(kind, (x - place) / (width * HUNDREDTHS)) for place in places]
    total = math.fsum(heights) or 1.0
    return [height / total for height in heights]


def _estimate(x: float, kind: int, width: int, seed: int) -> float:
    row = _row(x, kind, width, seed)
    values = _points(seed)[1]
    return math.fsum(map(float.__mul__, row, values)) if any(row) else math.nan


def _curve(ran: "Ran", kind: int, width: int, seed: int) -> Array:
    places = [LAST * i / (GRID - 1) for i in range(GRID)]
    return np.array([_estimate(x, kind, width, seed) for x in places])


def _truth(ran: "Ran") -> Array:
    places = [LAST * i / (GRID - 1) for i in range(GRID)]
    return np.array([2 * math.sin(x) + x**0.8 for x in places])


SIZES, PRICES = (50.0, 60.0, 80.0, 100.0, 120.0), (75.0, 95.0, 120.0, 145.0, 165.0)


def _house_weights(kind: int, width: int, size: int) -> list[float]:
    heights = [_height(kind, (size - other) / width) for other in SIZES]
    total = math.fsum(heights) or 1.0
    return [height / total for height in heights]


def _house_parts(ran: "Ran", kind: int, width: int, size: int) -> Array:
    row = _house_weights(kind, width, size)
    return np.array([weight * price for weight, price in zip(row, PRICES, strict=True)])


SMOOTHED: dict[str, Callable[..., Array]] = {
    "kernel.truth": _truth,
    "kernel.places": lambda ran, seed: np.array(_points(seed)[0]),
    "kernel.values": lambda ran, seed: np.array(_points(seed)[1]),
    "kernel.curve": _curve,
    "kernel.weights": lambda ran, kind, width, x, seed: np.array(
        _row(x * HUNDREDTHS, kind, width, seed)
    ),
    "kernel.answer": lambda ran, kind, width, x, seed: np.asarray(
        _estimate(x * HUNDREDTHS, kind, width, seed)
    ),
    "house.sizes": lambda ran: np.array(SIZES),
    "house.prices": lambda ran: np.array(PRICES),
    "house.distances": lambda ran, kind, width, size: (size - np.array(SIZES)) / width,
    "house.weights": lambda ran, *asked: np.array(_house_weights(*asked)),
    "house.parts": _house_parts,
    "house.price": lambda ran, *asked: np.asarray(math.fsum(_house_parts(ran, *asked))),
}


def _gaussian(ran: "Ran", site: str) -> Array:
    """Weights by distance of each head, (H, T, T): dot products less half the keys' squares."""
    mask = np.asarray(ran.arrays[f"{site}.mask"])
    q, k = ran.arrays[f"{site}.q"], ran.arrays[f"{site}.k"]
    keys = np.repeat(k, len(q) // len(k), axis=0)
    products = np.einsum("htd,hsd->hts", q, keys)
    lengths = np.einsum("hsd,hsd->hs", keys, keys)[:, None] / 2
    scores = (products - lengths) / math.sqrt(q.shape[-1])
    return reference.softmax(np.where(mask, scores, -np.inf))


def _apart(ran: "Ran", site: str) -> Array:
    """Weight on other keys than the head's own, of each head, (H,)."""
    pairs = zip(_gaussian(ran, site), ran.arrays[f"{site}.pattern"], strict=True)
    return np.array([np.maximum(a - b, 0).sum(axis=-1).mean() for a, b in pairs])


def _shown(ran: "Ran", site: str) -> Array:
    return np.where(np.asarray(ran.arrays[f"{site}.mask"]), _gaussian(ran, site), np.nan)


SMOOTHED_OF_A_SITE: dict[str, Callable[..., Array]] = {
    "unmasked_gaussian": _shown,
    "gaussian_apart": _apart,
}
