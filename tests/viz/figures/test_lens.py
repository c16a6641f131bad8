"""Protects figures of the lens: each cell its token, windows, ranks, and marks."""

import html
import re

import numpy as np
import pytest

from tests.viz.test_theme import contrast
from viz.figures.ink import ink
from viz.figures.labels import token_labels
from viz.figures.lens import (
    Grid,
    entropy_scale,
    lens_map,
    most_likely_bars,
    predicted_label,
    probability_scale,
    rank_curve,
    window_of,
)
from viz.theme import DARK, LIGHT, Palette

TOKENS = ("The", " cat", " saw", " the", " cat")


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
def test_lens_map_has_a_row_a_layer_downward_and_a_word_a_cell(by_entropy: bool) -> None:
    grid = lens_grid(start=7)
    values = grid.entropy if by_entropy else grid.probs[..., 0]
    scale = entropy_scale(grid.entropy) if by_entropy else probability_scale()
    figure = lens_map(grid, values, scale, (1, 9), LIGHT)
    heat, written, *bar = figure.data
    assert bool(bar) is not by_entropy
    assert heat.z == pytest.approx(values, abs=1e-6)
    assert (heat.zmin, heat.zmax) == (0, grid.entropy.max() if by_entropy else 1)
    assert list(heat.x) == [7, 8, 9, 10, 11]
    assert list(figure.layout.yaxis.ticktext) == ["input", "L0", "L1"]
    assert figure.layout.yaxis.range[0] > figure.layout.yaxis.range[1], "as on all pages"
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
        head, entropy, *rows = said.split("<br>")
        assert f"<b>{grid.labels[column]}</b>" in head
        assert entropy == f"entropy in nats {grid.entropy[row, column]:.3f}"
        for line, word, prob in zip(
            rows, grid.words[row][column], grid.probs[row, column], strict=True
        ):
            shown, number = re.fullmatch(r"“<b>([^<>$%]*)</b>” ([\d.]+)", line).groups()
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
    assert (grid.frame(23), grid.frame(3)) == ("wide-chart-end", "wide-chart")


def test_a_short_lens_stands_still_on_a_phone() -> None:
    assert [lens_grid(n).frame(0) for n in (1, 7, 8, 14)] == [
        *["chart"] * 2,
        *["middling-chart"] * 2,
    ]


def test_a_predicted_token_is_written_as_it_would_be_in_the_text() -> None:
    said = [predicted_label(" walk", token) for token in ("ing", " the", ".", "\n")]
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


def test_most_likely_bars_are_in_order_and_escaped() -> None:
    figure = most_likely_bars(HOSTILE, np.linspace(0.5, 0.1, 5), LIGHT, "L0")
    assert figure.data[0].x == pytest.approx([0.5, 0.4, 0.3, 0.2, 0.1])
    assert figure.layout.yaxis.autorange == "reversed"
    assert [html.unescape(label) for label in figure.layout.yaxis.ticktext] == list(HOSTILE)
    assert not set("<>$%") & set("".join(figure.layout.yaxis.ticktext))
