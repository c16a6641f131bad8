"""Protects figures: what is drawn is what came in, and masked, zero and broken cells differ."""

import html
import json
import re
from collections.abc import Iterator

import numpy as np
import plotly.graph_objects as go
import pytest
from hypothesis import given
from hypothesis.extra import numpy as arrays

from tests.viz.builders import causal, random_patterns
from tests.viz.test_theme import contrast
from viz.figures.attention import strongest_pair
from viz.figures.beam import Node, beam_tree
from viz.figures.cache import bytes_text, filling_map, pace_lines
from viz.figures.heatmap import Axis, _hatch_path, heat_map, signed, weights
from viz.figures.ink import ink
from viz.figures.labels import token_labels
from viz.figures.lens import (
    Grid,
    entropy_scale,
    lens_map,
    likeliest_bars,
    probability_scale,
    rank_curve,
    said_label,
    window_of,
)
from viz.figures.masks import leak_curves, mask_map, pattern_map, score_map
from viz.figures.positions import dimension_curves, similarity_map, sum_maps, wave_map
from viz.theme import DARK, LIGHT, Palette

TOKENS = ("The", " cat", " saw", " the", " cat")
Cell = tuple[int, int]


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
        if trace.type == "scatter":
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
    weights_trace, masked_trace = figure.data
    assert (weights_trace.z[mask] == pattern[mask]).all()
    assert np.isnan(weights_trace.z[~mask]).all()
    assert (np.isfinite(masked_trace.z) == ~mask).all()
    assert "masked" in masked_trace.hovertemplate
    assert {color for _, color in masked_trace.colorscale} == {colors.masked}
    assert (weights_trace.zmin, weights_trace.zmax) == (0, 1)
    assert [color for _, color in weights_trace.colorscale] == list(colors.sequential)
    assert len(set(weights_trace.x)) == len(set(weights_trace.y)) == 5
    assert masked_trace.x == weights_trace.x
    assert figure.layout.yaxis.autorange == "reversed", "the first query is on top"
    assert "L1 H2" in figure.layout.title.text


def test_rows_are_queries_and_columns_keys() -> None:
    pattern = np.array([[0.25, 0.5, 0.25], [0.125, 0.0, 0.875]])
    axes = Axis("query", ["a", "b"]), Axis("key", ["x", "y", "z"])
    figure = heat_map(pattern, *axes, weights(), LIGHT, title="", hidden=pattern < 0)
    assert (list(figure.data[0].y), list(figure.data[0].x)) == (["a", "b"], ["x", "y", "z"])
    assert (figure.layout.yaxis.title.text, figure.layout.xaxis.title.text) == ("query", "key")
    assert (figure.data[0].z == pattern).all()
    assert len(figure.data) == 1, "nothing is masked"


def test_ticks_of_a_long_sentence_are_some_of_its_labels() -> None:
    figure = pattern_map(random_patterns(n_tokens=100), causal(100), [" the"] * 100, LIGHT, "")
    ticks = figure.layout.xaxis.tickvals
    assert set(ticks) <= set(figure.data[0].x)
    assert 20 <= len(ticks) <= 36


@pytest.mark.parametrize("labels", [list("abcd"), ["3", "0", "1", "2"]], ids=["words", "numbers"])
def test_nan_and_infinity_are_marked_where_they_are(labels: list[str]) -> None:
    values = np.full((4, 4), 0.5)
    values[0, 1], values[2, 0], values[3, 3], values[1, 3] = np.nan, np.inf, -np.inf, np.nan
    hidden = np.zeros((4, 4), bool)
    hidden[1, 3] = True
    axis = Axis("query", labels)
    figure = heat_map(values, axis, axis, weights(), LIGHT, title="", hidden=hidden)
    assert np.isnan(figure.data[0].z[[0, 2, 3, 1], [1, 0, 3, 3]]).all()
    assert np.isfinite(figure.data[0].z).sum() == 12
    assert marked_cells(figure) == {(0, 1), (2, 0), (3, 3)}


def test_every_nan_is_marked() -> None:
    axis = Axis("query", [f"t{i}" for i in range(15)])
    figure = heat_map(np.full((15, 15), np.nan), axis, axis, weights(), LIGHT, title="")
    assert len(marked_cells(figure)) == 225


