"""Protects figures of schemes and masks: places, colours, labels, and what is left out."""

import numpy as np
import pytest

from tests.viz.builders import causal
from tests.viz.test_theme import contrast
from viz.digits import HOVER
from viz.figures.build import label_width, room
from viz.figures.lines import mark_line
from viz.figures.masks import loss_bars, mask_map, receptive_field_map, share_map
from viz.figures.positions import wavelength_curve
from viz.figures.schemes import (
    bias_map,
    output_maps,
    pattern_row,
    slope_bars,
)
from viz.figures.sides import Part
from viz.theme import DARK, LIGHT, Palette

TOKENS = ("The", " cat", " saw", " the", " cat", " <b>")


@pytest.mark.parametrize("axis", ["x", "y"])
@pytest.mark.parametrize(("is_log", "place"), [(False, 100.0), (True, 2.0)])
def test_words_stand_beside_their_line(axis: str, is_log: bool, place: float) -> None:
    """Plotly puts lines at a value, and words on a logarithmic axis at its logarithm."""
    shape, words = mark_line(axis, 100.0, "here", LIGHT, is_log=is_log)
    assert shape[f"{axis}0"] == shape[f"{axis}1"] == 100
    assert words[axis] == place
    assert words["text"] == "here"


@pytest.mark.parametrize(
    ("label", "pixels"), [("", 0), ("abcd", 28), ("漢字", 26), ("e\u0301", 7), ("a&lt;b", 21)]
)
def test_labels_take_the_room_of_their_letters(label: str, pixels: int) -> None:
    assert label_width(label) == pytest.approx(pixels, abs=1.5)
    assert room(["x", label + "xx"], None)["l"] > room(["x"], None)["l"]
    assert room(None, ["x", label + "xx"])["b"] > room(None, ["x"])["b"]


def test_a_figure_never_asks_for_margins_of_its_own() -> None:
    """Which would draw it two or three times."""
    figures = [
        mask_map(causal(6), TOKENS, LIGHT),
        loss_bars({"a": np.ones(5)}, TOKENS, LIGHT),
        output_maps([Part(name, TOKENS, np.ones((6, 4))) for name in "abc"], LIGHT),
        pattern_row([Part("A", TOKENS, np.ones((6, 6)), ~causal(6))], LIGHT),
        wavelength_curve(np.array([1.0, 0.1]), LIGHT, context=5, pair_name="pair"),
    ]
    for figure in figures:
        layout = figure.layout.to_plotly_json()
        axes = [axis for name, axis in layout.items() if name[1:].startswith("axis")]
        assert axes
        assert not any(axis["automargin"] for axis in axes)


def test_context_is_marked_on_the_logarithmic_scale() -> None:
    figure = wavelength_curve(np.array([1.0, 0.1]), LIGHT, context=512, pair_name="pair")
    assert figure.layout.annotations[0].y == pytest.approx(np.log10(512))
    assert figure.layout.shapes[0].y0 == 512
    assert list(figure.data[0].y) == pytest.approx([2 * np.pi, 20 * np.pi])


@pytest.mark.parametrize("colors", [LIGHT, DARK], ids=["light", "dark"])
def test_a_whole_turn_has_the_colour_of_none_and_a_half_has_not(colors: Palette) -> None:
    cyclic = colors.cyclic
    assert cyclic[0] == cyclic[-1] == colors.diverging[3]
    assert len(set(cyclic)) == len(cyclic) - 1 == 4, "no two quarters of a turn look alike"


def test_bias_scale_ends_at_what_can_be_seen() -> None:
    bias = -np.abs(np.arange(6)[:, None] - np.arange(6)).astype(float)
    bias[0, 5] = -99  # masked
    figure = bias_map(bias, causal(6), TOKENS, LIGHT, "")
    assert figure.data[0].zmax == -figure.data[0].zmin == 5
    assert np.isnan(figure.data[0].z[~causal(6)]).all()


@pytest.mark.parametrize("n_heads", [1, 4, 40])
def test_every_slope_is_in_sight(n_heads: int) -> None:
    slopes = 2.0 ** -np.linspace(0.5, 8, n_heads)
    figure = slope_bars(slopes, LIGHT, "")
    low, high = (10**x for x in figure.layout.yaxis.range)
    assert low < slopes.min() <= slopes.max() < high
    assert len(figure.data[0].x) == n_heads
    assert (figure.data[0].text is None) == (n_heads > 16)


def test_outputs_share_the_scale_of_the_outputs() -> None:
    first, second = np.random.default_rng(1).normal(size=(2, 6, 5))
    parts = [
        Part(name, TOKENS, x)
        for name, x in zip("abc", (first, second, second - first), strict=True)
    ]
    figure = output_maps(parts, LIGHT)
    assert figure.layout.coloraxis.cmax == np.abs([first, second]).max()
    assert [note.text for note in figure.layout.annotations] == list("abc")


@pytest.mark.parametrize("n_tokens", [1, 4, 40])
def test_the_colour_bar_keeps_clear_of_the_titles(n_tokens: int) -> None:
    tokens = [f" t{i}" for i in range(n_tokens)]
    parts = [Part(name, tokens, np.ones((n_tokens, 5))) for name in "abc"]
    layout = output_maps(parts, LIGHT).layout
    pixels = layout.height - layout.margin.t - layout.margin.b
    assert 24 <= (layout.coloraxis.colorbar.y - 1) * pixels <= layout.margin.t - 40


def test_never_is_hatched_and_layers_are_whole_numbers() -> None:
    layers = np.array([[0, -1], [1, 0]])
    figure = receptive_field_map(layers, TOKENS[:2], 4, LIGHT)
    assert np.array_equal(figure.data[0].z, [[0, np.nan], [1, 0]], equal_nan=True)
    assert (figure.data[0].zmin, figure.data[0].zmax) == (0, 4)
    assert f"%{{z:{HOVER}}}" in figure.data[0].hovertemplate
    assert "never" in figure.data[1].hovertemplate


@pytest.mark.parametrize("colors", [LIGHT, DARK], ids=["light", "dark"])
def test_shares_are_written_where_they_are_and_can_be_read(colors: Palette) -> None:
    shares = np.linspace(0, 1, 12).reshape(3, 4)
    heat, text, _ = share_map(shares, colors, "").data
    written = {(y, x): t for y, x, t in zip(text.y, text.x, text.text, strict=True)}
    assert written[("L2", "H1")] == f"{shares[2, 1]:.3f}"
    assert len(written) == 12
    assert set(text.y) == set(heat.y)
    assert set(text.x) == set(heat.x)
    assert set(text.textfont.color) <= {colors.text, colors.background}
    ends = text.textfont.color[0], text.textfont.color[-1]
    assert contrast(ends[0], colors.sequential[0]) > 4.5
    assert contrast(ends[1], colors.sequential[-1]) > 4.5


def test_bars_of_equal_tokens_stay_apart() -> None:
    figure = loss_bars({"a": np.ones(5), "b": np.zeros(5)}, TOKENS, LIGHT)
    assert [bar.name for bar in figure.data] == ["a", "b"]
    assert len(set(figure.data[0].x)) == 5
