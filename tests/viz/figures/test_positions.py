"""Protects figures of positional encodings: the table, its curves, and the sum."""

import numpy as np

from viz.figures.positions import dimension_curves, similarity_map, sum_maps, wave_map
from viz.theme import LIGHT

TOKENS = ("The", " cat", " saw", " the", " cat")


def test_position_figures_show_the_table() -> None:
    table = np.random.default_rng(2).normal(size=(40, 6)).astype(np.float32)
    wave = wave_map(table, LIGHT, n_used=3)
    assert (wave.data[0].z == table).all()
    assert wave.data[0].zmax == -wave.data[0].zmin == np.abs(table).max()
    assert wave.layout.shapes[0].y0 == 2.5, "after the sentence's last position"
    drawn = dimension_curves(table, [4, 1], LIGHT, n_used=3).data
    lines = {trace.name: trace.y for trace in drawn if trace.mode == "lines"}
    assert (lines["dimension 4"] == table[:, 4]).all()
    assert (lines["dimension 1"] == table[:, 1]).all()
    points = [trace.y for trace in drawn if trace.mode == "markers"]
    assert (np.array(points) == table[:3, [4, 1]].T).all(), "the sentence's own positions"
    similarity = similarity_map(table[:6], LIGHT)
    assert (similarity.data[0].z == table[:6]).all()
    assert (similarity.data[0].zmin, similarity.data[0].zmax) == (-1, 1)


def test_sum_maps_show_both_parts_and_their_sum_in_one_scale() -> None:
    embed, positions = np.random.default_rng(3).normal(size=(2, 5, 6)).astype(np.float32)
    figure = sum_maps(embed, positions, embed + positions, TOKENS, LIGHT)
    for trace, part in zip(figure.data, (embed, positions, embed + positions), strict=True):
        assert (trace.z == part).all()
        assert trace.coloraxis == "coloraxis"
        assert len(set(trace.y)) == 5
    scale = figure.layout.coloraxis
    largest = max(np.abs(embed).max(), np.abs(positions).max(), np.abs(embed + positions).max())
    assert scale.cmax == -scale.cmin == largest
