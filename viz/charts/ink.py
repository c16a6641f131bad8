"""Text that stands out on a cell of the sequential scale."""

import numpy as np

from viz.theme import Palette, along


def ink(share: float, colors: Palette) -> str:
    """Text or background colour, whichever stands out more on this share of the scale."""
    if not np.isfinite(share):
        return colors.bad
    ground = along(colors.sequential, np.array(share)) / 255

    def contrast(color: str) -> float:
        low, high = sorted(
            (_luminance(ground), _luminance(along((color, color), np.array(0)) / 255))
        )
        return (high + 0.05) / (low + 0.05)

    return max((colors.text, colors.background), key=contrast)


def _luminance(rgb: np.ndarray) -> float:
    """Relative luminance as WCAG 2 defines it."""
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])
