"""Room for words, worked out here: Plotly's automargin draws a figure two or three times."""

import math
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from html import unescape
from typing import Any

LETTER, WIDE_LETTER = 6.9, 13  # pixels of an average letter of a tick label, with some to spare
TITLE = 42  # an axis title with the space around it
NUMBERS = 30  # tick labels that are numbers
MOST = 220  # pixels; longer labels are rare and may be cut
ENTRY, LEGEND_LINE = 46, 22  # pixels of a legend's entry beside its words, and of a line of it
PHONE = 340  # pixels of a figure on a phone
BESIDE_TITLE = 320  # pixels a legend may take beside a title


def rows_room(names: Sequence[str] | None) -> int:
    """Pixels left of the axes, for names beside rows or for numbers."""
    return round(TITLE + (NUMBERS if not names else widest(names)))


def columns_room(names: Sequence[str] | None, tilt: float) -> int:
    """Pixels below the axes, for names that are turned or for numbers."""
    if not names:
        return TITLE + 12
    return round(TITLE + 16 + widest(names) * math.sin(math.radians(tilt)))


def legend_room(names: Sequence[str], left: int) -> tuple[dict[str, Any], int, int]:
    """Where a legend stands, and the pixels it takes below and, with the title, above the axes.

    Beside the title where it is short, else below, where it takes as many lines as it needs on a
    phone: Plotly gives it the width of the axes, `left` pixels less than the figure's, and, where
    all do not fit in one line, each the width of the widest.
    """
    place: dict[str, Any] = {"traceorder": "normal"}  # Plotly turns that of stacked bars around
    if len(names) < 2:
        return {}, 0, 44
    wide = [label_width(name) + ENTRY for name in names]
    if sum(wide) <= BESIDE_TITLE:
        return place, 0, 84
    place |= {"orientation": "h", "x": 0, "xanchor": "left", "y": 0, "yref": "container",
              "yanchor": "bottom"}  # fmt: skip
    in_line = max(1, int((PHONE - left) // max(wide)))
    return place, 12 + LEGEND_LINE * math.ceil(len(names) / in_line), 44


def widest(labels: Sequence[str]) -> float:
    """Pixels of the widest label."""
    return min(max(map(label_width, labels), default=0.0), MOST)


@lru_cache(maxsize=4096)
def label_width(label: str) -> float:
    """About how many pixels a label takes; marks that take no room count for none."""
    kinds = [(unicodedata.east_asian_width(x), unicodedata.category(x)) for x in unescape(label)]
    return sum(
        0 if kind in ("Mn", "Me", "Cf") else WIDE_LETTER if width in ("W", "F") else LETTER
        for width, kind in kinds
    )
