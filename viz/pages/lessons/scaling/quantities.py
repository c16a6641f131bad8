"""Numbers of parameters and tokens as people write them."""

from viz.digits import digits

_UNITS = {"trillion": 1e12, "billion": 1e9, "million": 1e6, "thousand": 1e3}


def in_words(value: float) -> str:
    """A number of parameters, tokens or operations in trillions, billions …"""
    unit, size = _unit(value)
    return f"{digits(value / size, 1)} {unit}"


def _unit(value: float) -> tuple[str, float]:
    return next((one for one in _UNITS.items() if value >= one[1]), ("thousand", 1e3))
