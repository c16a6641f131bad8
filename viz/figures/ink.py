"""Text that stands out on a cell of the sequential scale."""

import numpy as np

from viz.theme import Palette


def ink(share: float, colors: Palette) -> str:
    """Text or background colour, whichever stands out more on this share of the scale."""
    stops = np.array([_rgb(color) for color in colors.sequential])
    if not np.isfinite(share):
        return colors.bad
    place = float(np.clip(share, 0, 1)) * (len(stops) - 1)
    ground = [np.interp(place, np.arange(len(stops)), channel) for channel in stops.T]

    def contrast(color: str) -> float:
        low, high = sorted((_luminance(np.array(ground)), _luminance(_rgb(color))))
        return (high + 0.05) / (low + 0.05)

    return max((colors.text, colors.background), key=contrast)


def _rgb(color: str) -> np.ndarray:
    return np.array([int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)])


def _luminance(rgb: np.ndarray) -> float:
    """Relative luminance as WCAG 2 defines it."""
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])
