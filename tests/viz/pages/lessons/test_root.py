"""Protects the lesson Why √d?: its figures are of what is drawn, the model's are the model's."""

import numpy as np
import pytest

from model.analysis.saturation import DIMENSIONS, random_products, sharpness
from model.worked_out import softmax
from tests.viz.apps import TOM, chart, lines, open_page, query_of, tables_shown
from tests.viz.builders import numbers, stories_trace

TITLE = "Why √d?"


def test_the_variance_of_products_is_the_dimension() -> None:
    app = open_page(TITLE, sentence=TOM, seed="3", root_d="256")
    assert lines(app, "error") == []
    plain, divided = (numbers(line["y"]) for line in chart(app, "variances").data[:2])
    np.testing.assert_allclose(plain / divided, DIMENSIONS)
    assert plain[-1] == pytest.approx(DIMENSIONS[-1], rel=0.5)


def test_the_head_above_is_sharper_without_the_division() -> None:
    app = open_page(TITLE, sentence=TOM, layer="2", head="4")
    record = stories_trace(TOM).attention[2]
    shown = numbers(chart(app, "root-pattern").data[0]["z"])
    open_cells = record.mask_of(4)
    np.testing.assert_allclose(shown[open_cells], record.pattern[4][open_cells], atol=1e-6)
    table = tables_shown(app)[0]["largest weight"]
    expected = sharpness(record.pattern[4]).largest
    assert float(table["as it is"]) == pytest.approx(expected, abs=1e-4)
    assert float(table["undivided"]) > float(table["as it is"])


def test_show_me_chooses_the_first_dimension_that_saturates() -> None:
    app = open_page(TITLE, sentence=TOM, seed="2")
    (link,) = [
        element.proto.body for element in app.get("html") if "hl-question" in element.proto.body
    ]
    found = [sharpness(softmax(random_products(d, 2))).largest > 0.9 for d in DIMENSIONS]
    assert f'data-with="root_d={DIMENSIONS[found.index(True)]}"' in link
    assert "seed" in query_of(app)