@given(arrays.arrays(bool, arrays.array_shapes(min_dims=2, max_dims=2, max_side=9)))
def test_hatch_covers_the_hidden_cells_once(hidden: np.ndarray) -> None:
    covered = [cell for stroke in strokes(_hatch_path(hidden)) for cell in stroke]
    assert sorted(covered) == [tuple(cell) for cell in np.argwhere(hidden).tolist()]


@pytest.mark.parametrize(
    ("pattern", "pair"),
    [
        ([[1, 0, 0], [0.9, 0.1, 0], [0.5, 0.2, 0.3]], (2, 1)),  # neither the sink nor itself
        ([[1, 0, 0], [1, 0, 0], [1, 0, 0]], (0, 0)),  # nothing but the sink
        ([[1, 0], [0.2, 0.8]], (0, 0)),  # only sink and itself: the largest of all
        ([[1]], (0, 0)),
        ([[0.1, 0.2, 0.7], [0.1, 0.6, 0.3]], (0, 2)),  # more keys than queries
    ],
)
def test_strongest_pair(pattern: list[list[float]], pair: Cell) -> None:
    array = np.array(pattern)
    array.flags.writeable = False
    assert strongest_pair(array) == pair


def test_signed_scale_is_symmetric_and_ignores_what_is_not_finite() -> None:
    scale = signed("score", np.array([-0.5, 3.25, np.nan, -np.inf]))
    assert (scale.low, scale.high) == (-3.25, 3.25)
    assert signed("score", np.zeros(3)).high > 0


def test_mask_and_scores() -> None:
    scores, mask = np.random.default_rng(1).normal(size=(5, 5)), causal(5)
    shown = mask_map(mask, TOKENS, LIGHT)
    assert (np.isnan(shown.data[0].z) == ~mask).all()
    assert len(set(shown.data[0].z[mask])) == 1
    before = score_map(scores, None, TOKENS, LIGHT, "before", scale_of=scores)
    after = score_map(scores, mask, TOKENS, LIGHT, "after", scale_of=scores)
    assert before.data[0].z == pytest.approx(scores)
    assert after.data[0].z[mask] == pytest.approx(scores[mask])
    assert np.isnan(after.data[0].z[~mask]).all()
    for figure in (before, after):
        assert figure.data[0].zmax == -figure.data[0].zmin == np.abs(scores).max()
        assert [color for _, color in figure.data[0].colorscale] == list(LIGHT.diverging)
    weighted = pattern_map(random_patterns(n_tokens=5), mask, TOKENS, LIGHT, "weights")
    assert weighted.data[0].z[mask] == pytest.approx(random_patterns(n_tokens=5)[mask])


def test_leak_curves_show_the_sums() -> None:
    sums = {"before": [1.0, 1.0], "score_zero": [0.5, 0.75], "after": [0.25, 1.0]}
    arrays_of = {name: np.array(values) for name, values in sums.items()}
    figure = leak_curves(arrays_of, [" a", " a"], LIGHT)
    shown = {trace.name: list(trace.y) for trace in figure.data}
    assert shown == {
        "−∞ before softmax (this model)": [1.0, 1.0],
        "score 0 before softmax": [0.5, 0.75],
        "zero after softmax": [0.25, 1.0],
    }
    assert all(len(set(trace.x)) == 2 for trace in figure.data)


def test_position_figures_show_the_table() -> None:
    table = np.random.default_rng(2).normal(size=(40, 6)).astype(np.float32)
    wave = wave_map(table, LIGHT, n_used=3)
    assert (wave.data[0].z == table).all()
    assert wave.data[0].zmax == -wave.data[0].zmin == np.abs(table).max()
    assert wave.layout.shapes[0].y0 == 2.5, "behind the sentence's last position"
    drawn = dimension_curves(table, [4, 1], LIGHT, n_used=3).data
    lines = {trace.name: trace.y for trace in drawn if trace.mode == "lines"}
    assert (lines["dimension 4"] == table[:, 4]).all()
    assert (lines["dimension 1"] == table[:, 1]).all()
    points = [trace.y for trace in drawn if trace.mode == "markers"]
    assert (np.array(points) == table[:3, [4, 1]].T).all(), "the sentence's own positions"
    similarity = similarity_map(table[:6], LIGHT)
    assert (similarity.data[0].z == table[:6]).all()
    assert (similarity.data[0].zmin, similarity.data[0].zmax) == (-1, 1)


