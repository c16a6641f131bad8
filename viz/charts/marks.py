"""What each mark adds to a figure: traces, shapes and notes in the words of Plotly's JSON."""

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from viz.charts.chart import SIGN, Bars, Cells, Frame, Line, Mark, Rule, Scale
from viz.charts.colors import BAR_PIXELS, Entries, bar_traces, color_bar, colored, ink, key, stops
from viz.charts.drawing import BAR_TOP, Drawing, Part, bold, further, hover, line_of
from viz.charts.room import rows_room
from viz.digits import HOVER, digits
from viz.labels import escape
from viz.theme import Palette, weight_shares

WIDE_NAMES = 130  # pixels beside rows; with more a narrow page is too narrow for bar and name
BAR_ABOVE = 34  # pixels from the cells to the middle of a bar that has words below it


def drawn(drawing: Drawing, mark: Mark, series: Iterator[int]) -> Part:
    """A mark; one without a colour of its own takes the next of the `series`."""
    return _DRAWN[type(mark)](drawing, mark, series)


def _trace(kind: str, **entries: object) -> Entries:
    return {"type": kind, **{name: value for name, value in entries.items() if value is not None}}


def _column(values: Any) -> Any:  # noqa: ANN401
    """Numbers as an array, which is sent as bytes; texts as they are."""
    return values if len(values) and isinstance(values[0], str) else np.asarray(values, float)


def _line(drawing: Drawing, line: Line, series: Iterator[int]) -> Part:
    chart, pen = drawing.chart, line.pen
    color = drawing.color(next(series) if pen.ink is None else pen.ink)
    x = list(line.x) if drawing.x is None else drawing.x.at(line.x)
    y = list(line.y) if drawing.y is None else drawing.y.at(line.y)
    customdata, more = further(line.names, line.more)
    n_first = int(len(line.names) > 0)
    said = line_of(chart.x, "x", drawing.x), line_of(chart.y, "y", drawing.y)
    modes = {"lines": pen.dash, "markers": pen.symbol, "text": line.written}
    stroke = {"color": color, "dash": pen.dash, "width": pen.width, "shape": pen.shape}
    stroke = {name: value for name, value in stroke.items() if value not in ("solid", "linear")}
    looks: Entries = {"line": stroke} if pen.dash else {}
    looks |= {"marker": _marker(drawing, line, color)} if pen.symbol else {}
    if line.written:
        texts = list(map(escape, line.texts or line.names))
        font = {"color": color} if pen.symbol else {"color": color, "size": pen.size}
        looks |= {"text": texts, "textposition": line.written, "textfont": font}
    if line.between and not line.is_band:
        looks["error_y"] = _ends(line)
    trace = _trace(
        "scatter",
        x=_column(x),
        y=_column(y),
        name=escape(line.name) or None,
        mode="+".join(name for name, has in modes.items() if has),
        opacity=pen.opacity if pen.dash and pen.opacity < 1 else None,
        customdata=customdata,
        showlegend=bool(line.name) and line.in_legend,
        **_under_the_hand(line.quiet, bold(line.name), *more[:n_first], *said, *more[n_first:]),
        **looks,
    )
    return Part([*(_band(line, x, color) if line.is_band else ()), trace])


def _marker(drawing: Drawing, line: Line, color: str) -> Entries:
    """Points of one colour, or each in that of its value on a scale."""
    pen = line.pen
    marker: Entries = {"color": color, "size": pen.size, "symbol": pen.symbol}
    if line.shades is not None:
        values, scale = line.shades
        bar, edge = color_bar(scale, drawing.colors), {"color": drawing.colors.muted, "width": 1}
        ends = {
            "cmin": scale.low,
            "cmax": scale.high,
            "colorscale": stops(scale.kind, drawing.colors),
        }
        return marker | ends | {"color": values, "colorbar": bar, "line": edge}
    if pen.symbol and "open" in pen.symbol and not pen.dash:  # the width is the line's where one is
        marker["line"] = {"width": pen.width}
    # Points alone are pale one by one, so that many show as many; those on lines are as the line.
    return marker | {"opacity": 1 if pen.dash else pen.opacity}


