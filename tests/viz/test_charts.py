"""Protects what all charts share: plain texts, places, colours, ticks, tables, words."""

import html
import json
import re
from collections.abc import Iterator

import numpy as np
import plotly.graph_objects as go
import pytest
from hypothesis import given
from hypothesis.extra import numpy as arrays

from tests.viz.figures.cases import CASES
from tests.viz.figures.renew import NAMED
from viz.charts.chart import Axis, Bars, Cells, Chart, Hidden, Line, Row, Rule, signed, tokens
from viz.charts.figure import figure, too_large
from viz.charts.marks import hatch_path
from viz.charts.room import label_width, rows_room
from viz.charts.sent import sent
from viz.charts.table import columns, picked
from viz.charts.words import words
from viz.figures.schemes import Part, vector_maps
from viz.figures.token_maps import pattern_map
from viz.frame.tables import chart_csv
from viz.theme import DARK, LIGHT, Palette

HOSTILE = ("<i>x</i>", "%{q}", "$y$", "&lt;", "x")
WORDS = Axis("word", names=HOSTILE, numbered=True)
CHARTS = {
    name: chart
    for name, place in NAMED.items()
    if isinstance(chart := CASES[place](), (Chart, Row))
}
Cell = tuple[int, int]


def strokes(path: str) -> Iterator[list[Cell]]:
    """The cells each line of a hatch path crosses from corner to corner."""
    for points in re.findall(r"M([\d.-]+),([\d.-]+)L([\d.-]+),([\d.-]+)", path):
        x0, y0, x1, y1 = map(float, points)
        assert x1 - x0 == y0 - y1 > 0
        yield [(int(y0 - 0.5) - i, int(x0 + 0.5) + i) for i in range(int(x1 - x0))]


@given(arrays.arrays(bool, arrays.array_shapes(min_dims=2, max_dims=2, max_side=9)))
def test_hatch_covers_the_hidden_cells_once(hidden: np.ndarray) -> None:
    covered = [cell for stroke in strokes(hatch_path(hidden)) for cell in stroke]
    assert sorted(covered) == [tuple(cell) for cell in np.argwhere(hidden).tolist()]


def test_signed_colours_are_symmetric_and_ignore_what_is_not_finite() -> None:
    scale = signed("score", np.array([-0.5, 3.25, np.nan, -np.inf]))
    assert (scale.low, scale.high) == (-3.25, 3.25)
    assert signed("score", np.zeros(3)).high > 0


@pytest.mark.parametrize("text", [list("abcd"), ["3", "0", "1", "2"]], ids=["words", "numbers"])
def test_masked_is_not_zero_and_what_is_no_number_is_marked(text: list[str]) -> None:
    values = np.full((4, 4), 0.5)
    values[0, 1], values[2, 0], values[3, 3], values[1, 3] = np.nan, np.inf, -np.inf, np.nan
    hidden = np.zeros((4, 4), bool)
    hidden[1, 3] = hidden[1, 2] = True
    cells = Cells(values, signed("score", values), Hidden(hidden))
    chart = Chart("", Axis("key", names=text), Axis("query", names=text), [cells])
    plain = figure(chart, LIGHT)
    shown, grey = (drawn := go.Figure(plain)).data
    assert np.isfinite(shown.z).sum() == 11
    assert (np.isfinite(grey.z) == hidden).all()
    assert {(note.y, note.x) for note in drawn.layout.annotations} == {(0, 1), (2, 0), (3, 3)}
    assert np.isnan(columns(chart)[text[2]][1]), "empty in the file"
    json.loads(sent(plain), parse_constant=lambda x: pytest.fail(f"{x} is no JSON"))


