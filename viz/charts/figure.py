"""The Plotly figure of a chart: its axes, its legend, its height, and charts side by side."""

import math
from collections.abc import Mapping
from functools import lru_cache
from itertools import count

import numpy as np

from viz.charts.chart import Axis, Bars, Chart, Line, Row
from viz.charts.colors import Entries, bar_traces, color_bar
from viz.charts.drawing import BAR_TOP, NUMBERS, Drawing, Labels, Part
from viz.charts.marks import drawn
from viz.charts.room import TITLE, legend_room, rows_room
from viz.labels import escape
from viz.theme import Palette, template

FEW = 8  # whole numbers, each of which has its tick
MOST_CELLS = 2_000_000  # of one map, for which a browser is sent 28 MB


def too_large(chart: Chart | Row) -> str:
    """The line that stands in place of a map of too many cells; nothing of all others."""
    charts = chart.charts if isinstance(chart, Row) else [chart]
    shapes = [one.cells.values.shape for one in charts if one.cells is not None]
    shape = next((shape for shape in shapes if math.prod(shape) > MOST_CELLS), None)
    if shape is None:
        return ""
    cells, most = " × ".join(f"{n:,}" for n in shape), math.isqrt(MOST_CELLS)
    return (
        f"This map is not drawn: its {cells} cells are more than the {MOST_CELLS:,} that a browser "
        f"takes well. A text of {most:,} tokens or fewer has a map."
    )


def figure(chart: Chart | Row, colors: Palette) -> Entries:
    """The figure of a chart, or of several side by side, as Plotly's JSON has it.

    Plotly's own classes would check every entry, which takes longer than all else; tests do that.
    """
    if isinstance(chart, Row):
        return _side_by_side(chart, colors)
    drawing, bars, cells = Drawing(chart, colors), chart.of(Bars), chart.cells
    lines = [line for line in chart.of(Line) if line.in_legend]
    names = [mark.name for mark in (*lines, *bars) if mark.name]
    has_top = cells is not None or any(line.shades for line in lines)  # room for a colour bar
    legend, below, above = legend_room(names)
    margin = {
        "l": rows_room(drawing.y and drawing.y.shown),
        "b": drawing.below + below,
        "t": BAR_TOP if has_top else above,
    }
    parts = _parts(drawing)
    layout: Entries = {
        "template": _template(colors),
        "title": {"text": escape(chart.title)},
        "height": chart.height or drawing.height + below,
        "margin": margin,
        "xaxis": _x_axis(drawing),
        "yaxis": _y_axis(drawing),
        "shapes": [shape for part in parts for shape in part.shapes],
        "annotations": [note for part in parts for note in part.notes],
        "showlegend": len(names) > 1,
    }
    if legend:
        layout["legend"] = legend
    if bars:
        is_stacked = any(bar.is_stacked for bar in bars)
        layout |= {"barmode": "stack" if is_stacked else "group", "bargap": 0.25}
    data = [trace for part in parts for trace in part.traces]
    if chart.scrolls:
        right = {"overlaying": "y", "matches": "y", "side": "right", "title": {"text": ""},
                 "ticklabelstandoff": 6}  # fmt: skip
        layout["yaxis2"] = layout["yaxis"] | right
        margin["r"] = margin["l"] - TITLE
        data[-1]["yaxis"] = "y2"  # an axis without a trace is not drawn
    if chart.scrolls == "right":
        layout["title"] |= {"x": 1, "xref": "paper", "xanchor": "right"}
    return {"data": data, "layout": layout}


def _parts(drawing: Drawing) -> list[Part]:
    series = count()
    return [drawn(drawing, mark, series) for mark in drawing.chart.marks]


@lru_cache(maxsize=4)
def _template(colors: Palette) -> Entries:
    return template(colors).to_plotly_json()


# --- axes -------------------------------------------------------------------------------------


def _x_axis(drawing: Drawing) -> Entries:
    chart = drawing.chart
    found = _axis(drawing, chart.x, drawing.x, _values(chart, "x"))
    if drawing.x is not None:
        found["tickangle"] = -drawing.tilt
        if chart.cells is None:
            found["range"] = [-0.5, len(drawing.x.all) - 0.5]
    pens = [line.pen for line in chart.of(Line)]
    are_points_alone = bool(pens) and all(pen.dash is None for pen in pens)
    found["showgrid"] = chart.is_sideways or are_points_alone
    return found | ({"constrain": "domain", "constraintoward": "left"} if chart.is_square else {})


def _y_axis(drawing: Drawing) -> Entries:
    chart = drawing.chart
    found = _axis(drawing, chart.y, drawing.y, _values(chart, "y"))
    is_down = chart.cells is not None or drawing.y is not None
    if is_down and chart.y.ends is None:
        found["autorange"] = "reversed"
    if chart.cells is not None:
        found["showgrid"] = False
    if chart.is_sideways:
        found |= {"ticks": "outside", "ticklen": 5}  # names do not touch their bars
    if chart.is_square:
        top = {"constrain": "domain", "constraintoward": "top"}
        found |= {"scaleanchor": "x", **top}
    return found