def _under_the_hand(is_quiet: bool, *lines: str) -> Entries:
    return {"hoverinfo": "skip"} if is_quiet else {"hovertemplate": hover(*lines)}


def _ends(line: Line) -> Entries:
    assert line.between is not None
    low, high = (np.asarray(side, float) for side in line.between)
    middle = np.asarray(line.y, float)
    ends = {"array": np.maximum(high - middle, 0), "arrayminus": np.maximum(middle - low, 0)}
    return {"symmetric": False, "thickness": 1.5, **ends}


def _band(line: Line, x: list[Any], color: str) -> list[Entries]:
    """Both ends of a band, and what is between them."""
    assert line.between is not None
    red, green, blue = (int(color[at : at + 2], 16) for at in (1, 3, 5))
    edge: Entries = {"x": _column(x), "mode": "lines", "hoverinfo": "skip", "showlegend": False,
            "line": {"color": color, "width": 0}}  # fmt: skip
    low, high = line.between
    between = {"fill": "tonexty", "fillcolor": f"rgba({red},{green},{blue},0.2)"}
    return [
        _trace("scatter", y=_column(low), **edge),
        _trace("scatter", y=_column(high), **edge, **between),
    ]


def _bars(drawing: Drawing, bars: Bars, series: Iterator[int]) -> Part:
    """Where bars do not begin at 0, Plotly knows no more than where they end: that is "in all"."""
    chart, values = drawing.chart, np.asarray(bars.values, float)
    is_sideways = chart.is_sideways
    labels = drawing.y if is_sideways else drawing.x
    names, numbers = chart.sides
    where, what = ("y", "x") if is_sideways else ("x", "y")
    at = bars.places
    clipped_names = [labels.full[int(i)] for i in at] if labels and labels.is_clipped else ()
    own = {} if bars.starts is None else {numbers.title: values}
    customdata, more = further(clipped_names, own | dict(bars.more))
    first = [more.pop(0)] if len(clipped_names) else [line_of(names, where, labels)]
    value = line_of(replace(numbers, title="in all") if own else numbers, what, None)
    texts = [digits(float(x), 3) for x in values] if bars.is_written else bars.texts
    written = {"text": list(map(escape, texts)), "textposition": "outside", "cliponaxis": False}
    trace = _trace(
        "bar",
        **{what: values, where: list(at) if labels is None else labels.at(at)},
        orientation="h" if is_sideways else "v",
        name=escape(bars.name) or None,
        base=None if bars.starts is None else list(bars.starts),
        width=bars.width,
        marker={"color": _inks(drawing, bars, values, series)},
        customdata=customdata,
        hovertemplate=hover(bold(bars.name), *first, *([] if own else [value]), *more,
                             *([value] if own else [])),
        showlegend=bool(bars.name),
        **(written if len(texts) else {}),
    )  # fmt: skip
    return Part([trace])


def _inks(
    drawing: Drawing, bars: Bars, values: np.ndarray, series: Iterator[int]
) -> str | list[str]:
    """The colour of all bars, or of each."""
    if bars.ink is None:
        return drawing.color(next(series))
    if isinstance(bars.ink, int | str) and bars.ink != SIGN:
        return drawing.color(bars.ink)
    inks = [bars.ink] * len(values) if isinstance(bars.ink, int | str) else bars.ink
    return [
        drawing.by_sign(value) if ink == SIGN else drawing.color(ink)
        for ink, value in zip(inks, values, strict=True)
    ]