@pytest.mark.parametrize("colors", [LIGHT, DARK], ids=["light", "dark"])
def test_texts_of_a_person_are_no_markup(colors: Palette) -> None:
    every = range(5)
    for marks, x, y in (
        ([Bars(np.ones(5), HOSTILE[0])], WORDS, Axis(HOSTILE[1])),
        ([Bars(np.ones(5), is_written=True)], Axis(HOSTILE[0], HOSTILE[1]), WORDS),
        ([Cells(np.ones((5, 5)), signed(HOSTILE[1], np.ones(1)))], WORDS, tokens("t", HOSTILE)),
        ([Line(every, np.ones(5), HOSTILE[0], names=HOSTILE, written="top")], WORDS, Axis("y")),
        ([Line(every, np.ones(5), more={HOSTILE[0]: HOSTILE})], Axis(""), Axis("", HOSTILE[2])),
        ([Rule("x", 1, HOSTILE[0])], WORDS, Axis("y")),
    ):
        drawn = figure(Chart(HOSTILE[0], x, y, marks), colors)
        said = sent(drawn | {"layout": drawn["layout"] | {"template": None}})
        assert not any(text in said for text in ("<i>", "%{q", "$y"))


def test_ticks_of_many_names_are_some_of_them() -> None:
    large = [
        Chart("", Axis("head", names=[f"H{i}" for i in range(64)]),
              Axis("layer", names=[f"L{i}" for i in range(48)]),
              [Cells(np.ones((48, 64)), signed("cost", np.ones(1)))]),
        pattern_map(np.eye(100), np.tri(100, dtype=bool), ["the"] * 100, "L0 H0"),
        Chart("", Axis("probability"), Axis("", names=[f"word {i}" for i in range(60)]),
              [Bars(np.ones(60)), Bars(np.ones(60))]),
        Chart("Loss", tokens("token", ["word"] * 80), Axis("loss", "nats"), [Bars(np.ones(80))]),
    ]  # fmt: skip
    for chart in large:
        layout = go.Figure(figure(chart, LIGHT)).layout
        for axis in (x for x in (layout.xaxis, layout.yaxis) if x.categoryarray is not None):
            assert len(set(axis.categoryarray)) == len(axis.categoryarray), "equal ones stay apart"
            assert set(axis.tickvals) <= set(axis.categoryarray)
            wide = max(7 * len(html.unescape(text)) for text in axis.ticktext)
            is_beside = axis is layout.xaxis and not axis.tickangle
            room = 480 if axis is layout.xaxis else layout.height
            assert len(axis.tickvals) * (wide if is_beside else 10) <= room


def test_of_thirty_layers_all_are_labelled() -> None:
    rows, heads = ([f"{x}{i}" for i in range(n)] for x, n in (("L", 30), ("H", 32)))
    cells = Cells(np.ones((30, 32)), signed("share", np.ones(1)))
    layout = figure(Chart("", Axis("head", names=heads), Axis("layer", names=rows), [cells]), LIGHT)
    assert layout["layout"]["yaxis"]["ticktext"] == rows


@pytest.mark.parametrize("name", CHARTS)
def test_a_chart_differs_in_both_themes_by_colours_alone(name: str) -> None:
    texts = [sent(figure(CHARTS[name], colors)) for colors in (LIGHT, DARK)]
    plain = [re.sub(r"#[0-9a-f]{6}|rgba?\([\d,.]+\)", "", text) for text in texts]
    assert plain[0] == plain[1]
    assert texts[0] != texts[1]
    layout = json.loads(texts[0])["layout"]
    axes = [axis for name, axis in layout.items() if name[1:].startswith("axis")]
    assert not any(axis["automargin"] for axis in axes), "which draws a figure two or three times"


@pytest.mark.parametrize("name", CHARTS)
def test_a_click_finds_its_row_and_column(name: str) -> None:
    chart = CHARTS[name]
    if isinstance(chart, Row):
        return
    drawn = go.Figure(figure(chart, LIGHT))
    (first, *_) = (x for x in drawn.data if x.type != "scatter" or chart.of(Line))
    if chart.cells is not None:
        rows, across = chart.cells.values.shape
        y = first.y if first.y is not None else range(rows)
        x = first.x if first.x is not None else range(across)
        assert picked(chart, {"x": x[across - 1], "y": y[rows - 1]}) == (rows - 1, across - 1)
    elif chart.is_sideways:
        assert picked(chart, {"x": first.x[-1], "y": first.y[-1]})[0] == len(first.y) - 1


