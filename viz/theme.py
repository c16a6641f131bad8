"""Every colour, font and size, for the page and for the figures, in a light and a dark palette.

Attention and probabilities use `sequential`, from nothing to a glow; signed values use
`diverging`, blue below zero and orange above. Both change steadily in lightness, so they also
read without colour vision. `.streamlit/config.toml` repeats the page's colours; a test compares.
"""

from dataclasses import dataclass, fields, replace
from functools import lru_cache

import numpy as np
import plotly.graph_objects as go

FONT = "'Source Sans', system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif"
FONT_SIZE = 13
TITLE_SIZE = 15
ROOT_STOPS = 49  # between which Plotly's straight lines keep to the root within 0.6 %

ColorScale = tuple[str, ...]


@dataclass(frozen=True)
class Palette:
    """The colours of one theme."""

    background: str
    surface: str
    text: str
    muted: str
    line: str
    accent: str
    frame: str
    good: str
    bad: str
    masked: str
    hatch: str
    by_system: str  # who wrote a token of a chat
    by_user: str
    by_assistant: str
    by_template: str
    sequential: ColorScale
    diverging: ColorScale
    series: ColorScale
    small_weights: bool = True  # weights are coloured by their square root

    @property
    def cyclic(self) -> ColorScale:
        """For angles: from one colour by orange to the text's at half a turn, and back by blue."""
        blue, middle, orange = self.diverging[1], self.diverging[3], self.diverging[-2]
        return (middle, orange, self.text, blue, middle)


LIGHT = Palette(
    background="#fdfcf9",
    surface="#f4f1ea",
    text="#1c2230",
    muted="#5a6272",
    line="#dcd7cb",
    accent="#a84b08",
    frame="#0b6e83",
    good="#1c6b3c",
    bad="#b3261e",
    masked="#eeebe4",
    hatch="#cfc9bc",
    by_system="#c65fa8",
    by_user="#0b4f9c",
    by_assistant="#d2700a",
    by_template="#6f6a60",
    sequential=("#fbf4e2", "#fbe0a6", "#f6b94f", "#e08427", "#b34d1d", "#75291f", "#3a1220"),
    diverging=("#1d4b94", "#6b99cf", "#c6d8ea", "#f7f5f0", "#f4cf9f", "#dc8a3a", "#934409"),
    series=("#0b62a4", "#c8550a", "#0a7f5c", "#a8478a", "#8a6d00", "#4b4fb8"),
)
DARK = Palette(
    background="#0d121e",
    surface="#161d2c",
    text="#e9e6df",
    muted="#a0a9ba",
    line="#2c364b",
    accent="#f5ae3a",
    frame="#5eead4",
    good="#6fd39a",
    bad="#ff8a80",
    masked="#0a0e18",
    hatch="#323d55",
    by_system="#f0a8dc",
    by_user="#3f8fe8",
    by_assistant="#f2902a",
    by_template="#6f7686",
    sequential=("#131a28", "#33293d", "#64333c", "#a04c30", "#dc7b2a", "#f6b440", "#fff2cf"),
    diverging=("#9ccbff", "#4785d0", "#27446f", "#161d2c", "#6a4420", "#c97b2d", "#ffc680"),
    series=("#6cb6ff", "#ff9d5c", "#5fd3a5", "#e39bd0", "#e3c34f", "#a7a9ff"),
)


def palette(kind: str | None, *, small_weights: bool = True) -> Palette:
    """The palette of a theme type as the browser reports it: "dark", "light" or unknown."""
    return replace(DARK if kind == "dark" else LIGHT, small_weights=small_weights)


def weight_shares(weights: np.ndarray, colors: Palette) -> np.ndarray:
    """Where weights of attention and probabilities stand on `sequential`, all from 0 to 1.

    The one law of their colour; `viz/kit/colors.js` has the same for the browser.
    """
    return np.sqrt(weights) if colors.small_weights else weights


def along(colors: ColorScale, shares: np.ndarray) -> np.ndarray:
    """Red, green and blue from 0 to 255 at some shares of a scale, (N,). Returns (N, 3)."""
    stops = np.array([[int(color[i : i + 2], 16) for i in (1, 3, 5)] for color in colors])
    places = np.linspace(0, 1, len(stops))
    return np.stack([np.interp(shares, places, channel) for channel in stops.T], axis=-1)


def weight_scale(colors: Palette) -> list[list[object]]:
    """The colours of weights in the form Plotly takes: its stops stand as `weight_shares` says."""
    if not colors.small_weights:
        return color_scale(colors.sequential)
    shares = np.linspace(0, 1, ROOT_STOPS)
    found = along(colors.sequential, shares).round().astype(int).tolist()
    return [[at**2, f"rgb({r},{g},{b})"] for at, (r, g, b) in zip(shares, found, strict=True)]


def color_scale(colors: ColorScale, low: float = 0.0, high: float = 1.0) -> list[list[object]]:
    """Colours spread evenly over [low, high], in the form Plotly takes."""
    last = len(colors) - 1
    return [[low + (high - low) * i / last, color] for i, color in enumerate(colors)]


@lru_cache(maxsize=4)
def template(colors: Palette) -> go.layout.Template:
    """The Plotly template of all figures: our fonts and colours, quiet axes, room for labels."""
    axis = {
        "gridcolor": colors.line,
        "linecolor": colors.line,
        "zerolinecolor": colors.line,
        "tickcolor": colors.line,
        "tickfont": {"color": colors.muted, "size": FONT_SIZE - 1},
        "title": {"font": {"color": colors.muted, "size": FONT_SIZE}, "standoff": 16},
        "automargin": True,
    }
    return go.layout.Template(
        layout={
            "font": {"family": FONT, "size": FONT_SIZE, "color": colors.text},
            "title": {
                "font": {"size": TITLE_SIZE, "color": colors.text},
                "x": 0,
                "xref": "container",
                "y": 1,  # at the top: in the middle of the room above, neighbours would differ
                "yref": "container",
                "yanchor": "top",
                "pad": {"l": 4, "t": 12},
            },
            "paper_bgcolor": colors.background,  # of a saved picture; on screen it is the page's
            "plot_bgcolor": "rgba(0,0,0,0)",
            "colorway": list(colors.series),
            "xaxis": axis,
            "yaxis": axis,
            "margin": {"l": 8, "r": 8, "t": 44, "b": 8},
            "hoverlabel": {
                "bgcolor": colors.surface,
                "bordercolor": colors.line,
                "font": {"family": FONT, "size": FONT_SIZE + 1, "color": colors.text},
                "align": "left",
            },
            "modebar": {
                "bgcolor": "rgba(0,0,0,0)",
                "color": colors.muted,
                "activecolor": colors.accent,
            },
            "legend": {
                "bgcolor": "rgba(0,0,0,0)",
                "orientation": "h",
                "y": 1.02,
                "yanchor": "bottom",
                "x": 1,
                "xanchor": "right",
            },
        }
    )


def css_variables(colors: Palette) -> str:
    """The single colours of a palette as CSS variables, --page-text and so on."""
    named = {field.name: getattr(colors, field.name) for field in fields(colors)}
    lines = [f"--page-{name}: {color};" for name, color in named.items() if isinstance(color, str)]
    return f":root {{ {' '.join(lines)} }}"