def _cells(drawing: Drawing, cells: Cells, series: Iterator[int]) -> Part:
    chart, colors = drawing.chart, drawing.colors
    own, scale = cells.shades or (cells.values, cells.scale)
    shown = np.asarray(own, np.float32)
    finite = np.isfinite(shown)
    covered = np.zeros(shown.shape, bool) if cells.hidden is None else cells.hidden.cells
    name, unit = escape(cells.scale.name), cells.scale.unit
    values = {} if cells.shades is None else {cells.scale.name: cells.values}
    customdata, lines = further((), {**values, **cells.more})
    if cells.shades is None:
        written = f"{name} <b>%{{z:{HOVER}}}</b>{f' {escape(unit)}' if unit else ''}"
        lines = [escape(scale.note) or written, *lines]
    at = [line_of(chart.y, "y", drawing.y), line_of(chart.x, "x", drawing.x)]
    place = {"x": drawing.x and drawing.x.all, "y": drawing.y and drawing.y.all}
    bar_place = _bar_place(drawing, scale)
    looks = colored(scale, colors, **bar_place)
    if not drawing.has_bar:
        looks = {name: x for name, x in looks.items() if name != "colorbar"} | {"showscale": False}
    heat = _trace(
        "heatmap",
        z=np.where(finite & ~covered, shown, np.nan),
        **place,
        **looks,
        xgap=cells.gap or None,
        ygap=cells.gap or None,
        hoverongaps=False,
        customdata=customdata and np.array(customdata, object).reshape(*shown.shape, -1),
        hovertemplate=hover(*at, *lines),
    )
    part = Part([heat], [], _crosses(~finite & ~covered, colors))
    if cells.hidden is not None and covered.any():
        note = hover(*at, f"<b>{escape(cells.hidden.note)}</b>")
        part.traces.append(_grey(covered, place, colors, hovertemplate=note))
        line = {"color": colors.hatch, "width": 1}
        stroke = {"type": "path", "path": hatch_path(covered), "layer": "above", "line": line}
        part.shapes.append(stroke)
    if cells.faint is not None and cells.faint.any():
        gaps = {"xgap": cells.gap or None, "ygap": cells.gap or None}
        part.traces.append(_grey(cells.faint, place, colors, hoverinfo="skip", **gaps))
    if cells.texts is not None:
        part.traces.append(_written(drawing, cells, _on_the_scale(shown, scale, colors)))
    if drawing.has_bar:
        part.traces.extend(bar_traces(scale, colors, **bar_place))
    if scale.note:
        part.notes.append(key(cells, colors))
    return part


def _bar_place(drawing: Drawing, scale: Scale) -> Entries:
    """What a colour bar has of its own: its name above where names of rows leave little room, and
    room below for words."""
    at_right = {"x": 1, "xanchor": "right"}
    place: Entries = at_right if drawing.chart.scrolls == "right" else {}
    if scale.kind != "weight" and rows_room(drawing.y and drawing.y.shown) > WIDE_NAMES:
        title = color_bar(scale, drawing.colors)["title"] | {"side": "top"}
        place = {**place, "title": title, "len": BAR_PIXELS}
    if not any(rule.text and rule.place[1] == "above" for rule in drawing.chart.of(Rule)):
        return place
    up = 1 + BAR_ABOVE / (drawing.height - BAR_TOP - drawing.below)
    return {**place, "y": up, "yanchor": "middle"}  # see colors.ABOVE


def _on_the_scale(values: np.ndarray, scale: Scale, colors: Palette) -> np.ndarray:
    """Where values stand between the ends of a scale, all from 0 to 1."""
    shares = (values - scale.low) / (scale.high - scale.low)
    return weight_shares(shares, colors) if scale.kind == "weight" else shares


def _grey(covered: np.ndarray, place: Entries, colors: Palette, **more: object) -> Entries:
    """Grey cells; what is masked has diagonal lines besides, and cannot be taken for zero."""
    return _trace(
        "heatmap",
        z=np.where(covered, 1.0, np.nan).astype(np.float32),
        **place,
        colorscale=[[0, colors.masked], [1, colors.masked]],
        showscale=False,
        hoverongaps=False,
        **more,
    )


def _written(drawing: Drawing, cells: Cells, shares: np.ndarray) -> Entries:
    """A text in each cell, in ink that stands out on its colour; × where a number is broken."""
    rows, columns = np.indices(shares.shape).reshape(2, -1)
    assert cells.texts is not None
    texts = [escape(text) for row in cells.texts for text in row]
    bold = np.zeros(shares.shape, bool) if cells.bold is None else cells.bold
    faint = np.zeros(shares.shape, bool) if cells.faint is None else cells.faint
    inks = [drawing.colors.muted if is_faint else color for color, is_faint
            in zip(ink(shares.ravel(), drawing.colors), faint.ravel(), strict=True)]  # fmt: skip
    marked = [f"<b>{text}</b>" if is_bold else text
              for text, is_bold in zip(texts, bold.ravel(), strict=True)]  # fmt: skip
    return _trace(
        "scatter",
        x=columns if drawing.x is None else drawing.x.at(columns),
        y=rows if drawing.y is None else drawing.y.at(rows),
        text=[text if is_there else "" for text, is_there
              in zip(marked, np.isfinite(shares).ravel(), strict=True)],
        mode="text",
        textfont={"size": 12, "color": inks},
        hoverinfo="skip",
        showlegend=False,
    )  # fmt: skip


