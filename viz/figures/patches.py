"""Figures of a picture's patches: alike positions, how far heads look, what each patch is worth."""

import numpy as np
import plotly.graph_objects as go

from viz.digits import HOVER
from viz.figures.build import Sheet, build
from viz.figures.heatmap import Axis, Look, Scale, colored, heat_map, signed
from viz.labels import NARROW, thinned
from viz.theme import Palette

TILES_HEIGHT = 520
HEIGHT = 420


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
    scale = signed("cosine", np.ones(1))
    cells = go.Heatmap(
        z=tiles_of(cosines).astype(np.float32),
        customdata=_names(side),
        **colored(scale, colors),
        hoverongaps=False,
        hovertemplate=(
            "patch <b>%{customdata[0]}</b> and patch <b>%{customdata[1]}</b><br>cosine "
            f"<b>%{{z:{HOVER}}}</b><extra></extra>"
        ),
    )
    middles = [i * (side + 1) + (side - 1) / 2 for i in range(side)]
    axis = {"tickvals": middles, "ticktext": list(map(str, range(side))), "showgrid": False}
    return build(
        [cells],
        colors,
        Sheet(TILES_HEIGHT, title, top=80),
        x=axis | {"title": "column of the patch", "scaleanchor": "y", "constrain": "domain"},
        y=axis | {"title": "row of the patch", "autorange": "reversed", "constrain": "domain"},
    )


def _names(side: int) -> np.ndarray:
    """Which two patches each cell of the grid of grids is about, as row,column."""
    n = side * (side + 1) - 1
    names = np.full((n, n, 2), "", dtype=object)
    for row in range(n):
        for column in range(n):
            (r, inner_r), (c, inner_c) = divmod(row, side + 1), divmod(column, side + 1)
            names[row, column] = (f"{r},{c}", f"{inner_r},{inner_c}")
    return names


def distance_curve(distances: np.ndarray, colors: Palette, title: str) -> go.Figure:
    """How far each head looks in pixels, (L, H), by layer (Dosovitskiy et al. 2021, fig. 11)."""
    layers, heads = np.indices(distances.shape).reshape(2, -1)
    dots = go.Scatter(
        x=layers,
        y=distances.ravel(),
        mode="markers",
        marker={"size": 10, "color": colors.accent, "opacity": 0.8},
        customdata=[f"L{layer} H{head}" for layer, head in zip(layers, heads, strict=True)],
        hovertemplate=f"<b>%{{customdata}}</b><br><b>%{{y:{HOVER}}}</b> pixels<extra></extra>",
    )
    return build(
        [dots],
        colors,
        Sheet(HEIGHT, title),
        x={"title": "layer", "dtick": thinned(len(distances), NARROW, 27).step, "showgrid": False},
        y={"title": "mean distance in pixels", "rangemode": "tozero"},
    )


def without_map(probabilities: np.ndarray, colors: Palette, title: str) -> go.Figure:
    """The answer's probability where one patch after the other is masked, (P,), from 0 to 1."""
    side = round(len(probabilities) ** 0.5)
    labels = list(map(str, range(side)))
    return heat_map(
        probabilities.reshape(side, side),
        (Axis("row", labels), Axis("column", labels)),
        Scale("probability", 0.0, 1.0),
        colors,
        title=title,
        look=Look(turned=0, height=HEIGHT),
    )