def test_sum_maps_show_both_parts_and_their_sum_in_one_scale() -> None:
    embed, positions = np.random.default_rng(3).normal(size=(2, 5, 6)).astype(np.float32)
    figure = sum_maps(embed, positions, embed + positions, TOKENS, LIGHT)
    for trace, part in zip(figure.data, (embed, positions, embed + positions), strict=True):
        assert (trace.z == part).all()
        assert trace.coloraxis == "coloraxis"
        assert len(set(trace.y)) == 5
    scale = figure.layout.coloraxis
    largest = max(np.abs(embed).max(), np.abs(positions).max(), np.abs(embed + positions).max())
    assert scale.cmax == -scale.cmin == largest


def test_beam_tree_tells_pruned_kept_and_winner_apart() -> None:
    nodes = [
        Node(0, 0, None, "<b>", -0.1, -0.1, -0.1, True, False, True),
        Node(0, 1, None, "x", -0.9, -0.9, -0.9, True, False, False),
        Node(0, 2, None, "x", -1.5, -1.5, -1.5, False, False, False),
        Node(1, 0, 0, "y", -0.2, -0.3, -0.3, True, True, True),
        Node(1, 1, 1, "z", -0.3, -1.2, -1.2, False, False, False),
    ]
    figure = beam_tree(nodes, "$root", LIGHT)
    named = {trace.name: trace for trace in figure.data if trace.name}
    places = {name: list(zip(trace.x, trace.y, strict=True)) for name, trace in named.items()}
    assert places == {"pruned": [(0, 2), (1, 1)], "kept": [(0, 1)], "winner": [(0, 0), (1, 0)]}
    assert named["winner"].text[0] == "&lt;b&gt;"
    assert "(end)" in named["winner"].hovertext[1]
    pruned, kept, winner = figure.data[:3]
    assert list(winner.x) == [-0.5, 0, None, 0, 1, None]
    assert list(winner.y) == [0, 0, None, 0, 0, None]
    assert list(pruned.y) == [0, 2, None, 1, 1, None]
    assert len(kept.x) == 3


def test_a_figure_with_nan_is_still_json() -> None:
    values = np.array([[np.nan, np.inf], [0.5, -np.inf]])
    axis = Axis("query", ["a", "b"])
    figure = heat_map(values, axis, axis, signed("score", values), LIGHT, title="")

    def refuse(constant: str) -> None:
        pytest.fail(f"{constant} is no JSON")

    json.loads(figure.to_json(), parse_constant=refuse)


HOSTILE = ("<b>x</b>", "%{x}", "$y$", "&lt;", "<br>")


def lens_grid(n_tokens: int = 5, start: int = 0) -> Grid:
    """Three rows of two tokens a cell, each word its own; the answer is found in the last row."""
    random = np.random.default_rng(6)
    cells = list(np.ndindex(3, n_tokens))
    words = [[[f"w{r}-{t}", HOSTILE[t % 5]] for t in range(n_tokens)] for r in range(3)]
    return Grid(
        words=words,
        probs=-np.sort(-random.dirichlet(np.ones(4), size=len(cells))[:, :2]).reshape(3, -1, 2),
        entropy=random.random((3, n_tokens)) * 3,
        is_answer=np.arange(3)[:, None].repeat(n_tokens, axis=1) == 2,
        labels=token_labels([TOKENS[t % 5] for t in range(n_tokens)]),
        start=start,
    )