def _crosses(broken: np.ndarray, colors: Palette) -> list[Entries]:
    """A × in each cell whose value is not a number."""
    look = {"text": "×", "showarrow": False, "font": {"color": colors.bad, "size": 16}}
    # On a category axis a number is a place, a string may be a label.
    return [{"x": int(column), "y": int(row), **look} for row, column in np.argwhere(broken)]


def hatch_path(hidden: np.ndarray) -> str:
    """One stroke along each run of hidden cells on an anti-diagonal, in cell coordinates."""
    return _strokes(hidden.shape, hidden.tobytes())


@lru_cache(maxsize=16)
def _strokes(shape: tuple[int, int], cells: bytes) -> str:
    """From lower left to upper right, where rows count downward."""
    hidden = np.frombuffer(cells, bool).reshape(shape)
    n_rows, n_columns = shape
    strokes = []
    for total in range(n_rows + n_columns - 1):  # of row and column
        first = max(0, total - n_rows + 1)
        columns = np.arange(first, min(total, n_columns - 1) + 1)
        there = hidden[total - columns, columns].astype(int)
        ends = first + np.flatnonzero(np.diff(there, prepend=0, append=0)) - 0.5
        strokes += [f"M{x0},{total - x0}L{x1},{total - x1}" for x0, x1 in ends.reshape(-1, 2)]
    return "".join(strokes)


def _rule(drawing: Drawing, rule: Rule, series: Iterator[int]) -> Part:
    """Plotly places lines by value but words, on a logarithmic axis, by their logarithm."""
    along, other = rule.axis, {"x": "y", "y": "x"}[rule.axis]
    is_log = getattr(drawing.chart, along).is_log
    color = drawing.color(rule.ink)
    shape = {
        "type": "line",
        f"{along}0": rule.at,
        f"{along}1": rule.at,
        f"{along}ref": along,
        f"{other}0": 0,
        f"{other}1": 1,
        f"{other}ref": f"{other} domain",
        "line": {"color": color, "width": 2, "dash": "dot"},
    }
    if not rule.text:
        return Part(shapes=[shape])
    side, height = rule.place
    words = {
        along: float(np.log10(rule.at)) if is_log else rule.at,
        f"{along}ref": along,
        f"{other}ref": f"{other} domain",
        "text": escape(rule.text),
        "showarrow": False,
        "font": {"color": color},
        "bgcolor": drawing.colors.background,
    }
    if along == "x":  # beside the line, at the top or the bottom of the figure, or above it
        words |= {"y": 0 if height == "bottom" else 1}
        words |= {"yanchor": "bottom" if height == "above" else height}
        words |= {"xanchor": {"right": "left", "left": "right"}[side]}
    else:  # above or below the line, at one side of the figure
        words |= {"x": 1 if side == "right" else 0, "xanchor": side}
        words |= {"yanchor": {"top": "bottom", "bottom": "top"}[height]}
    return Part(shapes=[shape], notes=[words])


def _frame(drawing: Drawing, frame: Frame, series: Iterator[int]) -> Part:
    (top, bottom), (left, right), edge = frame.rows, frame.columns, 0.5 - frame.inset
    corners = {"y0": top - edge, "y1": bottom + edge, "x0": left - edge, "x1": right + edge}
    line = {"color": drawing.color(frame.ink), "width": frame.width, "dash": frame.dash}
    word = {"x": left, "y": top, "showarrow": False, "borderpad": 2, "text": escape(frame.text),
            "bgcolor": drawing.colors.background}  # fmt: skip
    return Part(shapes=[{"type": "rect", **corners, "line": line}],
                notes=[word] if frame.text else [])  # fmt: skip


_DRAWN: dict[type, Any] = {Line: _line, Bars: _bars, Cells: _cells, Rule: _rule, Frame: _frame}