@pytest.mark.parametrize("name", CHARTS)
def test_a_chart_is_saved_and_said(name: str) -> None:
    """A file in which each row has a value under each name, and words that no sign is left in."""
    assert len({len(values) for values in columns(CHARTS[name]).values()}) == 1
    assert chart_csv(CHARTS[name]).count(b"\n") > 1
    assert not re.search(r"\b(nan|inf|None)\b|%\{", words(CHARTS[name]))


def test_every_number_of_a_chart_is_in_its_table_and_its_ends_are_said() -> None:
    y = np.array([3.5, 9.25, -1.5])
    marks = [Line([1, 2, 4], y, "a"), Line([2], [7.125], "b"), Rule("y", 5, "bound"),
             Line([1], [3.5], quiet=True)]  # fmt: skip
    chart = Chart("Title", Axis("x"), Axis("loss", "nats"), marks)
    table = columns(chart)
    assert list(table) == ["series", "x", "loss (nats)"]
    assert table["loss (nats)"] == [3.5, 9.25, -1.5, 7.125]
    assert words(chart) == (
        "Title. Loss (nats) by x. a: from 3.500 at 1 to −1.500 at 4, highest 9.250 at 2. b: 7.125 "
        "at 2. bound: 5."
    )
    assert columns(Row([chart, chart]))["x"] == 2 * table["x"]


def test_of_a_map_that_is_too_large_a_line_is_said() -> None:
    values = np.broadcast_to(0.5, (2000, 1001))
    large = Chart("", Axis("x"), Axis("y"), [Cells(values, signed("value", np.ones(1)))])
    assert too_large(large).startswith("This map is not drawn: its 2,000 × 1,001 cells")
    assert too_large(Row([large])) == too_large(large)
    assert too_large(pattern_map(np.eye(3), np.ones((3, 3), bool), "abc", "")) == ""


@pytest.mark.parametrize(
    ("label", "pixels"), [("", 0), ("abcd", 28), ("漢字", 26), ("e\u0301", 7), ("a&lt;b", 21)]
)
def test_labels_take_the_room_of_their_letters(label: str, pixels: int) -> None:
    assert label_width(label) == pytest.approx(pixels, abs=1.5)
    assert rows_room([label + "xx"]) > rows_room(["x"])


@pytest.mark.parametrize("colors", [LIGHT, DARK], ids=["light", "dark"])
def test_a_whole_turn_has_the_colour_of_none_and_a_half_has_not(colors: Palette) -> None:
    cyclic = colors.cyclic
    assert cyclic[0] == cyclic[-1] == colors.diverging[3]
    assert len(set(cyclic)) == len(cyclic) - 1 == 4, "no two quarters of a turn look alike"


@pytest.mark.parametrize("n_tokens", [1, 4, 40])
def test_the_colour_bar_of_a_row_keeps_clear_of_the_titles(n_tokens: int) -> None:
    text = [f" t{i}" for i in range(n_tokens)]
    row = vector_maps([Part(name, text, np.ones((n_tokens, 5))) for name in "abc"])
    drawn = go.Figure(figure(row, LIGHT))
    (bar,) = (x.colorbar for x in drawn.data if x.showscale)
    pixels = drawn.layout.height - drawn.layout.margin.t - drawn.layout.margin.b
    assert 24 <= (bar.y - 1) * pixels <= drawn.layout.margin.t - 40


def test_of_few_whole_numbers_each_has_its_tick_and_of_many_some() -> None:
    """A tick at each of a thousand numbers would keep a browser busy for a minute."""
    axes = [
        figure(Chart("", Axis("n", kind="whole"), Axis("y"), [mark]), LIGHT)["layout"]["xaxis"]
        for n in (5, 1024)
        for mark in (Bars(np.ones(n), at=range(n)), Line(range(n), np.ones(n)))
    ]
    assert [axis.get("dtick") for axis in axes] == [1, 1, None, None]
    few_of_many = Line((20, 26), (1, 2))  # an axis from zero has 27
    steps = Chart("", Axis("step", kind="whole", from_zero=True), Axis("y"), [few_of_many])
    assert "dtick" not in figure(steps, LIGHT)["layout"]["xaxis"]
