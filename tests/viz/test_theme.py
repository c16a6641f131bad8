"""Protects the colours: the page and the figures share them, and people can tell them apart."""

import tomllib
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


def luminance(color: str) -> float:
    """Relative luminance of #rrggbb, 0 to 1 (WCAG 2.2)."""
    channels = np.array([int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


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


def test_color_scale_fills_its_range_evenly() -> None:
    scale = color_scale(("#000000", "#808080", "#ffffff"), 0.2, 1.0)
    assert [color for _, color in scale] == ["#000000", "#808080", "#ffffff"]
    assert [place for place, _ in scale] == pytest.approx([0.2, 0.6, 1.0])
