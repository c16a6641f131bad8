"""Protects figures of schemes and masks: room for labels, colours of angles."""

import numpy as np
import pytest

from viz.figures.build import label_width, room
from viz.figures.schemes import (
    output_maps,
)
from viz.figures.sides import Part
from viz.theme import DARK, LIGHT, Palette


@pytest.mark.parametrize(
    ("label", "pixels"), [("", 0), ("abcd", 28), ("漢字", 26), ("e\u0301", 7), ("a&lt;b", 21)]
)
def test_labels_take_the_room_of_their_letters(label: str, pixels: int) -> None:
    assert label_width(label) == pytest.approx(pixels, abs=1.5)
    assert room(["x", label + "xx"], None)["l"] > room(["x"], None)["l"]
    assert room(None, ["x", label + "xx"])["b"] > room(None, ["x"])["b"]


@pytest.mark.parametrize("colors", [LIGHT, DARK], ids=["light", "dark"])
def test_a_whole_turn_has_the_colour_of_none_and_a_half_has_not(colors: Palette) -> None:
    cyclic = colors.cyclic
    assert cyclic[0] == cyclic[-1] == colors.diverging[3]
    assert len(set(cyclic)) == len(cyclic) - 1 == 4, "no two quarters of a turn look alike"


@pytest.mark.parametrize("n_tokens", [1, 4, 40])
def test_the_colour_bar_keeps_clear_of_the_titles(n_tokens: int) -> None:
    tokens = [f" t{i}" for i in range(n_tokens)]
    parts = [Part(name, tokens, np.ones((n_tokens, 5))) for name in "abc"]
    layout = output_maps(parts, LIGHT).layout
    pixels = layout.height - layout.margin.t - layout.margin.b
    assert 24 <= (layout.coloraxis.colorbar.y - 1) * pixels <= layout.margin.t - 40
