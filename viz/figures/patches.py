"""Charts of a picture's patches: alike positions, how far heads look, what each patch is worth."""

import numpy as np

from model.names import head_name
from viz.charts.chart import Axis, Cells, Chart, Frame, Line, Pen, Scale
from viz.labels import NARROW, thinned


def similarity_grid(cosines: np.ndarray, title: str) -> Chart:
    """How alike the positions of patches are, (P, P) (Dosovitskiy et al. 2021, fig. 7).

    A grid of grids, one small picture for each patch: row, row in it, column, column in it.
    """
    side = round(len(cosines) ** 0.5)
    tiles = cosines.reshape(side, side, side, side).swapaxes(1, 2).reshape(cosines.shape)
    of_patch, of_other = np.divmod(np.arange(len(cosines)), side)
    names = [f"{i}→{j}" for i, j in zip(of_patch, of_other, strict=True)]
    middles = {patch * side + (side - 1) / 2: str(patch) for patch in range(side)}
    x, y = (Axis(f"{way} of the patch", names=names, ticks=middles) for way in ("column", "row"))
    both = {"patch": of_patch, "and patch": of_other}
    more = {
        name: np.array([[f"{row},{column}" for column in at] for row in at])
        for name, at in both.items()
    }
    starts = range(0, len(cosines), side)
    gaps = [
        Frame((i, i + side - 1), (j, j + side - 1), ink="background", width=5)
        for i in starts
        for j in starts
    ]
    cells = Cells(tiles, Scale("cosine", -1.0, 1.0, "signed"), more=more)
    return Chart(title, x, y, [cells, *gaps], is_square=True)


def distance_curve(distances: np.ndarray, title: str) -> Chart:
    """How far each head looks in pixels, (L, H), by layer (Dosovitskiy et al. 2021, fig. 11)."""
    layers, heads = np.indices(distances.shape).reshape(2, -1)
    dots = Line(
        layers,
        distances.ravel(),
        pen=Pen("accent", None, size=10, opacity=0.8),
        names=list(map(head_name, layers, heads)),
    )
    layer = Axis("layer", kind="whole", ticks=thinned(len(distances), NARROW, 27))
    distance = Axis("mean distance", "pixels", from_zero=True)
    return Chart(title, layer, distance, [dots])


def without_map(probabilities: np.ndarray, title: str) -> Chart:
    """The answer's probability where one patch after the other is masked, (P,), from 0 to 1."""
    side = round(len(probabilities) ** 0.5)
    x, y = (Axis(name, names=list(map(str, range(side)))) for name in ("column", "row"))
    cells = Cells(probabilities.reshape(side, side), Scale("probability"))
    return Chart(title, x, y, [cells], is_square=True)
