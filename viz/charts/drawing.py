"""A chart in one theme: colours, the names that have room, what is said under the hand."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from viz.charts.chart import Axis, Bars, Chart, Ink
from viz.charts.colors import Entries
from viz.charts.room import columns_room, widest
from viz.digits import HOVER
from viz.labels import NARROW, clipped, escape, thinned, unique
from viz.theme import Palette

HEIGHT, MAP_HEIGHT = 380, 560  # pixels without a legend; the second of a map of numbers
ROW_PIXELS, CELL_PIXELS = 24, 34
BAR_TOP = 80  # pixels above a map, for its title and its colour bar
TURNED = 10.5  # pixels of a turned name below a figure
TALLEST, LONGEST = 28, 16  # characters of a name beside a row, and below a column
TILT = 50  # degrees by which names below a figure are turned
FEW_LETTERS, BESIDE = 3, 8  # of names that are never turned, and pixels between names
NUMBERS: dict[str, tuple[str, Entries]] = {  # how a kind is written, under the hand and on an axis
    "plain": (HOVER, {}),
    "whole": ("d", {"tickformat": "d"}),
    "count": (",.7~r", {"exponentformat": "SI"}),
    "share": (".1%", {"tickformat": ".0%"}),
    "power": (HOVER, {"exponentformat": "power"}),
    "bytes": (".4s", {"tickformat": "~s"}),
}


@dataclass(frozen=True)
class Part:
    """What a mark adds to a figure."""

    traces: list[Entries] = field(default_factory=list)
    shapes: list[Entries] = field(default_factory=list)
    notes: list[Entries] = field(default_factory=list)


class Labels:
    """The names of an axis as a figure has them: escaped, apart, and those that have room."""

    def __init__(self, axis: Axis, longest: int) -> None:
        names = list(axis.names or ())
        self.all, self.full = unique(names), list(map(escape, names))
        self.shown = [escape(clipped(name, longest)) for name in names]
        self.is_clipped = any(len(name) > longest for name in names)
        self.places, self.tilt = range(len(names)), 0

    @classmethod
    def rows(cls, axis: Axis, pixels: int) -> "Labels":
        """Names below each other on so many pixels."""
        labels = cls(axis, TALLEST)
        labels.places = thinned(len(labels.all), pixels)
        return labels

    @classmethod
    def columns(cls, axis: Axis, pixels: float) -> "Labels":
        """Names beside each other: those that have no room, but for short ones, are turned."""
        labels = cls(axis, LONGEST)
        n, wide = len(labels.all), widest(labels.shown) + BESIDE
        if n * wide <= pixels or max(map(len, axis.names or ()), default=0) <= FEW_LETTERS:
            labels.places = thinned(n, int(pixels), each=wide)
        else:
            labels.places, labels.tilt = thinned(n, int(pixels), each=TURNED), TILT
        return labels

    @property
    def axis(self) -> Entries:
        """The ticks."""
        return {
            "type": "category",
            "categoryorder": "array",
            "categoryarray": self.all,
            "tickmode": "array",
            "tickvals": [self.all[i] for i in self.places],
            "ticktext": [self.shown[i] for i in self.places],
            "showgrid": False,
        }

    def at(self, places: Sequence[float] | np.ndarray) -> list[str]:
        """The names of places."""
        return [self.all[int(place)] for place in places]


@dataclass(frozen=True, eq=False)
class Drawing:
    """A chart in one theme."""

    chart: Chart
    colors: Palette
    width: float = NARROW  # pixels of its x axis
    has_bar: bool = True  # of colours, which charts side by side share

    @cached_property
    def x(self) -> Labels | None:
        """Names below the columns."""
        axis = self.chart.x
        return None if axis.names is None else Labels.columns(axis, self.width)

    @cached_property
    def y(self) -> Labels | None:
        """Names beside the rows."""
        axis = self.chart.y
        if axis.names is None:
            return None
        return Labels.rows(axis, self.height - BAR_TOP - self.below)

    @property
    def below(self) -> int:
        """Pixels below the axes, for names and the title."""
        return columns_room(self.x and self.x.shown, self.tilt)

    @property
    def height(self) -> int:
        """Pixels of the figure, which give every row room, within reason."""
        chart, rows = self.chart, len(self.chart.y.names or ())
        if chart.height:
            return chart.height
        if chart.cells is not None:
            return int(np.clip(190 + rows * CELL_PIXELS, HEIGHT, 660)) if rows else MAP_HEIGHT
        if chart.is_sideways:
            bars = chart.of(Bars)
            per_row = 1 if any(bar.is_stacked for bar in bars) else len(bars)
            return max(HEIGHT, 96 + ROW_PIXELS * rows * per_row)
        return HEIGHT

    @property
    def tilt(self) -> int:
        """Degrees by which the names of columns are turned."""
        return self.x.tilt if self.x else 0

    def color(self, ink: Ink) -> str:
        """A colour of the theme."""
        series = self.colors.series
        return series[ink % len(series)] if isinstance(ink, int) else getattr(self.colors, ink)

    def by_sign(self, value: float) -> str:
        """Orange above 0 and blue below, as on maps."""
        return self.colors.diverging[1 if value < 0 else -2]


# --- what stands under the hand ---------------------------------------------------------------


def line_of(axis: Axis, place: str, labels: Labels | None) -> str:
    """A line of an axis: its name and, bold, what is there with its unit; of a bare one none."""
    if labels is None and not axis.head:
        return ""
    number = f"%{{{place}}}" if labels is not None else f"%{{{place}:{NUMBERS[axis.kind][0]}}}"
    words = f"{escape(axis.title)} " if axis.title else ""
    return f"{words}<b>{number}</b>{f' {escape(axis.unit)}' if axis.unit else ''}"


def hover(*lines: str) -> str:
    """Plotly's template of some lines, the empty ones left out."""
    return f"{'<br>'.join(filter(None, lines))}<extra></extra>"


def bold(text: str) -> str:
    """A text in bold, or nothing."""
    return f"<b>{escape(text)}</b>" if text else ""


def further(
    names: Sequence[str], more: Mapping[str, Any]
) -> tuple[list[list[Any]] | None, list[str]]:
    """Further columns, first `names` where there are any: row by row, and a line for each."""
    columns = ([list(map(escape, names))] if len(names) else []) + [
        [_said(x) for x in np.asarray(values, object).ravel()] for values in more.values()
    ]
    lines = ["<b>%{customdata[0]}</b>"] if len(names) else []
    lines += [
        f"{escape(name)} <b>%{{customdata[{at}]{_form(columns[at])}}}</b>"
        for at, name in enumerate(more, len(lines))
    ]
    return (list(map(list, zip(*columns, strict=True))) if columns else None), lines


def _said(value: Any) -> Any:  # noqa: ANN401
    """A number as it is, a text escaped; nothing for what is missing, which would read as 0."""
    if isinstance(value, str):
        return escape(value)
    return "" if value is None or value != value else value


def _form(column: Sequence[object]) -> str:
    """How the numbers of a column are written; texts as they are."""
    there = [x for x in column if not isinstance(x, str) or x]
    if all(isinstance(x, int | np.integer) for x in there):
        return ":,"
    return "" if isinstance(there[0], str) else f":{HOVER}"
