"""A chart as data: axes with names and units, and marks over columns of numbers; nothing of Plotly.

Texts are plain: what draws or writes them escapes them. On an axis with `names` numbers are places,
from 0 on: the first name is on the left, or on top.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from viz.labels import token_labels

Numbers = np.ndarray | Sequence[float]
Texts = Sequence[str]
Ink = int | str  # the number of a colour of `Palette.series`, or the name of another in the palette
SIGN = "by sign"  # the ink of bars that are orange above 0 and blue below
Kind = Literal["plain", "whole", "count", "share", "power", "bytes"]


def head(name: str, unit: str) -> str:
    """A name with its unit, if any, as it stands on an axis and over a column."""
    return f"{name} ({unit})" if unit else name


@dataclass(frozen=True, eq=False)
class Axis:
    """What is laid out in one direction: its name, its unit, how its numbers are written.

    `names` are of what stands at 0, 1, 2, …: tokens, heads, models. Those that are `numbered` may
    be equal, and carry their number in a table, from `first` on. `ends` are left and right, or foot
    and top; `ticks` the places that are numbered, with other words where it is a mapping.
    """

    title: str
    unit: str = ""
    names: Texts | None = None
    numbered: bool = False
    first: int = 0
    kind: Kind = "plain"
    is_log: bool = False
    from_zero: bool = False
    ends: tuple[float, float] | None = None
    ticks: Sequence[float] | Mapping[float, str] | None = None

    @property
    def head(self) -> str:
        """Its name with the unit."""
        return head(self.title, self.unit)


def tokens(title: str, texts: Texts) -> Axis:
    """An axis of a text's tokens, as a person can read them; they may repeat."""
    return Axis(title, names=token_labels(texts), numbered=True)


def numbered(title: str, letter: str, n: int) -> Axis:
    """An axis of things that are called by their number: H0, H1, …"""
    return Axis(title, names=[f"{letter}{i}" for i in range(n)])


@dataclass(frozen=True)
class Scale:
    """What colours mean: the name of the values, and the range. Signed ones are symmetric about 0.

    With a `note` a cell says that under the hand instead of its value, and there is no colour bar.
    """

    name: str
    low: float = 0.0
    high: float = 1.0
    kind: Literal["sequential", "weight", "signed", "cyclic"] = "sequential"
    note: str = ""
    unit: str = ""

    @property
    def head(self) -> str:
        """Its name with the unit."""
        return head(self.name, self.unit)


def weights(name: str = "attention weight") -> Scale:
    """Attention weights and probabilities, from 0 to 1: coloured as `weight_shares` says."""
    return Scale(name, kind="weight")


def from_zero(name: str, values: np.ndarray, unit: str = "") -> Scale:
    """Values without a sign: from 0 to the largest."""
    return Scale(name, 0.0, _reach(values), unit=unit)


def signed(name: str, values: np.ndarray, unit: str = "") -> Scale:
    """Signed values: symmetric about 0, up to the largest finite magnitude."""
    reach = _reach(values)
    return Scale(name, -reach, reach, "signed", unit=unit)


def _reach(values: np.ndarray) -> float:
    finite = np.abs(values[np.isfinite(values)])
    return float(finite.max(initial=0.0)) or 1.0


@dataclass(frozen=True)
class Pen:
    """How a line or points are drawn; what is None follows from the chart."""

    ink: Ink | None = None
    dash: str | None = "solid"  # None: points alone
    width: float = 2
    symbol: str | Sequence[str] | None = "circle"  # None: a line alone
    size: float | Sequence[float] = 7
    opacity: float = 1.0
    shape: str = "linear"


DOTS = Pen(dash=None)
PLAIN = Pen(symbol=None)
GUIDE = Pen(ink="muted", dash="dot", symbol=None)
STRONG, FAINT = Pen(ink=0, width=4, symbol=None), Pen("muted", width=1.2, symbol=None, opacity=0.6)
RING = Pen("frame", dash=None, symbol="circle-open", size=13, width=3)


@dataclass(frozen=True, eq=False)
class Line:
    """Points (N,) and what joins them. A line without a name is in no legend.

    `between` are lower and upper ends at each point, bars or a band; `names` and `more` say more of
    each point under the hand and in the table, `written` where on the figure its name stands, or
    of `texts` its text; without a symbol it is as large as the pen says. A line that is `quiet`
    says nothing under the hand.
    """

    x: Numbers
    y: Numbers
    name: str = ""
    pen: Pen = Pen()
    between: tuple[Numbers, Numbers] | None = None
    is_band: bool = False
    names: Texts = ()
    more: Mapping[str, Sequence[object] | np.ndarray] = field(default_factory=dict)
    written: str | Sequence[str] = ""
    texts: Texts = ()
    shades: tuple[np.ndarray, Scale] | None = None
    quiet: bool = False
    in_legend: bool = True


