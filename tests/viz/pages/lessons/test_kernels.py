"""Protects the lesson on kernels: its curves and weights are those of independent code."""

import numpy as np
import pytest

from tests.viz.apps import TOM, captions, chart, facts, lines, open_page, tables_shown
from tests.viz.builders import numbers, stories_trace


def test_a_query_that_reaches_nothing_is_said() -> None:
    """No point of this draw is within 0.05 of 0.5; some are of 0.1."""
    query = {"smoothing": "boxcar", "width": "0.05", "seed": "0"}
    app = open_page("Kernels", sentence=TOM, asked_at="0.5", **query)
    assert lines(app, "note") == ["No point is within a width of 0.05 of x: nothing to answer."]
    assert not any("the answer is" in line for line in captions(app))
    other = open_page("Kernels", sentence=TOM, asked_at="0.1", **query | {"width": "0.5"})
    assert any("the answer is" in line for line in captions(other))


def test_additive_counts_are_those_of_its_sizes() -> None:
    app = open_page("Kernels", sentence=TOM, kernels="additive", layer="2", head="4", seed="6")
    assert lines(app, "error") == []
    n = len(stories_trace(TOM).tokens)
    drawn = numbers(chart(app, "additive-drawn").data[0]["z"])
    np.testing.assert_allclose(np.nansum(drawn, axis=1), 1, atol=1e-5)
    table, pairs = tables_shown(app)[-1], n * (n + 1) // 2
    assert table["parameters"] == {"scaled dot product": "0", "additive": "2,080"}
    assert table["tanh"]["additive"] == f"{32 * pairs:,}"
    assert table["multiplications"]["additive"] == f"{2 * n * 32 * 32 + 32 * pairs:,}"


@pytest.mark.parametrize(("model", "has_bias"), [("positions-alibi", True), ("stories", False)])
@pytest.mark.parametrize("shown", ["model", "additive"])
def test_a_bias_that_one_map_goes_without_is_named(model: str, has_bias: bool, shown: str) -> None:
    app = open_page("Kernels", sentence=TOM, model=model, kernels=shown)
    assert lines(app, "error") == []
    named = ["the bias added to its scores" in line for line in lines(app, "aside")]
    assert sum(named) == has_bias


def test_the_houses_have_the_numbers_that_are_printed() -> None:
    """103.753 by a Gaussian kernel and 120.0 for the mean, as one source prints them."""
    app = open_page("Kernels", sentence=TOM, kernels="houses")
    assert facts(app) == {
        "thousand: 70 m² by a Gaussian kernel": "103.753",
        "thousand: 70 m² by a constant kernel": "120.000",
    }
    table = next(table for table in tables_shown(app) if "weight · price" in table)
    parts = [float(text) for text in table["weight · price"].values()]
    assert sum(parts) == pytest.approx(103.753, abs=1e-3)
    assert sum(float(text) for text in table["weight"].values()) == pytest.approx(1, abs=3e-4)
    heights = [np.exp(-(((70 - x) / 15) ** 2) / 2) for x in (50, 60, 80, 100, 120)]
    by_hand = np.dot(heights, [75, 95, 120, 145, 165]) / sum(heights)
    assert by_hand == pytest.approx(103.753, abs=5e-4)


def test_a_house_far_from_all_others_is_said() -> None:
    house = {"kernels": "houses", "house_size": "140", "house_width": "5"}
    app = open_page("Kernels", sentence=TOM, smoothing="boxcar", **house)
    assert "No house is within 5 m² of 140: nothing to answer." in lines(app, "note")
    assert list(facts(app)) == ["thousand: 140 m² by a constant kernel"]
