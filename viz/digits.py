"""Numbers of a run as they are printed: no more digits than they have, and small is never zero.

`digits` of viz/kit/dom.js does the same in the browser; a test holds the two together.
"""

from decimal import ROUND_HALF_UP, Context, Decimal
from math import inf, isfinite

NONE = "–"
SIGNIFICANT = 7  # digits that float32 has
LONG = 90  # seconds from which minutes are said, and minutes from which hours are
# For Plotly's templates, which know the formats of d3 alone: significant digits, so that a small
# number is not printed as zero.
HOVER = ".5~g"
_ROUNDED = Context(prec=SIGNIFICANT, rounding=ROUND_HALF_UP)


def digits(value: float, places: int = 4) -> str:
    """A number with at most so many digits after the point and seven in all.

    One that would be rounded to zero and is not says what it is below: `< 0.0001`, or above:
    `> −0.0001`. Zero itself is `0`.
    """
    if value == 0:
        return "0"
    if value == -inf:
        return "−∞"
    if not isfinite(value):
        return "not a number"
    exact = Decimal(float(value))
    kept = max(0, min(places, SIGNIFICANT - 1 - exact.adjusted()))
    exact = exact if exact.adjusted() < SIGNIFICANT else _ROUNDED.plus(exact)
    last = Decimal(1).scaleb(-kept)
    rounded = exact.quantize(last, ROUND_HALF_UP, Context(prec=400))
    if not rounded:
        return f"> −{last:f}" if value < 0 else f"< {last:f}"
    return f"{rounded:f}".replace("-", "−")


def or_none(value: float, places: int = 4) -> str:
    """A number, or a dash where there is none, as of the correlation with values all alike."""
    return digits(value, places) if isfinite(value) else NONE


def equals(value: float, places: int = 4) -> str:
    """What a value is, after its name: `= 0.1234`, or `< 0.0001`."""
    text = digits(value, places)
    return text if text[0] in "<>" else f"= {text}"


def duration(seconds: float) -> str:
    """Seconds, from 90 of them on minutes, from 90 of those on hours."""
    minutes = seconds / 60
    if minutes >= LONG:
        return f"{minutes / 60:.0f} h"
    return f"{minutes:.0f} min" if seconds >= LONG else f"{max(seconds, 1):.0f} s"


def share(value: float, places: int = 1) -> str:
    """A share of one in per cent."""
    return f"{digits(100 * value, places)}%"
