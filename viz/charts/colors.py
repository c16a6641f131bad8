"""What the colours of a scale are in Plotly's words, and the ink that stands out on them."""

import math
from functools import lru_cache
from typing import Any

import numpy as np

from viz.charts.chart import Cells, Scale
from viz.charts.room import label_width
from viz.labels import escape
from viz.theme import Palette, along, color_scale, weight_scale

Entries = dict[str, Any]  # of Plotly's JSON
BAR_PIXELS, LAW_BAR_PIXELS = 120, 180
ROOT_TICKS = [0, 0.1, 0.5, 1]
BLANK, BLANK_PIXELS = "\u00a0", 3  # a space that is drawn, and its width
END = "\u200b"  # without it Plotly would take spaces at the end away
# Above the axes, as a share of their height. At 1 and higher, Plotly moves the figure's title and
# those of the axes up by half of the bar's height.
ABOVE = 0.999


@lru_cache(maxsize=16)
def stops(kind: str, colors: Palette) -> list[list[object]]:
    """The colours of a kind of scale, from low to high."""
    if kind == "weight":
        return weight_scale(colors)
    kinds = {"signed": colors.diverging, "cyclic": colors.cyclic}
    return color_scale(kinds.get(kind, colors.sequential))


def colored(scale: Scale, colors: Palette, **place: object) -> Entries:
    """Range, colours and colour bar of a map; the bar of weights is of `bar_traces`."""
    has_bar = not scale.note and scale.kind != "weight"
    bar = {"colorbar": color_bar(scale, colors) | place} if has_bar else {"showscale": False}
    ends = {"zmin": scale.low, "zmax": scale.high}
    return {**ends, "colorscale": stops(scale.kind, colors), **bar}


def bar_traces(scale: Scale, colors: Palette, **place: object) -> list[Entries]:
    """The colour bar of weights: on it, unlike in the cells, the colours change steadily.

    Plotly would crowd those of small weights, which need the room, at its left end.
    """
    if scale.kind != "weight":
        return []
    bar = {"color": [0], "cmin": 0, "cmax": 1, "colorscale": stops("sequential", colors),
           "colorbar": color_bar(scale, colors) | place}  # fmt: skip
    return [{"type": "scatter", "x": [None], "y": [None], "mode": "markers", "marker": bar,
             "showlegend": False}]  # fmt: skip


def color_bar(scale: Scale, colors: Palette) -> Entries:
    """A small horizontal bar above the figure's left end, where a narrow page has room too."""
    is_weight = scale.kind == "weight"
    is_root = is_weight and colors.small_weights
    ticks = ROOT_TICKS if is_root else [scale.low, (scale.low + scale.high) / 2, scale.high]
    law = " (square root)" if is_root else ", 0 to 1" if is_weight else ""
    # The lowest number's middle is below the bar's left end: the name keeps clear of it.
    beside = label_width(f"{scale.low:.3g}") / 2
    name = escape(scale.head) + law + BLANK * math.ceil(beside / BLANK_PIXELS) + END
    # The law's words stand above the bar: beside it a narrow page has no room for them.
    side, length = ("top", LAW_BAR_PIXELS) if law else ("right", BAR_PIXELS + label_width(name))
    bar = {
        "title": {"text": name, "side": side, "font": {"color": colors.muted, "size": 11}},
        "orientation": "h",
        "x": 0,
        "xanchor": "left",
        "y": ABOVE,
        "yanchor": "bottom",
        "thickness": 8,
        "lenmode": "pixels",  # a share of a narrow page has no room for three numbers
        "len": length,  # Plotly takes a name's room beside it off
        "outlinewidth": 0,
        "tickfont": {"color": colors.muted, "size": 11},
        "tickvals": np.sqrt(ticks).tolist() if is_root else ticks,
        "tickangle": 0,
        "tickformat": ".3~g",
    }
    return bar | ({"ticktext": [f"{tick:g}" for tick in ticks]} if is_root else {})


def key(cells: Cells, colors: Palette) -> Entries:
    """What the one colour of a map means, and its hatching, above it where others have a bar."""
    scale, hidden = cells.scale, cells.hidden
    share = (np.nanmax(cells.values) - scale.low) / (scale.high - scale.low)
    rgb = ",".join(f"{part:.0f}" for part in along(colors.sequential, np.array([share]))[0])
    said = [f'<span style="color:rgb({rgb})">■</span> {escape(scale.note)}']
    if hidden is not None and hidden.cells.any():
        said.append(f'<span style="color:{colors.muted}">▨</span> {escape(hidden.note)}')
    x, y = {"x": 0, "xanchor": "left"}, {"y": 1, "yanchor": "bottom", "yshift": 2}
    font = {"color": colors.muted, "size": 12}
    return {"text": "<br>".join(said), "align": "left", "showarrow": False, "font": font,
            "xref": "paper", "yref": "paper"} | x | y  # fmt: skip


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