@pytest.mark.parametrize("by_entropy", [False, True])
def test_lens_map_has_a_row_a_layer_upward_and_a_word_a_cell(by_entropy: bool) -> None:
    grid = lens_grid(start=7)
    values = grid.entropy if by_entropy else grid.probs[..., 0]
    scale = entropy_scale(grid.entropy) if by_entropy else probability_scale()
    figure = lens_map(grid, values, scale, (1, 9), LIGHT)
    heat, written = figure.data
    assert heat.z == pytest.approx(values, abs=1e-6)
    assert (heat.zmin, heat.zmax) == (0, grid.entropy.max() if by_entropy else 1)
    assert list(heat.x) == [7, 8, 9, 10, 11]
    assert list(figure.layout.yaxis.ticktext) == ["input", "L0", "L1"]
    assert figure.layout.yaxis.range[0] < figure.layout.yaxis.range[1], "layers upward"
    cells = zip(written.y, written.x, written.text, strict=True)
    for row, position, text in cells:
        word = grid.words[row][position - 7][0]
        assert text == (f"<b>{word}</b>" if row == 2 else word)
    column, cell = figure.layout.shapes
    assert (cell.x0, cell.x1, cell.y0, cell.y1) == (8.5, 9.5, 0.5, 1.5)
    assert (column.x0, column.y0, column.y1) == (8.5, -0.5, 2.5)


def test_lens_hover_lists_every_token_as_text() -> None:
    grid = lens_grid()
    hovertext = lens_map(grid, grid.entropy, entropy_scale(grid.entropy), (0, 0), DARK).data[0]
    for row, column in np.ndindex(3, 5):
        said = hovertext.hovertext[row][column]
        assert not set("$%") & set(html.unescape(said).replace(HOSTILE[column], ""))
        head, *rows = said.split("<br>")
        assert f"<b>{grid.labels[column]}</b>, entropy {grid.entropy[row, column]:.3f}" in head
        for line, word, prob in zip(
            rows, grid.words[row][column], grid.probs[row, column], strict=True
        ):
            number, shown = re.fullmatch(r"([\d.]+)  <b>([^<>$%]*)</b>", line).groups()
            assert float(number) == pytest.approx(prob, abs=6e-6)
            assert html.unescape(shown) == word


def test_a_broken_cell_of_the_lens_is_marked() -> None:
    grid = lens_grid()
    values = grid.entropy.copy()
    values[1, 2] = np.nan
    written = lens_map(grid, values, entropy_scale(values), (0, 99), LIGHT).data[1]
    assert written.text[7] == "×"
    assert written.textfont.color[7] == LIGHT.bad
    assert entropy_scale(np.zeros((2, 3))).high > 0


@pytest.mark.parametrize("colors", [LIGHT, DARK])
def test_ink_stands_out_on_every_colour_of_the_scale(colors: Palette) -> None:
    for step, ground in enumerate(colors.sequential):
        assert contrast(ink(step / (len(colors.sequential) - 1), colors), ground) > 4
    shares = np.linspace(0, 1, 101)
    assert {ink(share, colors) for share in shares} == {colors.text, colors.background}


@pytest.mark.parametrize(
    ("n_tokens", "start", "chosen", "window"),
    [
        (1, -1, 0, (0, 1)),
        (24, -1, 23, (0, 24)),
        (25, -1, 24, (1, 25)),
        (100, -1, 50, (38, 62)),
        (100, -1, 3, (0, 24)),
        (100, 12, 99, (12, 36)),
        (100, 99, 0, (76, 100)),
    ],
)
def test_window_holds_at_most_24_positions(
    n_tokens: int, start: int, chosen: int, window: tuple[int, int]
) -> None:
    assert window_of(n_tokens, start, chosen) == range(*window)


def test_wide_lens_names_its_layers_on_both_sides() -> None:
    grid = lens_grid(24)
    figure = lens_map(grid, grid.entropy, entropy_scale(grid.entropy), (0, 23), LIGHT)
    assert figure.layout.yaxis2.side == "right"
    assert figure.layout.yaxis2.ticktext == figure.layout.yaxis.ticktext
    assert figure.data[1].yaxis == "y2"
    assert (grid.is_far_right(23), grid.is_far_right(3)) == (True, False)


def test_a_said_token_reads_as_it_would_in_the_text() -> None:
    said = [said_label(" walk", token) for token in ("ing", " the", ".", "\n")]
    assert said == ["…ing", "the", ".", "⏎"]


