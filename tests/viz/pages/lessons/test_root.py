"""Protects the lesson Why √d?: its figures are of what is drawn, the model's are the model's."""

from pathlib import Path

import numpy as np
import pytest

from model.analysis.saturation import DIMENSIONS, random_products, sharpness
from model.worked_out import softmax
from tests.model.builders import SENTENCE, tiny_checkpoint
from tests.viz.apps import TOM, chart, lesson, lines, open_page
from tests.viz.builders import numbers, stories_trace

TITLE = "Why √d?"


def test_the_variance_of_products_is_the_dimension() -> None:
    app = open_page(TITLE, sentence=TOM, seed="3")
    assert lines(app, "error") == []
    plain, divided = (numbers(line["y"]) for line in chart(app, "variances").data[:2])
    np.testing.assert_allclose(plain / divided, DIMENSIONS)
    assert plain[-1] == pytest.approx(DIMENSIONS[-1], rel=0.5)
    assert f"{plain[-1]:.0f} at d = 4,096" in lesson(app)


def test_the_head_above_is_sharper_without_the_division() -> None:
    app = open_page(TITLE, sentence=TOM, layer="2", head="4", scene="model")
    record = stories_trace(TOM).attention[2]
    shown = numbers(chart(app, "root-as-it-is").data[0]["z"])
    open_cells = record.mask_of(4)
    np.testing.assert_allclose(shown[open_cells], record.pattern[4][open_cells], atol=1e-6)
    scores = np.where(open_cells, record.scores[4] * 32**0.5, -np.inf).astype(float)
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    sharper = (weights / weights.sum(axis=1, keepdims=True)).max(axis=1).mean()
    before = record.pattern[4].max(axis=1).mean()
    assert "L2 H4 divides by √32. " in lesson(app)
    assert f"goes from {before:.2f} to {sharper:.2f} on average" in lesson(app)


def test_a_head_of_one_column_has_nothing_to_divide(shelf: Path) -> None:
    tiny_checkpoint(shelf / "tiny", d_model=4, n_heads=4, n_kv_heads=4, d_ff=4)
    app = open_page(TITLE, sentence=SENTENCE, scene="model", layer="1", head="2")
    assert lesson(app) == "L1 H2 divides by √1. "


def test_show_me_chooses_the_first_dimension_that_saturates() -> None:
    app = open_page(TITLE, sentence=TOM, seed="2", scene="largest")
    found = [sharpness(softmax(random_products(d, 2))).largest > 0.9 for d in DIMENSIONS]
    answer = DIMENSIONS[found.index(True)]
    (body,) = (x.proto.body for x in app.get("html") if '"hl-tour"' in x.proto.body)
    assert f"scene=query&amp;root_d={answer}" in body
