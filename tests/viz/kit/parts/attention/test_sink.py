"""Protects hidden attention sinks: what is hidden is hatched, and what is saved does not change."""

import numpy as np
import pytest

from tests.screen import content, download
from tests.viz.builders import csv_rows
from tests.viz.kit.gallery import Gallery
from tests.viz.kit.rows.attention import LAYER, sunk, weights


def test_the_head_has_a_sink() -> None:
    assert weights()[1:, 0].mean() > 1 / 3


@pytest.mark.parametrize("view", ["map", "compare", "lines", "sentence"])
def test_what_is_saved_is_of_the_true_weights(gallery: Gallery, view: str) -> None:
    gallery.show(sunk(view=view, other=[LAYER, 0]))
    gallery.read()
    file = download(gallery.page, gallery.get_by_role("button", name="CSV"))
    numbers = np.array([row[1:] for row in csv_rows(content(file))[1:]], float)
    others = weights(head=0) if view == "compare" else 0
    assert numbers == pytest.approx(weights() - others, abs=2e-6)


STROKES = "instrument.view.heatMap.chart._fullLayout.shapes[0].path.split('M').length"


def test_hidden_cells_are_hatched_and_not_drawn(gallery: Gallery) -> None:
    gallery.show(sunk())
    hidden, strokes = gallery.read("view"), gallery.evaluate(STROKES)
    assert {row[0] for row in hidden["map"]["values"]} == {None}
    gallery.show(sunk(hide_first=False))
    shown = gallery.read("view")
    assert shown["map"]["values"][5][0] == pytest.approx(weights()[5, 0], abs=1e-6)
    assert gallery.evaluate(STROKES) < strokes
    assert "Hatched" not in shown["legend"]
