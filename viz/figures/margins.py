"""Room for labels, worked out here: Plotly's own automargin draws a figure two or three times."""

import math
import unicodedata
from collections.abc import Sequence
from html import unescape

import plotly.graph_objects as go

LETTER = 6.9  # pixels of an average letter of a tick label, with some to spare
WIDE_LETTER = 13
TITLE = 42  # an axis title with the space around it
NUMBERS = 30  # tick labels that are numbers
TILT = math.radians(50)  # of token labels below a figure, as `tickangle` -50
MOST = 220  # pixels; longer labels are rare and may be cut


def label_width(label: str) -> float:
    """About how many pixels a label takes; marks that take no room count for none."""
    kinds = [(unicodedata.east_asian_width(x), unicodedata.category(x)) for x in unescape(label)]
    return sum(
        0 if kind in ("Mn", "Me", "Cf") else WIDE_LETTER if width in ("W", "F") else LETTER
        for width, kind in kinds
    )


def widest(labels: Sequence[str]) -> float:
    """Pixels of the widest label."""
    return min(max(map(label_width, labels), default=0.0), MOST)


def make_room(
    figure: go.Figure,
    *,
    rows: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    turned: float = TILT,
) -> None:
    """Give tick labels and axis titles their room; axes without labels have numbers.

    `columns` are turned by an angle in radians.
    """
    left = TITLE + (NUMBERS if rows is None else widest(rows))
    below = 12 if columns is None else 14 + widest(columns) * math.sin(turned)
    figure.update_layout(margin={"l": round(left), "b": round(TITLE + below)})
    figure.update_xaxes(automargin=False)
    figure.update_yaxes(automargin=False)
