"""Protects the heat map: hatching, scales, and as many labels as have room."""

import json
import re
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra import numpy as arrays

from viz.charts.figure import figure
from viz.figures.attribution import head_axes, part_map
from viz.figures.heatmap import Axis, _hatch_path, heat_map, signed
from viz.figures.lens import entropy_scale
from viz.labels import thinned
from viz.theme import LIGHT

Cell = tuple[int, int]


def strokes(path: str) -> Iterator[list[Cell]]:
    """The cells each line of a hatch path crosses from corner to corner."""
    for points in re.findall(r"M([\d.-]+),([\d.-]+)L([\d.-]+),([\d.-]+)", path):
        x0, y0, x1, y1 = map(float, points)
        assert x1 - x0 == y0 - y1 > 0
        yield [(int(y0 - 0.5) - i, int(x0 + 0.5) + i) for i in range(int(x1 - x0))]


@pytest.mark.parametrize(
    ("n", "pixels", "each", "first", "step"),
    [
        (6, 78, 13, 0, 1),
        (6, 77, 13, 0, 2),
        (30, 242, 13, 0, 2),
        (31, 380, 27, 1, 5),
        (1000, 20, 1, 0, 50),
        (1, 0, 13, 0, 1),
        (3, 1, 100, 0, 5),
        (0, 5, 13, 0, 1),
    ],
)
def test_every_so_many_labels_are_shown_as_have_room(
    n: int, pixels: float, each: float, first: int, step: int
) -> None:
    assert thinned(n, pixels, each, first) == range(first, n, step)


def test_of_thirty_layers_all_are_labelled() -> None:
    axes = head_axes([f"L{layer}" for layer in range(30)], 32)
    layout = figure(part_map(axes, np.ones((30, 32)), ("share", ""), ""), LIGHT)["layout"]
    room = layout["height"] - layout["margin"]["t"] - layout["margin"]["b"]
    assert room / 30 >= 12


@given(arrays.arrays(bool, arrays.array_shapes(min_dims=2, max_dims=2, max_side=9)))
def test_hatch_covers_the_hidden_cells_once(hidden: np.ndarray) -> None:
    covered = [cell for stroke in strokes(_hatch_path(hidden)) for cell in stroke]
    assert sorted(covered) == [tuple(cell) for cell in np.argwhere(hidden).tolist()]


def test_signed_scale_is_symmetric_and_ignores_what_is_not_finite() -> None:
    scale = signed("score", np.array([-0.5, 3.25, np.nan, -np.inf]))
    assert (scale.low, scale.high) == (-3.25, 3.25)
    assert signed("score", np.zeros(3)).high > 0
    assert entropy_scale(np.zeros((2, 3))).high > 0


def test_a_figure_with_nan_is_still_json() -> None:
    values = np.array([[np.nan, np.inf], [0.5, -np.inf]])
    axis = Axis("query", ["a", "b"])
    figure = heat_map(values, (axis, axis), signed("score", values), LIGHT, title="")

    def refuse(constant: str) -> None:
        pytest.fail(f"{constant} is no JSON")

    json.loads(figure.to_json(), parse_constant=refuse)
