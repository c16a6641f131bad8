"""Protects the heat map: what is drawn is what came in; masked, zero and broken cells differ."""

import json
import re
from collections.abc import Iterator

import numpy as np
import plotly.graph_objects as go
import pytest
from hypothesis import given
from hypothesis.extra import numpy as arrays

from tests.viz.builders import causal, random_patterns
from viz.figures.attribution import head_axes, part_map
from viz.figures.depth import gradient_lines
from viz.figures.heatmap import Axis, Hidden, _hatch_path, heat_map, signed, weights
from viz.figures.labels import thinned
from viz.figures.lens import rank_curve
from viz.figures.masks import pattern_map
from viz.theme import DARK, LIGHT, Palette

Cell = tuple[int, int]

TOKENS = ("The", " cat", " saw", " the", " cat")


def marked_cells(figure: go.Figure) -> set[Cell]:
    """Row and column of each ×, an annotation or a point, where Plotly draws it."""
    rows, columns = list(figure.data[0].y), list(figure.data[0].x)

    def index(place: object, labels: list[str]) -> int:
        # An annotation's place that reads as a number is an index, even when it is a label too.
        try:
            return int(float(place))
        except ValueError:
            return labels.index(place)

    notes = [note for note in figure.layout.annotations if note.text == "×"]
    cells = {(index(note.y, rows), index(note.x, columns)) for note in notes}
    for trace in figure.data[1:]:
        if trace.type == "scatter" and trace.x != (None,):  # that has the colour bar
            places = zip(trace.y, trace.x, strict=True)
            cells |= {(rows.index(y), columns.index(x)) for y, x in places}
    return cells


def strokes(path: str) -> Iterator[list[Cell]]:
    """The cells each line of a hatch path crosses from corner to corner."""
    for points in re.findall(r"M([\d.-]+),([\d.-]+)L([\d.-]+),([\d.-]+)", path):
        x0, y0, x1, y1 = map(float, points)
        assert x1 - x0 == y0 - y1 > 0
        yield [(int(y0 - 0.5) - i, int(x0 + 0.5) + i) for i in range(int(x1 - x0))]


@pytest.mark.parametrize("colors", [LIGHT, DARK], ids=["light", "dark"])
def test_heat_map_shows_the_pattern(colors: Palette) -> None:
    pattern, mask = random_patterns(n_tokens=5), causal(5)
    figure = pattern_map(pattern, mask, TOKENS, colors, "weights of L1 H2")
    weights_trace, masked_trace, bar = figure.data
    assert (weights_trace.z[mask] == pattern[mask]).all()
    assert np.isnan(weights_trace.z[~mask]).all()
    assert (np.isfinite(masked_trace.z) == ~mask).all()
    assert "masked" in masked_trace.hovertemplate
    assert {color for _, color in masked_trace.colorscale} == {colors.masked}
    assert (weights_trace.zmin, weights_trace.zmax) == (0, 1)
    assert weights_trace.showscale is False
    assert [color for _, color in bar.marker.colorscale] == list(colors.sequential)
    assert bar.marker.colorbar.tickvals == pytest.approx(np.sqrt([0, 0.01, 0.1, 0.5, 1]))
    assert bar.marker.colorbar.ticktext == ("0", "0.01", "0.1", "0.5", "1")
    assert "weight (square root)" in bar.marker.colorbar.title.text
    assert len(set(weights_trace.x)) == len(set(weights_trace.y)) == 5
    assert masked_trace.x == weights_trace.x
    assert figure.layout.yaxis.autorange == "reversed", "the first query is on top"
    assert "L1 H2" in figure.layout.title.text


def test_rows_are_queries_and_columns_keys() -> None:
    pattern = np.array([[0.25, 0.5, 0.25], [0.125, 0.0, 0.875]])
    axes = Axis("query", ["a", "b"]), Axis("key", ["x", "y", "z"])
    figure = heat_map(pattern, axes, weights(), LIGHT, title="", hidden=Hidden(pattern < 0))
    assert (list(figure.data[0].y), list(figure.data[0].x)) == (["a", "b"], ["x", "y", "z"])
    assert (figure.layout.yaxis.title.text, figure.layout.xaxis.title.text) == ("query", "key")
    assert (figure.data[0].z == pattern).all()
    assert [trace.type for trace in figure.data] == ["heatmap", "scatter"], "nothing is masked"


