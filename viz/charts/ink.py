"""Text that stands out on cells of the sequential scale."""

import numpy as np

from viz.theme import Palette, along


def ink(shares: np.ndarray, colors: Palette) -> list[str]:
    """Text or background colour, whichever stands out more on each share of the scale, (N,)."""
    ground = _luminance(along(colors.sequential, shares))
    dark, light = (
        _luminance(along((color, color), np.zeros(1))) for color in (colors.text, colors.background)
    )
    stands_out = _contrast(dark, ground) > _contrast(light, ground)
    return [colors.text if is_text else colors.background for is_text in stands_out]


def _contrast(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    return (np.maximum(one, other) + 0.05) / (np.minimum(one, other) + 0.05)


def _luminance(rgb: np.ndarray) -> np.ndarray:
    """Relative luminance of colours from 0 to 255, (N, 3), as WCAG 2 defines it."""
    rgb = rgb / 255
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return linear @ [0.2126, 0.7152, 0.0722]
