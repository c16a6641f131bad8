"""Numbers of parameters and tokens as people write them, with their addresses."""

from viz.digits import digits
from viz.frame.numbers import Number, number
from viz.runs import Compared

_UNITS = {"trillion": 1e12, "billion": 1e9, "million": 1e6, "thousand": 1e3}


def quantity(run: Compared, address: str, value: float) -> list[str | Number]:
    """A number of parameters, tokens or operations in trillions, billions …"""
    unit, size = _unit(value)
    return [number(run, address, value, digits(value / size, 1), times=1 / size), f" {unit}"]


def in_words(value: float) -> str:
    """The same as plain text."""
    unit, size = _unit(value)
    return f"{digits(value / size, 1)} {unit}"


def _unit(value: float) -> tuple[str, float]:
    return next((one for one in _UNITS.items() if value >= one[1]), ("thousand", 1e3))
