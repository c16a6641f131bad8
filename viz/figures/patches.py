"""Charts of a picture's patches: alike positions, how far heads look, what each patch is worth."""

import numpy as np
import plotly.graph_objects as go

from viz.charts.chart import Axis, Cells, Chart, Line, Pen, Scale
from viz.charts.colors import colored
from viz.charts.room import columns_room, rows_room
from viz.digits import HOVER
from viz.labels import NARROW, thinned
from viz.theme import Palette, template

TILES_HEIGHT = 520
HEIGHT = 420
COSINE = Scale("cosine", -1.0, 1.0, "signed")


def tiles_of(cosines: np.ndarray) -> np.ndarray:
    """Similarities (P, P) as a grid of grids, one small picture per patch, NaN between them."""
    side = round(len(cosines) ** 0.5)
    tiles = cosines.reshape(side, side, side, side).swapaxes(1, 2)  # row, row of it, column, …
    apart = np.pad(tiles, ((0, 0), (0, 1), (0, 0), (0, 1)), constant_values=np.nan)
    whole = apart.reshape(side * (side + 1), side * (side + 1))
    return whole[:-1, :-1]


def similarity_grid(cosines: np.ndarray, colors: Palette, title: str) -> go.Figure:
    """How alike the positions of patches are, (P, P) (Dosovitskiy et al. 2021, fig. 7)."""
    side = round(len(cosines) ** 0.5)
    cells = go.Heatmap(
        z=tiles_of(cosines).astype(np.float32),
        customdata=_names(side),
        **colored(COSINE, colors),
        hoverongaps=False,
        hovertemplate=(
            "patch <b>%{customdata[0]}</b> and patch <b>%{customdata[1]}</b><br>cosine "
            f"<b>%{{z:{HOVER}}}</b><extra></extra>"
        ),
    )
    middles = [i * (side + 1) + (side - 1) / 2 for i in range(side)]
    axis = {
        "tickvals": middles,
        "ticktext": list(map(str, range(side))),
        "showgrid": False,
        "constrain": "domain",
        "automargin": False,
    }
    layout = {
        "template": template(colors),
        "title": {"text": title},
        "height": TILES_HEIGHT,
        "margin": {"t": 80, "l": rows_room(None), "b": columns_room(None, 0)},
        "xaxis": axis | {"title": "column of the patch", "scaleanchor": "y"},
        "yaxis": axis | {"title": "row of the patch", "autorange": "reversed"},
    }
    return go.Figure([cells], layout)


def _names(side: int) -> np.ndarray:
    """Which two patches each cell of the grid of grids is about, as row,column."""
    n = side * (side + 1) - 1
    names = np.full((n, n, 2), "", dtype=object)
    for row in range(n):
        for column in range(n):
            (r, inner_r), (c, inner_c) = divmod(row, side + 1), divmod(column, side + 1)
            names[row, column] = (f"{r},{c}", f"{inner_r},{inner_c}")
    return names


def distance_curve(distances: np.ndarray, title: str) -> Chart:
    """How far each head looks in pixels, (L, H), by layer (Dosovitskiy et al. 2021, fig. 11)."""
    layers, heads = np.indices(distances.shape).reshape(2, -1)
    dots = Line(
        layers,
        distances.ravel(),
        pen=Pen("accent", None, size=10, opacity=0.8),
        names=[f"L{layer} H{head}" for layer, head in zip(layers, heads, strict=True)],
    )
    layer = Axis("layer", kind="whole", ticks=thinned(len(distances), NARROW, 27))
    distance = Axis("mean distance", "pixels", from_zero=True)
    return Chart(title, layer, distance, [dots], height=HEIGHT)


def without_map(probabilities: np.ndarray, title: str) -> Chart:
    """The answer's probability where one patch after the other is masked, (P,), from 0 to 1."""
    side = round(len(probabilities) ** 0.5)
    x, y = (Axis(name, names=list(map(str, range(side)))) for name in ("column", "row"))
    cells = Cells(probabilities.reshape(side, side), Scale("probability"))
    return Chart(title, x, y, [cells], height=HEIGHT, is_square=True)
