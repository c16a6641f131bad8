"""Shares in a logit as pictures: a waterfall, signed bars over tokens, and bars by name."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go

from viz.digits import HOVER, digits
from viz.figures.build import Sheet, TickLabels, build
from viz.figures.heatmap import Axis, Hidden, Look, dots, heat_map, signed
from viz.figures.lines import frame
from viz.labels import LINE, clipped, escape, unique
from viz.theme import Palette

HEIGHT = 380
ROW_PIXELS = 24
NAME_CHARACTERS = 16
SUM = "sum"


def waterfall(names: Sequence[str], parts: np.ndarray, colors: Palette, title: str) -> go.Figure:
    """From nothing to a logit: each part (N,) begins where the one before it ended."""
    labels = unique([*names, SUM])
    bars = go.Waterfall(
        x=labels,
        y=np.append(parts, np.nan),
        measure=[*["relative"] * len(names), "total"],
        increasing={"marker": {"color": _more(colors)}},
        decreasing={"marker": {"color": _less(colors)}},
        totals={"marker": {"color": colors.frame}},
        connector={"line": {"color": colors.line, "width": 1}},
        hovertemplate=f"<b>%{{x}}</b><br>adds <b>%{{delta:{HOVER}}}</b>, in all "
        f"%{{final:{HOVER}}}<extra></extra>",
    )
    return build(
        [bars],
        colors,
        Sheet(HEIGHT, title),
        x={"type": "category", "tickangle": -50, "showgrid": False},
        y={"title": "logit", "zeroline": True, "zerolinecolor": colors.muted},
        labels=TickLabels(columns=labels),
    )


@dataclass(frozen=True, eq=False)
class Marked:
    """Cells of a map by row and column: the chosen one framed, those that are off crossed out.

    Where there are `estimated` ones, (rows, columns), they have a dot, and all say which they are.
    """

    chosen: tuple[int, int] | None = None
    off: Sequence[tuple[int, int]] = ()
    estimated: np.ndarray | None = None


NOTHING = Marked()


def part_map(
    axes: tuple[Axis, Axis],
    values: np.ndarray,
    colors: Palette,
    words: tuple[str, str],
    *,
    marked: Marked = NOTHING,
    hidden: Hidden | None = None,
) -> go.Figure:
    """A signed number of each part, rows and columns; `words`: what colours mean, the title."""
    name, title = words
    crossed = {"color": colors.text, "width": 2, "dash": "dot"}
    framed = {"color": colors.frame, "width": 3}
    chosen = [] if marked.chosen is None else [marked.chosen]
    rows, columns = axes
    estimated = np.zeros(0) if marked.estimated is None else marked.estimated
    look = Look(
        square=False,
        turned=0,
        height=max(HEIGHT, 150 + LINE * len(rows.labels)),  # each layer has its label
        shapes=[_around(x, crossed) for x in marked.off] + [_around(x, framed) for x in chosen],
        notes=[_off(x, colors) for x in marked.off],
        above=dots(estimated, rows.labels, columns.labels, colors),
    )
    scale = signed(name, values)
    figure = heat_map(values, axes, scale, colors, title=title, hidden=hidden, look=look)
    if marked.estimated is not None:
        said = np.where(marked.estimated, "estimate", "exact")
        template = str(figure.data[0]["hovertemplate"]).replace(
            "<extra>", "<br>%{hovertext}<extra>"
        )
        figure.data[0].update(hovertext=said.tolist(), hovertemplate=template)
    return figure


def head_axes(rows: Sequence[str], n_heads: int) -> tuple[Axis, Axis]:
    """Layers down, heads across."""
    return Axis("layer", unique(rows)), Axis("head", [f"H{head}" for head in range(n_heads)])


def _around(cell: tuple[int, int], line: dict[str, Any]) -> dict[str, Any]:
    """A frame around one cell, by row and column."""
    row, column = cell
    return frame((row, row), (column, column), line)


def _off(cell: tuple[int, int], colors: Palette) -> dict[str, Any]:
    """The word on a part that is off, readable on any colour."""
    row, column = cell
    place = {"x": column, "y": row, "showarrow": False, "borderpad": 2}
    return {**place, "text": "off", "bgcolor": colors.background}


def token_bars(
    labels: Sequence[str], values: np.ndarray, colors: Palette, words: tuple[str, str]
) -> go.Figure:
    """A signed number of each token, (T,), by unique escaped labels; `words` as `part_map`."""
    name, title = words
    bars = go.Bar(
        x=labels,
        y=values,
        marker={"color": _signed(values, colors)},
        hovertemplate=f"<b>%{{x}}</b><br>{name} <b>%{{y:{HOVER}}}</b><extra></extra>",
    )
    return build(
        [bars],
        colors,
        Sheet(HEIGHT, escape(title)),
        x={
            "type": "category",
            "categoryorder": "array",
            "categoryarray": labels,
            "tickangle": -50,
            "showgrid": False,
            "range": [-0.5, len(labels) - 0.5],
        },
        y={"title": name, "zeroline": True, "zerolinecolor": colors.muted},
        labels=TickLabels(columns=labels),
    )


def named_bars(
    names: Sequence[str], values: np.ndarray, colors: Palette, words: tuple[str, str]
) -> go.Figure:
    """Signed numbers below each other, each with its name. `words`: what they are, the title."""
    name, title = words
    places = list(range(len(names)))
    shown = [escape(clipped(one, NAME_CHARACTERS)) for one in names]
    bars = go.Bar(
        x=values,
        y=places,
        orientation="h",
        marker={"color": _signed(values, colors)},
        text=[escape(digits(float(value), 3)) for value in values],
        textposition="outside",
        cliponaxis=False,
        customdata=list(map(escape, names)),
        hovertemplate=f"<b>%{{customdata}}</b><br>{name} <b>%{{x:{HOVER}}}</b><extra></extra>",
    )
    reach = 1.3 * (float(np.abs(values).max(initial=0.0)) or 1.0)
    low = -reach if (values < 0).any() else 0.0
    return build(
        [bars],
        colors,
        Sheet(max(HEIGHT, 96 + ROW_PIXELS * len(names)), escape(title)),
        x={"title": name, "range": [low, reach], "zeroline": True, "zerolinecolor": colors.muted},
        y={
            "tickvals": places,
            "ticktext": shown,
            "range": [len(names) - 0.5, -0.5],
            "showgrid": False,
            "zeroline": False,
        },
        labels=TickLabels(rows=shown),
    )


def _signed(values: np.ndarray, colors: Palette) -> list[str]:
    return [_less(colors) if value < 0 else _more(colors) for value in values]


def _more(colors: Palette) -> str:
    return colors.diverging[-2]


def _less(colors: Palette) -> str:
    return colors.diverging[1]