def test_rank_curve_counts_from_one_with_one_on_top() -> None:
    figure = rank_curve(np.array([999, 4, 0]), 1, 4096, LIGHT, "of “<b>$x$”")
    (line,) = figure.data
    assert list(line.y) == [1000, 5, 1]
    assert figure.layout.yaxis.type == "log"
    bottom, top = figure.layout.yaxis.range
    assert bottom > 3 > 0 > top
    assert line.marker.size[1] > line.marker.size[0]
    assert html.unescape(figure.layout.title.text) == "of “<b>$x$”"
    assert "<" not in figure.layout.title.text


def test_likeliest_bars_are_in_order_and_escaped() -> None:
    figure = likeliest_bars(HOSTILE, np.linspace(0.5, 0.1, 5), LIGHT, "L0")
    assert figure.data[0].x == pytest.approx([0.5, 0.4, 0.3, 0.2, 0.1])
    assert figure.layout.yaxis.autorange == "reversed"
    assert [html.unescape(label) for label in figure.layout.yaxis.ticktext] == list(HOSTILE)
    assert not set("<>$%") & set("".join(figure.layout.yaxis.ticktext))


@pytest.mark.parametrize(
    ("n_bytes", "text"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (1000, "1 kB"),
        (12_288, "12.3 kB"),
        (999_499, "999 kB"),
        (999_500, "1 MB"),
        (9_663_676_416, "9.66 GB"),
        (171_798_691_840, "172 GB"),
        (2e15, "2,000 TB"),
    ],
)
def test_bytes_as_people_write_them(n_bytes: float, text: str) -> None:
    assert bytes_text(n_bytes) == text


@pytest.mark.parametrize(("n_held", "framed"), [(0, None), (2, (0, 2)), (3, (2, 3)), (5, (4, 5))])
def test_cache_shows_what_it_holds_and_hatches_the_rest(
    n_held: int, framed: tuple[int, int] | None
) -> None:
    """The frame is around what the last step brought: the prefill of 2, or one token."""
    lengths = np.random.default_rng(0).uniform(1, 9, size=(3, 5)).astype(np.float32)
    figure = filling_map(lengths, n_held, 2, TOKENS, LIGHT, "keys")
    shown = figure.data[0]
    assert (shown.z[:, :n_held] == lengths[:, :n_held]).all()
    assert np.isnan(shown.z[:, n_held:]).all()
    assert (shown.zmin, shown.zmax) == (0, lengths.max()), "the same while it fills"
    assert list(shown.y) == ["L0", "L1", "L2"]
    if n_held < 5:
        assert (np.isfinite(figure.data[1].z) == (np.arange(5) >= n_held)).all()
        assert "empty" in figure.data[1].hovertemplate
        assert "masked" not in figure.data[1].hovertemplate
    frames = [(s.x0 + 0.5, s.x1 + 0.5) for s in figure.layout.shapes if s.type == "rect"]
    assert frames == ([framed] if framed else [])


@pytest.mark.parametrize(("n_prefill", "n_tokens"), [(1, 1), (5, 5)])
def test_cache_filled_at_once_has_no_line(n_prefill: int, n_tokens: int) -> None:
    lengths = np.ones((2, n_tokens))
    figure = filling_map(lengths, n_tokens, n_prefill, TOKENS[:n_tokens], DARK, "keys")
    assert [shape.type for shape in figure.layout.shapes] == ["rect"]
    assert not figure.layout.annotations


def test_pace_draws_times_in_milliseconds_and_the_fitted_power() -> None:
    lines = {"slow": {4: 0.001, 8: 0.002, 16: 0.004}, "fast": {4: 0.001, 8: 0.001, 16: 0.002}}
    figure = pace_lines(lines, {"slow": (1.0, 0.00025)}, 8, LIGHT, "times")
    slow, fitted, fast = figure.data
    assert list(slow.x) == [4, 8, 16]
    assert list(slow.y) == pytest.approx([1, 2, 4])
    assert list(fast.y) == pytest.approx([1, 1, 2])
    assert (list(fitted.x), list(fitted.y)) == ([8, 16], pytest.approx([2, 4]))
    assert "1.00" in fitted.name
    assert figure.layout.xaxis.type == figure.layout.yaxis.type == "log"