def test_ticks_of_a_long_sentence_are_some_of_its_labels() -> None:
    figure = pattern_map(random_patterns(n_tokens=100), causal(100), [" the"] * 100, LIGHT, "")
    ticks = figure.layout.xaxis.tickvals
    assert set(ticks) <= set(figure.data[0].x)
    assert 20 <= len(ticks) <= 36


@pytest.mark.parametrize(
    ("n", "pixels", "each", "first", "step"),
    [
        (6, 78, 13, 0, 1),
        (6, 77, 13, 0, 2),
        (30, 242, 13, 0, 2),
        (31, 380, 27, 1, 5),
        (1000, 20, 1, 0, 50),
        (1, 0, 13, 0, 1),
        (3, 1, 100, 0, 5),
        (0, 5, 13, 0, 1),
    ],
)
def test_every_so_many_labels_are_shown_as_have_room(
    n: int, pixels: float, each: float, first: int, step: int
) -> None:
    assert thinned(n, pixels, each, first) == range(first, n, step)


def test_of_thirty_layers_all_are_labelled_and_as_many_heads_as_fit() -> None:
    axes = head_axes([f"L{layer}" for layer in range(30)], 32)
    layout = part_map(axes, np.ones((30, 32)), LIGHT, ("share", "")).layout
    room = layout.height - layout.margin.t - layout.margin.b
    assert room / 30 >= 12 and len(layout.yaxis.tickvals) == 30
    assert layout.xaxis.tickvals[:3] == ("H0", "H5", "H10")
    assert list(layout.yaxis.ticktext) == list(layout.yaxis.tickvals)
    shown = rank_curve(np.arange(31), 0, 50, LIGHT, "").layout.xaxis.ticktext
    assert shown == ("L0", "L5", "L10", "L15", "L20", "L25")
    for first, kind in ((3.7, "log"), (0.99, None)):  # more than a hundred times the last, or less
        lengths = {"own": np.array([first, 0.01])}
        figure = gradient_lines([0, 1], lengths, LIGHT, title="", x="")
        assert figure.layout.yaxis.type == kind


@pytest.mark.parametrize("labels", [list("abcd"), ["3", "0", "1", "2"]], ids=["words", "numbers"])
def test_nan_and_infinity_are_marked_where_they_are(labels: list[str]) -> None:
    values = np.full((4, 4), 0.5)
    values[0, 1], values[2, 0], values[3, 3], values[1, 3] = np.nan, np.inf, -np.inf, np.nan
    hidden = np.zeros((4, 4), bool)
    hidden[1, 3] = True
    axis = Axis("query", labels)
    figure = heat_map(values, (axis, axis), weights(), LIGHT, title="", hidden=Hidden(hidden))
    assert np.isnan(figure.data[0].z[[0, 2, 3, 1], [1, 0, 3, 3]]).all()
    assert np.isfinite(figure.data[0].z).sum() == 12
    assert marked_cells(figure) == {(0, 1), (2, 0), (3, 3)}


def test_every_nan_is_marked() -> None:
    axis = Axis("query", [f"t{i}" for i in range(15)])
    figure = heat_map(np.full((15, 15), np.nan), (axis, axis), weights(), LIGHT, title="")
    assert len(marked_cells(figure)) == 225


@given(arrays.arrays(bool, arrays.array_shapes(min_dims=2, max_dims=2, max_side=9)))
def test_hatch_covers_the_hidden_cells_once(hidden: np.ndarray) -> None:
    covered = [cell for stroke in strokes(_hatch_path(hidden)) for cell in stroke]
    assert sorted(covered) == [tuple(cell) for cell in np.argwhere(hidden).tolist()]


def test_signed_scale_is_symmetric_and_ignores_what_is_not_finite() -> None:
    scale = signed("score", np.array([-0.5, 3.25, np.nan, -np.inf]))
    assert (scale.low, scale.high) == (-3.25, 3.25)
    assert signed("score", np.zeros(3)).high > 0


def test_a_figure_with_nan_is_still_json() -> None:
    values = np.array([[np.nan, np.inf], [0.5, -np.inf]])
    axis = Axis("query", ["a", "b"])
    figure = heat_map(values, (axis, axis), signed("score", values), LIGHT, title="")

    def refuse(constant: str) -> None:
        pytest.fail(f"{constant} is no JSON")

    json.loads(figure.to_json(), parse_constant=refuse)
