"""Protects the colours: the page and the figures share them, and people can tell them apart."""

import tomllib
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from viz.theme import DARK, LIGHT, Palette, color_scale, palette

CONFIG = Path(__file__).parents[2] / ".streamlit" / "config.toml"
FIELDS = {
    "primaryColor": "accent",
    "backgroundColor": "background",
    "secondaryBackgroundColor": "surface",
    "textColor": "text",
    "borderColor": "line",
}
both_palettes = pytest.mark.parametrize("colors", [LIGHT, DARK], ids=["light", "dark"])


# How linear red, green and blue look to protanopes, deuteranopes and tritanopes.
CONES = np.array([
    [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
     [-0.003882, -0.048116, 1.051998]],
    [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
     [-0.01182, 0.04294, 0.968881]],
    [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
     [0.004733, 0.691367, 0.3039]],
])  # fmt: skip
XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
WHITE = XYZ.sum(axis=1)


def linear(color: str) -> np.ndarray:
    """Linear red, green and blue of #rrggbb, 0 to 1."""
    channels = np.array([int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)


def luminance(color: str) -> float:
    """Relative luminance of #rrggbb, 0 to 1 (WCAG 2.2)."""
    return float(linear(color) @ [0.2126, 0.7152, 0.0722])


def lab(rgb: np.ndarray) -> np.ndarray:
    """CIELAB of linear red, green and blue."""
    share = XYZ @ rgb / WHITE
    x, y, z = np.where(share > 0.008856, np.cbrt(share), 7.787 * share + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def lightness(color: str) -> float:
    """CIE L*, 0 to 100: equal steps look equal."""
    return 116 * np.cbrt(max(luminance(color), 0.008856)) - 16


def contrast(a: str, b: str) -> float:
    """Contrast ratio, 1 to 21 (WCAG 2.2)."""
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize(("theme", "colors"), [("light", LIGHT), ("dark", DARK)])
def test_page_has_the_colours_of_the_figures(theme: str, colors: Palette) -> None:
    configured = tomllib.loads(CONFIG.read_text(encoding="utf-8"))["theme"][theme]
    assert configured == {name: getattr(colors, field) for name, field in FIELDS.items()}


def test_palette_follows_the_browser() -> None:
    assert palette("dark") == DARK
    assert palette("light") == palette(None) == LIGHT


@both_palettes
def test_sequential_scale_changes_steadily_away_from_the_background(colors: Palette) -> None:
    steps = np.diff([lightness(color) for color in colors.sequential])
    away = -1 if colors is LIGHT else 1
    assert (away * steps > 4).all()


@both_palettes
def test_diverging_scale_is_two_like_halves(colors: Palette) -> None:
    levels = np.array([lightness(color) for color in colors.diverging])
    middle = len(levels) // 2
    assert len(levels) % 2 == 1
    outwards = -1 if colors is LIGHT else 1
    assert (outwards * np.diff(levels[middle:]) > 4).all()
    assert np.abs(levels - levels[::-1]).max() < 7


@both_palettes
@pytest.mark.parametrize("ground", ["background", "surface"])
def test_contrast(colors: Palette, ground: str) -> None:
    """4.5 for text and 3 for what is not text, as WCAG 2.2 asks."""
    least = {"text": 4.5, "muted": 4.5, "accent": 4.5, "good": 4.5, "bad": 4.5, "frame": 3.0}
    ratios = {name: contrast(getattr(colors, name), getattr(colors, ground)) for name in least}
    assert {name: ratio for name, ratio in ratios.items() if ratio < least[name]} == {}


@both_palettes
def test_who_wrote_a_token_is_told_apart_without_colour_vision(colors: Palette) -> None:
    """By 20 in CIELAB, as Machado et al. 2009 simulate it: severe, and each kind of it."""
    names = [name for name in vars(colors) if name.startswith("by_")]
    assert len(names) == 4
    for sees in (np.eye(3), *CONES):
        own = [lab(np.clip(sees @ linear(getattr(colors, name)), 0, 1)) for name in names]
        assert min(np.linalg.norm(a - b) for a, b in combinations(own, 2)) > 20
    assert min(contrast(getattr(colors, name), colors.background) for name in names) > 3


def test_color_scale_fills_its_range_evenly() -> None:
    scale = color_scale(("#000000", "#808080", "#ffffff"), 0.2, 1.0)
    assert [color for _, color in scale] == ["#000000", "#808080", "#ffffff"]
    assert [place for place, _ in scale] == pytest.approx([0.2, 0.6, 1.0])
