"""The numbers of a chart as the columns of one table, and where a person clicked."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from viz.charts.chart import Axis, Bars, Cells, Chart, Line, Numbers, Row, head
from viz.labels import unique

Columns = dict[str, Any]  # columns of one length
SERIES, NAME = "series", "name"


def columns(chart: Chart | Row) -> Columns:
    """Every number of a chart by the name of its column, with its unit.

    A map keeps its form, a row for each of its rows, unless its cells have more than one value;
    bars of the same names have a column for each name; all else has a row for each point.
    """
    if isinstance(chart, Row):
        return _below_each_other([(part.title, columns(part)) for part in chart.charts])
    cells, bars, lines = chart.cells, chart.of(Bars), chart.of(Line)
    if cells is not None:
        return _map(chart, cells) if not cells.more else _cells(chart, cells)
    if bars and not lines and all(bar.at is None and bar.starts is None for bar in bars):
        return _bars(chart, bars)
    return _points(chart)


def names_of(axis: Axis, n: int) -> list[Any]:
    """What the places of an axis are called in a table: tokens by their number too."""
    if axis.names is None:
        return list(range(n))
    names = list(axis.names)
    return [f"{i} {name}" for i, name in enumerate(names, axis.first)] if axis.numbered else names


def picked(chart: Chart, place: Mapping[str, Any]) -> tuple[int, int]:
    """Row and column of what was clicked; of points, 0 and the number of the nearest.

    `place` has x and y as Plotly says them: a label where the axis has names.
    """
    if chart.cells is None and chart.of(Line):
        (line, *_) = chart.of(Line)
        x, y = np.asarray(line.x, float), np.asarray(line.y, float)
        apart = np.abs(x - float(place["x"])) + np.abs(y - float(place["y"]))
        return 0, int(np.nanargmin(apart))
    row, column = _at(chart.y, place["y"]), _at(chart.x, place["x"])
    return (row, column) if chart.cells is not None or chart.is_sideways else (0, column)


def _at(axis: Axis, place: object) -> int:
    return int(float(str(place))) if axis.names is None else unique(axis.names).index(str(place))


def _map(chart: Chart, cells: Cells) -> Columns:
    rows, across = cells.values.shape
    corner = f"{chart.y.title or NAME} \\ {chart.x.title}"
    values = _there(cells)
    # Names that are no tokens may be equal too: models, or words.
    heads = names_of(chart.x, across)
    if len(set(heads)) < len(heads):
        heads = names_of(replace(chart.x, numbered=True), across)
    return {corner: names_of(chart.y, rows)} | dict(zip(heads, values.T, strict=True))


def _cells(chart: Chart, cells: Cells) -> Columns:
    rows, across = np.indices(cells.values.shape).reshape(2, -1)
    names = names_of(chart.y, len(cells.values)), names_of(chart.x, cells.values.shape[1])
    return {
        chart.y.title or NAME: [names[0][i] for i in rows],
        chart.x.title: [names[1][i] for i in across],
        cells.scale.head: _there(cells).ravel(),
        **{name: np.asarray(values).ravel() for name, values in cells.more.items()},
    }


def _there(cells: Cells) -> np.ndarray:
    """Values, and nothing where a cell is hatched: masked is not zero."""
    if cells.hidden is None:
        return np.asarray(cells.values)
    return np.where(cells.hidden.cells, np.nan, cells.values)


def _bars(chart: Chart, bars: list[Bars]) -> Columns:
    names, numbers = chart.sides
    columns: Columns = {names.title or NAME: names_of(names, len(bars[0].values))}
    for bar in bars:
        own = head(bar.name, numbers.unit) if bar.name else numbers.head
        columns[own] = bar.values
        heads = [head(name, bar.name) if bar.name and len(bars) > 1 else name for name in bar.more]
        columns |= dict(zip(heads, bar.more.values(), strict=True))
    return columns


def _points(chart: Chart) -> Columns:
    """A row for each point of every line and each bar; the name of its series first."""
    tables: list[tuple[str, Columns]] = []
    x, y = chart.x.head or NAME, chart.y.head
    for line in (line for line in chart.of(Line) if not line.quiet):
        own: Columns = {NAME: line.names} if len(line.names) else {}
        own |= {x: _named(chart.x, line.x), y: _named(chart.y, line.y)}
        own |= dict(zip(("low", "high"), line.between or (), strict=False))
        tables.append((line.name, own | dict(line.more)))
    for bars in chart.of(Bars):
        own = {x: _named(chart.x, bars.places)}
        own |= {} if bars.starts is None else {"start": bars.starts}
        tables.append((bars.name, own | {y: bars.values} | dict(bars.more)))
    return tables[0][1] if len(tables) == 1 else _below_each_other(tables)


def _named(axis: Axis, places: Numbers) -> Sequence[Any]:
    if axis.names is None:
        return list(places)
    names = names_of(axis, len(axis.names))
    return [names[int(place)] for place in places]


def _below_each_other(tables: Sequence[tuple[str, Columns]]) -> Columns:
    """Tables below each other, the name of each in front; what one lacks is empty there."""
    heads = dict.fromkeys(name for _, table in tables for name in table)
    columns: dict[str, list[Any]] = {SERIES: [], **{name: [] for name in heads}}
    for name, table in tables:
        n = len(next(iter(table.values())))
        columns[SERIES] += [name] * n
        for column in heads:
            columns[column] += list(table.get(column, [None] * n))
    return columns
