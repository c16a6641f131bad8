"""The one heat map all pages share: tokens or numbers on the axes, masked cells hatched."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go

from viz.digits import HOVER
from viz.figures.build import TILT, Extras, Sheet, TickLabels, build, label_width, room, widest
from viz.labels import LINE, NARROW, axis_labels, thinned
from viz.theme import Palette, color_scale, weight_scale

MOST_TICKS = 36
MOST_CELLS = 2_000_000  # of one map, for which a browser is sent 28 MB
CELL_PIXELS = 34
ABOVE_CELLS = 80
BAR_PIXELS, LAW_BAR_PIXELS = 120, 180
ROOT_TICKS = [0, 0.01, 0.1, 0.5, 1]
BLANK, BLANK_PIXELS = "\u00a0", 3  # a space that is drawn, and its width
# Above the axes, as a share of their height. At 1 and higher, Plotly moves the figure's title and
# those of the axes up by half of the bar's height.
ABOVE = 0.999
END = "\u200b"  # without it Plotly would take spaces at the end away


@dataclass(frozen=True)
class Axis:
    """A title and one label for each row or column; labels are escaped and unique."""

    title: str
    labels: Sequence[str]


@dataclass(frozen=True)
class Scale:
    """What the colours mean: a name for the bar, the range, and whether values are signed.

    Weights of attention and probabilities have a law of their own; see `weights`.
    With a `note` a cell says that on hover instead of its value, and there is no colour bar.
    """

    name: str
    low: float
    high: float
    signed: bool = False
    note: str | None = None
    is_weight: bool = False

    @property
    def hover(self) -> str:
        """What a cell says of its value, as a template of Plotly."""
        return self.note or f"{self.name} <b>%{{z:{HOVER}}}</b>"


@dataclass(frozen=True, eq=False)
class Hidden:
    """Cells to be hatched, True in `cells`, and what they say on hover."""

    cells: np.ndarray
    note: str = "<b>masked</b>: may not attend"


@dataclass(frozen=True)
class Look:
    """How a heat map stands on the page: square cells, its height, the tilt of column labels.

    `above` are traces drawn over the cells, as are `shapes` and `notes`, in Plotly's words.
    """

    square: bool = True
    turned: int = TILT
    height: int | None = None
    above: Sequence[go.Scatter] = ()
    shapes: Sequence[dict[str, Any]] = ()
    notes: Sequence[dict[str, Any]] = ()


USUAL = Look()


def weights(name: str = "attention weight") -> Scale:
    """Attention weights and probabilities, from 0 to 1: coloured as `weight_shares` says."""
    return Scale(name, 0.0, 1.0, is_weight=True)


def signed(name: str, values: np.ndarray) -> Scale:
    """Signed values: symmetric about 0, up to the largest finite magnitude."""
    finite = np.abs(values[np.isfinite(values)])
    reach = float(finite.max(initial=0.0)) or 1.0
    return Scale(name, -reach, reach, signed=True)


def heat_map(
    values: np.ndarray,
    axes: tuple[Axis, Axis],
    scale: Scale,
    colors: Palette,
    *,
    title: str,
    hidden: Hidden | None = None,
    look: Look = USUAL,
) -> go.Figure:
    """A heat map of `values` (rows, columns), the axes of rows and of columns; first row on top.

    A cell that is NaN or infinite is left empty and marked with ×. Of more than `MOST_CELLS`
    nothing is drawn: the figure's `meta` is a line that says so.
    """
    rows, columns = axes
    if np.size(values) > MOST_CELLS:
        return go.Figure(layout={"meta": _too_large(np.shape(values))})
    shown = np.asarray(values, dtype=np.float32)
    finite = np.isfinite(shown)
    covered = np.zeros(shown.shape, bool) if hidden is None else hidden.cells
    cells = go.Heatmap(
        z=np.where(finite & ~covered, shown, np.nan),
        x=list(columns.labels),
        y=list(rows.labels),
        **colored(scale, colors),
        hoverongaps=False,
        hovertemplate=_hover(rows, columns, scale.hover),
    )
    hatch, strokes = [], []
    if hidden is not None and covered.any():
        hatch = [_hatch(covered, _hover(rows, columns, hidden.note), cells, colors)]
        strokes = [_strokes(covered, colors)]
    height = look.height or figure_height(len(rows.labels))
    x, y = _axes(rows, columns, look, height)
    return build(
        [cells, *hatch, *look.above, *bar_traces(scale, colors)],
        colors,
        Sheet(height, title, top=ABOVE_CELLS),
        x=x,
        y=y,
        labels=TickLabels(rows.labels, columns.labels),
        extras=Extras(
            shapes=[*strokes, *look.shapes],
            annotations=[*_crosses(~finite & ~covered, colors), *look.notes],
        ),
    )


def _too_large(shape: tuple[int, ...]) -> str:
    cells, most = " × ".join(f"{n:,}" for n in shape), math.isqrt(MOST_CELLS)
    return (
        f"This map is not drawn: its {cells} cells are more than the {MOST_CELLS:,} that a browser "
        f"takes well. A text of {most:,} tokens or fewer has a map."
    )


def token_map(
    values: np.ndarray,
    tokens: Sequence[str],
    scale: Scale,
    colors: Palette,
    *,
    title: str,
    hidden: np.ndarray | None = None,
) -> go.Figure:
    """A heat map (T, T) of a sentence's tokens as queries and as keys; see `heat_map`."""
    labels = axis_labels(tokens)
    return heat_map(
        values,
        (Axis("query", labels), Axis("key", labels)),
        scale,
        colors,
        title=title,
        hidden=None if hidden is None else Hidden(hidden),
    )


