"""What the lesson on similarity shows, worked out once more: see `derived`.

Addresses of two vectors end with the components of both and what the second is multiplied by, in
tenths; components are counted from −5 on: pair.product.80.65.65.80.20. near.values.0.17.10 are the
10 tokens nearest to token 17, by cosine where the first number is 0, by dot product where it is 1.
"""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from model.verify.derived import Ran

Array = np.ndarray
Vector = tuple[float, float]
LOWEST, TENTHS = 5, 10
PARTS = 5  # numbers of an address of two vectors
DECIMALS = 12


def _vectors(*numbers: int) -> tuple[Vector, Vector]:
    if len(numbers) != PARTS:
        raise KeyError(numbers)
    x1, y1, x2, y2 = (number / TENTHS - LOWEST for number in numbers[:-1])
    times = numbers[-1] / TENTHS
    return (x1, y1), (times * x2, times * y2)


def _angle(*numbers: int) -> float:
    """In radians, from 0 to π, by the directions of both."""
    (x1, y1), (x2, y2) = _vectors(*numbers)
    if not (math.hypot(x1, y1) and math.hypot(x2, y2)):
        return math.nan
    return abs(math.atan2(x1 * y2 - y1 * x2, x1 * x2 + y1 * y2))


def _product(ran: "Ran", *numbers: int) -> Array:
    (x1, y1), (x2, y2) = _vectors(*numbers)
    return np.array(math.fsum((x1 * x2, y1 * y2)))


def _arrow(number: int) -> Callable[..., Array]:
    """A line from 0 to the end of a vector: its x, then its y. (2, 2)."""

    def line(ran: "Ran", *numbers: int) -> Array:
        x, y = _vectors(*numbers)[number]
        return np.array([[0, x], [0, y]])

    return line


def _dropped(ran: "Ran", *numbers: int) -> Array:
    """The line from the end of b at a right angle onto a's line, (2, 2)."""
    (x1, y1), (x2, y2) = _vectors(*numbers)
    length = math.hypot(x1, y1)
    if not length:
        return np.array([[x2, 0], [y2, 0]])
    ux, uy = x1 / length, y1 / length
    along = x2 * ux + y2 * uy
    return np.array([[x2, along * ux], [y2, along * uy]])


def _length(number: int) -> Callable[..., Array]:
    return lambda ran, *numbers: np.array(math.hypot(*_vectors(*numbers)[number]))


# --- the embedding --------------------------------------------------------------------------------


def _table(ran: "Ran") -> Array:
    names = ("embed.weight", "encoder.embed.weight")
    return ran.files.weights[next(name for name in names if name in ran.files.weights)]


def _lengths(ran: "Ran") -> Array:
    return np.sqrt((_table(ran) ** 2).sum(axis=-1))


def _ordered(ran: "Ran", by: int, token: int, k: int) -> tuple[list[int], Array]:
    """The ids of the k most alike, and the values of all."""
    table, lengths = _table(ran), _lengths(ran)
    values = (table * table[token]).sum(axis=-1)
    if by not in (0, 1):
        raise KeyError(by)
    if by == 0:
        values = np.array([
            value / (length * lengths[token]) if length and lengths[token] else 0.0
            for value, length in zip(values, lengths, strict=True)
        ])  # fmt: skip
    order = sorted(range(len(values)), key=lambda i: (-round(float(values[i]), DECIMALS), i))
    return order[:k], values


def _values(ran: "Ran", by: int, token: int, k: int) -> Array:
    ids, values = _ordered(ran, by, token, k)
    return values[ids]


def _mean_length(ran: "Ran", by: int, token: int, k: int) -> Array:
    return np.asarray(_lengths(ran)[_ordered(ran, by, token, k)[0]].mean())


SIMILAR: dict[str, Callable[..., Array]] = {
    "pair.a": _arrow(0),
    "pair.b": _arrow(1),
    "pair.dropped": _dropped,
    "pair.product": _product,
    "pair.length_a": _length(0),
    "pair.length_b": _length(1),
    "pair.cosine": lambda ran, *at: np.asarray(math.cos(_angle(*at))),
    "pair.degrees": lambda ran, *at: np.asarray(math.degrees(_angle(*at))),
    "near.values": _values,
    "near.ids": lambda ran, *at: np.array(_ordered(ran, *at)[0]),
    "near.mean_length": _mean_length,
    "near.length": lambda ran, token: _lengths(ran)[token],
    "near.rows": lambda ran: np.array(len(_table(ran))),
    "near.length_of_all": lambda ran: np.asarray(_lengths(ran).mean()),
}


# --- a head ---------------------------------------------------------------------------------------


def _keys(ran: "Ran", site: str) -> Array:
    q, k = ran.arrays[f"{site}.q"], ran.arrays[f"{site}.k"]
    return np.repeat(k, len(q) // len(k), axis=0)


def _shown(ran: "Ran", site: str, values: Array) -> Array:
    return np.where(np.asarray(ran.arrays[f"{site}.mask"]), values, np.nan)


def _products(ran: "Ran", site: str) -> Array:
    return np.einsum("hid,hjd->hij", ran.arrays[f"{site}.q"], _keys(ran, site))


def _cosines(ran: "Ran", site: str) -> Array:
    """Products of vectors that were brought to length 1 first, (H, Tq, Tk)."""

    def unit(x: Array) -> Array:
        lengths = np.sqrt((x**2).sum(axis=-1, keepdims=True))
        return x / np.where(lengths > 0, lengths, 1.0)

    return np.einsum("hid,hjd->hij", unit(ran.arrays[f"{site}.q"]), unit(_keys(ran, site)))


def _length_of_keys(pick: Callable[..., Array]) -> Callable[..., Array]:
    return lambda ran, site: pick(np.sqrt((_keys(ran, site) ** 2).sum(axis=-1)), axis=-1)


SIMILAR_OF_A_SITE: dict[str, Callable[..., Array]] = {
    "unmasked_products": lambda ran, site: _shown(ran, site, _products(ran, site)),
    "unmasked_cosines": lambda ran, site: _shown(ran, site, _cosines(ran, site)),
    "shortest_key": _length_of_keys(np.min),
    "longest_key": _length_of_keys(np.max),
}