def _axis(drawing: Drawing, axis: Axis, labels: Labels | None, values: np.ndarray) -> Entries:
    found: Entries = {"title": {"text": escape(axis.head)}, "automargin": False}
    if labels is not None:
        return (
            found | labels.axis | ({"range": list(axis.ends)} if axis.ends else {}) | _ticks(axis)
        )
    found |= NUMBERS[axis.kind][1]
    if axis.kind == "whole" and _span(drawing.chart, axis, values) <= FEW:
        found["dtick"] = 1  # else Plotly marks halves, too
    if axis.is_log:
        found |= {"type": "log", "dtick": _decades(values)}
    elif (values < 0).any() and drawing.chart.of(Bars):
        found |= {"zeroline": True, "zerolinecolor": drawing.colors.muted}
    if axis.from_zero:
        found["rangemode"] = "tozero"
    if axis.ends is not None:
        found["range"] = [float(x) for x in (np.log10(axis.ends) if axis.is_log else axis.ends)]
    elif any(bar.is_written for bar in drawing.chart.of(Bars)) and not axis.is_log:
        reach = 1.3 * (float(np.abs(values).max(initial=0.0)) or 1.0)
        found["range"] = [-reach if (values < 0).any() else 0.0, reach]
    return found | _ticks(axis)


def _ticks(axis: Axis) -> Entries:
    """The places that are numbered, where a chart says which."""
    if axis.ticks is None:
        return {}
    texts = axis.ticks if isinstance(axis.ticks, Mapping) else {x: f"{x:g}" for x in axis.ticks}
    return {"tickvals": list(texts), "ticktext": list(texts.values())}


def _decades(values: np.ndarray) -> int:
    """How many powers of ten one tick stands for."""
    positive = values[np.isfinite(values) & (values > 0)]
    return 1 if not len(positive) or np.ptp(np.log10(positive)) < 9 else 2


def _span(chart: Chart, axis: Axis, values: np.ndarray) -> float:
    """From where to where the numbers of an axis reach."""
    if axis.ends is not None:
        return axis.ends[1] - axis.ends[0]
    if chart.cells is not None:
        return chart.cells.values.shape[1 if axis is chart.x else 0]
    finite = values[np.isfinite(values)]
    ends = [0.0, *finite] if axis.from_zero else finite
    return float(np.ptp(ends)) if len(finite) else math.inf


def _values(chart: Chart, side: str) -> np.ndarray:
    """All numbers that stand along an axis."""
    along = [getattr(line, side) for line in chart.of(Line)]
    if (side == "x") == chart.is_sideways:
        along += [bar.values for bar in chart.of(Bars)]
    else:
        along += [bar.at for bar in chart.of(Bars) if bar.at is not None]
    return np.concatenate([np.asarray(x, float).ravel() for x in along]) if along else np.zeros(0)


# --- side by side -----------------------------------------------------------------------------

TOP, TITLES = 96, 36  # pixels above charts side by side, and those of their titles
WIDE = 760  # pixels of all their x axes


def _side_by_side(row: Row, colors: Palette) -> Entries:
    """Maps from left to right; the colours of the first are those of all."""
    width = (1 - row.gap * (len(row.charts) - 1)) / len(row.charts)
    drawings = [Drawing(chart, colors, WIDE * width, has_bar=False) for chart in row.charts]
    longest = max((x.y.shown for x in drawings if x.y), key=len, default=None)
    below = max(x.below for x in drawings)
    layout: Entries = {
        "template": _template(colors),
        "height": row.height,
        "margin": {"t": TOP, "l": rows_room(longest), "b": below},
        "shapes": [],
        "annotations": [],
    }
    data: list[Entries] = []
    for number, drawing in enumerate(drawings):
        name, left = str(number + 1) if number else "", number * (width + row.gap)
        place, refs = (
            {f"{side}{end}": f"{side}{name}" for side in "xy"} for end in ("axis", "ref")
        )
        for part in _parts(drawing):
            data += [{**trace, **place} for trace in part.traces]
            layout["shapes"] += [{**refs, **shape} for shape in part.shapes]
            layout["annotations"] += [{**refs, **note} for note in part.notes]
        x, y = _x_axis(drawing), _y_axis(drawing)
        layout[f"xaxis{name}"] = x | {"anchor": f"y{name}", "domain": [left, left + width]}
        has_names = not number or not row.is_labelled_once
        y |= {"anchor": f"x{name}", "showticklabels": has_names}
        layout[f"yaxis{name}"] = y | ({"title": {"text": ""}} if number else {})
        layout["annotations"].append(_title(drawing.chart.title, left + width / 2, colors))
    above = 1 + TITLES / (row.height - TOP - below)
    return {"data": [*data, *_bar(row.charts[0], colors, above, data[0])], "layout": layout}


def _bar(chart: Chart, colors: Palette, y: float, cells: Entries) -> list[Entries]:
    """The colour bar of all, of `cells` or of a trace of its own."""
    assert chart.cells is not None  # what stands side by side are maps
    scale = chart.cells.scale
    if scale.kind != "weight":
        cells |= {"showscale": True, "colorbar": color_bar(scale, colors) | {"y": y}}
    return bar_traces(scale, colors, y=y)


def _title(text: str, middle: float, colors: Palette) -> Entries:
    return {
        "text": escape(text),
        "x": middle,
        "xref": "paper",
        "xanchor": "center",
        "y": 1,
        "yref": "paper",
        "yanchor": "bottom",
        "showarrow": False,
        "font": {"size": 15, "color": colors.text},
    }
