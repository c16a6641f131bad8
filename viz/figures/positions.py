"""Positional encodings as charts: the table, single dimensions, similarity, and the sum."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from viz.charts.chart import Axis, Cells, Chart, Line, Pen, Rule, Scale, signed
from viz.digits import HOVER
from viz.theme import Palette, color_scale, template

FIRST_VIEW = 80  # positions on screen before a person zooms out
MOST_WAVES = 16  # rows of a map in which each can be followed by eye
POSITION, DIMENSION = Axis("position", kind="whole"), Axis("dimension", kind="whole")


def wave_rows(table: np.ndarray, n_used: int) -> Chart:
    """Some sines of (T, D), evenly spread over the pairs: positions across, slower waves below.

    A line marks the `n_used` positions the sentence takes. More positions than fit the screen at
    several pixels each would be moiré.
    """
    n_pairs, n = table.shape[1] // 2, min(max(FIRST_VIEW, n_used), len(table))
    step = -(-n_pairs // MOST_WAVES)
    pairs = range(0, n_pairs, step)
    values = np.ascontiguousarray(table[:n, [2 * pair for pair in pairs]].T)
    ends = Rule("x", n_used - 0.5, "the sentence ends here", ("right", "above"))
    which = f"one pair of dimensions in {step}" if step > 1 else "each pair of dimensions"
    title = f"The sine of {which}, positions 0 to {n - 1}"
    rows = Axis("pair", names=[str(pair) for pair in pairs])
    cells = Cells(values, signed("sine", values))
    return Chart(title, POSITION, rows, [cells, ends], height=420)


def table_map(table: np.ndarray, n_used: int) -> Chart:
    """The vectors that were trained for each position, (T, D): positions down, dimensions across.

    A line marks the `n_used` positions the sentence takes.
    """
    title = "Rows: positions, columns: dimensions"
    place = ("right", "top" if n_used > len(table) / 8 else "bottom")
    ends = Rule("y", n_used - 0.5, "the sentence ends here", place)
    return Chart(title, DIMENSION, POSITION, [Cells(table, signed("value", table)), ends])


def wave_surface(table: np.ndarray, colors: Palette) -> go.Figure:
    """The sine of each pair, every other column of (T, D), as a surface to be rotated."""
    surface = go.Surface(
        z=table[:, 0::2].astype(np.float32),
        cmin=-1,
        cmax=1,
        colorscale=color_scale(colors.diverging),
        showscale=False,
        lighting={"ambient": 0.85, "diffuse": 0.35, "specular": 0.02},
        hovertemplate=(
            "position <b>%{y}</b><br>pair <b>%{x}</b><br>sine "
            f"<b>%{{z:{HOVER}}}</b><extra></extra>"
        ),
    )
    axis = {"color": colors.muted, "gridcolor": colors.line, "showbackground": False}
    return go.Figure(
        data=[surface],
        layout={
            "template": template(colors),
            "title": {"text": "The sines over position and pair of dimensions (drag to rotate)"},
            "height": 560,
            "scene": {
                "xaxis": axis | {"title": "pair i"},
                "yaxis": axis | {"title": "position"},
                "zaxis": axis | {"title": "sine", "range": [-3, 3], "tickvals": [-1, 0, 1]},
                "aspectratio": {"x": 1.3, "y": 1.6, "z": 0.5},
                "camera": {"eye": {"x": 1.5, "y": -1.9, "z": 1.2}, "center": {"z": -0.15}},
            },
        },
    )


def wavelength_curve(frequencies: np.ndarray, context: int, pair_name: str) -> Chart:
    """After how many positions each pair of dimensions has rotated once, on a logarithmic scale.

    frequencies: (D/2,), radians per position. A line marks the model's context.
    """
    curve = Line(np.arange(len(frequencies)), 2 * np.pi / frequencies, pen=Pen(size=5))
    marked = Rule("y", context, f"context: {context} positions", ("left", "top"))
    x, y = Axis(pair_name, kind="whole"), Axis("positions for one turn", is_log=True)
    return Chart("Wavelength of each pair", x, y, [curve, marked])


def dimension_curves(table: np.ndarray, dimensions: Sequence[int], n_used: int) -> Chart:
    """Chosen dimensions over position; points mark the positions of the sentence."""
    positions, lines = np.arange(len(table)), []
    for ink, dimension in enumerate(dimensions):
        values, name = table[:, dimension].astype(np.float32), f"dimension {dimension}"
        lines.append(Line(positions, values, name, Pen(ink, symbol=None)))
        dots = Pen(ink, None, size=5)
        lines.append(Line(positions[:n_used], values[:n_used], pen=dots, quiet=True))
    last = min(max(FIRST_VIEW, n_used), len(table)) - 1
    x = Axis("position", kind="whole", ends=(-0.5, last + 0.5))
    title = "Single dimensions (double-click for all positions)"
    return Chart(title, x, Axis("value"), lines)


def similarity_map(
    similarity: np.ndarray, title: str = "Similarity between positions", says: str = ""
) -> Chart:
    """How similar the vectors of every two positions are, (T, T), cosine from −1 to 1."""
    cells = Cells(similarity, Scale("cosine", -1.0, 1.0, "signed"))
    return Chart(title, POSITION, POSITION, [cells], says, is_square=True)