def _hover(rows: Axis, columns: Axis, text: str) -> str:
    place = f"{rows.title} <b>%{{y}}</b><br>{columns.title} <b>%{{x}}</b><br>"
    return f"{place}{text}<extra></extra>"


def figure_height(n_rows: int, least: int = 360, most: int = 660) -> int:
    """Pixels that give every row room, within reason."""
    return int(np.clip(190 + n_rows * CELL_PIXELS, least, most))


def scale_colors(scale: Scale, colors: Palette) -> list[list[object]]:
    """The colours from `low` to `high` in the form Plotly takes."""
    if scale.is_weight:
        return weight_scale(colors)
    return color_scale(colors.diverging if scale.signed else colors.sequential)


def colored(scale: Scale, colors: Palette, **place: object) -> dict[str, Any]:
    """Range, colours and colour bar of a heat map; the bar of weights is of `bar_traces`."""
    has_bar = scale.note is None and not scale.is_weight
    bar = {"colorbar": color_bar(scale, colors) | place} if has_bar else {"showscale": False}
    colorscale = scale_colors(scale, colors)
    return {"zmin": scale.low, "zmax": scale.high, "colorscale": colorscale, **bar}


def bar_traces(scale: Scale, colors: Palette, **place: object) -> list[go.Scatter]:
    """The colour bar of weights: on it, unlike in the cells, the colours change steadily.

    Plotly would crowd those of small weights, which need the room, at its left end.
    """
    if not scale.is_weight:
        return []
    bar = {
        "color": [0],
        "cmin": 0,
        "cmax": 1,
        "colorscale": color_scale(colors.sequential),
        "colorbar": color_bar(scale, colors) | place,
    }
    return [go.Scatter(x=[None], y=[None], mode="markers", marker=bar, showlegend=False)]


def color_bar(scale: Scale, colors: Palette) -> dict[str, object]:
    """A small horizontal bar above the figure's left end, where a narrow page has room too."""
    is_root = scale.is_weight and colors.small_weights
    ticks = ROOT_TICKS if is_root else [scale.low, (scale.low + scale.high) / 2, scale.high]
    law = " (square root)" if is_root else ", 0 to 1" if scale.is_weight else ""
    # The lowest number's middle is below the bar's left end: the name keeps clear of it.
    beside = label_width(f"{scale.low:.3g}") / 2
    name = scale.name + law + BLANK * math.ceil(beside / BLANK_PIXELS) + END
    # The law's words stand above the bar: beside it a narrow page has no room for them.
    side, length = ("top", LAW_BAR_PIXELS) if law else ("right", BAR_PIXELS + label_width(name))
    return {
        "title": {"text": name, "side": side, "font": {"color": colors.muted, "size": 11}},
        "orientation": "h",
        "x": 0,
        "xanchor": "left",
        "y": ABOVE,
        "yanchor": "bottom",
        "thickness": 8,
        "lenmode": "pixels",  # a share of a narrow page has no room for three numbers
        "len": length,  # Plotly takes a name's room beside it off
        "outlinewidth": 0,
        "tickfont": {"color": colors.muted, "size": 11},
        "tickvals": np.sqrt(ticks).tolist() if is_root else ticks,
        "ticktext": [f"{tick:g}" for tick in ticks] if is_root else None,
        "tickangle": 0,
        "tickformat": ".3~g",
    }