@dataclass(frozen=True, eq=False)
class Bars:
    """One bar for each value (N,), at the names of an axis or at the numbers `at`.

    They begin at 0 or at `starts`. `texts` stand at their ends; the numbers do with `is_written`.
    """

    values: Numbers
    name: str = ""
    at: Numbers | None = None
    ink: Ink | Sequence[Ink] | None = None
    starts: Numbers | None = None
    texts: Texts = ()
    is_written: bool = False
    is_stacked: bool = False
    width: float | None = None
    more: Mapping[str, Sequence[object] | np.ndarray] = field(default_factory=dict)

    @property
    def places(self) -> Numbers:
        """Where the bars stand."""
        return range(len(self.values)) if self.at is None else self.at


@dataclass(frozen=True, eq=False)
class Hidden:
    """Cells to be hatched, True in `cells`, and what they say under the hand."""

    cells: np.ndarray
    note: str = "masked: may not attend"


@dataclass(frozen=True, eq=False)
class Cells:
    """A value for each row and column, (R, C). NaN and infinity are marked with ×.

    Colours are of the values, or of `shades` (R, C) with a scale of their own; `more` are further
    values of each cell. `texts` are written in the cells, the `bold` ones bold, and those that are
    `faint` on grey: their values say little.
    """

    values: np.ndarray
    scale: Scale
    hidden: Hidden | None = None
    shades: tuple[np.ndarray, Scale] | None = None
    more: Mapping[str, np.ndarray] = field(default_factory=dict)
    texts: Sequence[Sequence[str]] | None = None
    bold: np.ndarray | None = None
    faint: np.ndarray | None = None
    gap: float = 0


@dataclass(frozen=True)
class Rule:
    """A dotted line across the figure where an axis is `at`, with words beside it.

    `place` is a side and top or bottom; words on a column may stand "above" the figure.
    """

    axis: Literal["x", "y"]
    at: float
    text: str = ""
    place: tuple[str, str] = ("right", "top")
    ink: Ink = "frame"


@dataclass(frozen=True)
class Frame:
    """A frame around cells, from the first to the last row and column of them."""

    rows: tuple[int, int]
    columns: tuple[int, int]
    dash: str = "solid"
    ink: Ink = "frame"
    width: float = 3
    inset: float = 0
    text: str = ""  # on what it frames


def around(cell: tuple[int, int], dash: str = "solid", ink: Ink = "frame", text: str = "") -> Frame:
    """A frame around one cell, by row and column."""
    row, column = cell
    return Frame((row, row), (column, column), dash, ink, text=text)


Mark = Line | Bars | Cells | Rule | Frame


@dataclass(frozen=True, eq=False)
class Chart:
    """A figure before it is drawn. `says` is what no mark says, for those who do not see it.

    One that `scrolls` is wider than a narrow page, which shows this end of it: the title and the
    colour bar stand there, and rows are named at both ends.
    """

    title: str
    x: Axis
    y: Axis
    marks: Sequence[Mark]
    says: str = ""
    height: int | None = None
    is_square: bool = False
    scrolls: Literal["", "left", "right"] = ""

    def of(self, kind: type) -> list:
        """Its marks of one kind, in their order."""
        return [mark for mark in self.marks if isinstance(mark, kind)]

    @property
    def cells(self) -> Cells | None:
        """The map it is, or none."""
        return next(iter(self.of(Cells)), None)

    @property
    def is_sideways(self) -> bool:
        """Whether its bars lie below each other: where the rows have the names."""
        return bool(self.of(Bars)) and self.y.names is not None

    @property
    def sides(self) -> tuple[Axis, Axis]:
        """The axis of places, and that of numbers."""
        return (self.y, self.x) if self.is_sideways else (self.x, self.y)


@dataclass(frozen=True, eq=False)
class Row:
    """Charts side by side that have one height, in pixels, and one scale of colours."""

    charts: Sequence[Chart]
    tallest: int = 640
    says: str = ""

    @property
    def title(self) -> str:
        """What they are together."""
        return ", ".join(chart.title for chart in self.charts)

    @property
    def is_labelled_once(self) -> bool:
        """Whether the row names stand at the first alone: those of all are the same, or fewer."""
        names = [list(chart.y.names or ()) for chart in self.charts]
        return all(own == names[0][: len(own)] for own in names)

    @property
    def gap(self) -> float:
        """The share of the width between two, with room for row names where each has them."""
        return 0.02 if self.is_labelled_once else 0.1

    @property
    def height(self) -> int:
        """Pixels of the figure, which give every row room, within reason."""
        rows = max(len(chart.y.names or ()) for chart in self.charts)
        return min(max(170 + 22 * rows, 280), self.tallest)