def _hatch(hidden: np.ndarray, hover: str, cells: go.Heatmap, colors: Palette) -> go.Heatmap:
    """Grey cells, to be put under diagonal lines, so that masked cannot be taken for zero."""
    return go.Heatmap(
        z=np.where(hidden, 1.0, np.nan).astype(np.float32),
        x=cells.x,
        y=cells.y,
        colorscale=[[0, colors.masked], [1, colors.masked]],
        showscale=False,
        hoverongaps=False,
        hovertemplate=hover,
    )


def _strokes(hidden: np.ndarray, colors: Palette) -> dict[str, object]:
    return {
        "type": "path",
        "path": _hatch_path(hidden),
        "line": {"color": colors.hatch, "width": 1},
        "layer": "above",
    }


def _hatch_path(hidden: np.ndarray) -> str:
    """One stroke along each run of hidden cells on an anti-diagonal, in cell coordinates."""
    n_rows, n_columns = hidden.shape
    strokes = []
    for total in range(n_rows + n_columns - 1):
        run, end = None, (0.0, 0.0)
        for row in range(min(total, n_rows - 1), max(0, total - n_columns + 1) - 1, -1):
            column = total - row
            if hidden[row, column]:
                run = (column - 0.5, row + 0.5) if run is None else run
                end = (column + 0.5, row - 0.5)
            elif run is not None:
                strokes.append(f"M{run[0]},{run[1]}L{end[0]},{end[1]}")
                run = None
        if run is not None:
            strokes.append(f"M{run[0]},{run[1]}L{end[0]},{end[1]}")
    return "".join(strokes)


def dots(
    cells: np.ndarray, rows: Sequence[object], columns: Sequence[object], colors: Palette
) -> list[go.Scatter]:
    """A dot on each cell that is True, by what its row and column are on the axes."""
    places = np.argwhere(cells)
    if not len(places):
        return []
    return [
        go.Scatter(
            x=[columns[column] for _, column in places],
            y=[rows[row] for row, _ in places],
            mode="markers",
            marker={"color": colors.text, "size": 4, "opacity": 0.6},
            hoverinfo="skip",
            showlegend=False,
        )
    ]


def _crosses(broken: np.ndarray, colors: Palette) -> list[dict[str, object]]:
    """A × in each cell whose value is not a number."""
    return [
        {
            "x": int(column),  # on a category axis a number is a place, a string may be a label
            "y": int(row),
            "text": "×",
            "showarrow": False,
            "font": {"color": colors.bad, "size": 16},
        }
        for row, column in np.argwhere(broken)
    ]


def _axes(
    rows: Axis, columns: Axis, look: Look, height: int
) -> tuple[dict[str, object], dict[str, object]]:
    below = room(rows.labels, columns.labels, look.turned)["b"]
    n_rows = (height - ABOVE_CELLS - below) // LINE
    n_columns = MOST_TICKS if look.turned else int(NARROW / (widest(columns.labels) + LINE / 2))
    x = {
        "title": columns.title,
        "side": "bottom",
        "tickangle": -look.turned,
        "showgrid": False,
        **ticks(columns.labels, n_columns),
    }
    y = {"title": rows.title, "autorange": "reversed", "showgrid": False}
    y |= ticks(rows.labels, n_rows)
    if look.square:
        x |= {"constrain": "domain", "constraintoward": "left"}
        y |= {"scaleanchor": "x", "constrain": "domain", "constraintoward": "top"}
    return x, y


def ticks(labels: Sequence[str], most: int = MOST_TICKS) -> dict[str, object]:
    """At most so many of the labels on an axis of categories."""
    shown = [labels[i] for i in thinned(len(labels), most, each=1)]
    return {"type": "category", "tickmode": "array", "tickvals": shown, "ticktext": shown}
