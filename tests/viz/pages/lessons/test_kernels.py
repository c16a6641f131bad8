"""Protects the lesson on kernels: its curves and weights are those of independent code."""

import numpy as np
import pytest

from tests.viz.apps import TOM, chart, lesson, lines, open_page, tables_shown
from tests.viz.builders import numbers, stories_trace


def test_a_query_that_reaches_nothing_is_said() -> None:
    """No point of this draw is within 0.05 of 0.5; some are within 0.5 of 0.1."""
    query = {"smoothing": "boxcar", "width": "0.05", "seed": "0"}
    app = open_page("Kernels", sentence=TOM, asked_at="0.5", **query)
    assert "there is none, since no point is within a width of 0.05." in lesson(app)
    other = open_page("Kernels", sentence=TOM, asked_at="0.1", **query | {"width": "0.5"})
    measured = chart(other, "kernel-curve").data[2]
    is_near = np.abs(numbers(measured["x"]) - 0.1) < 0.5
    answer = numbers(measured["y"])[is_near].mean()
    assert f"it is {answer:.4f}." in lesson(other)


def test_additive_counts_are_those_of_its_sizes() -> None:
    app = open_page("Kernels", sentence=TOM, scene="additive", layer="2", head="4", seed="6")
    assert lines(app, "error") == []
    n = len(stories_trace(TOM).tokens)
    exact, drawn = (
        np.nan_to_num(numbers(chart(app, f"additive-{name}").data[0]["z"]))
        for name in ("dot", "drawn")
    )
    np.testing.assert_allclose(drawn.sum(axis=1), 1, atol=1e-5)
    moved = np.abs(exact - drawn).sum(axis=1).mean() / 2
    pairs = n * (n + 1) // 2
    told = lesson(app)
    assert f"{moved:.4f} of a row’s weight sits on other keys. On" in told
    products = f"{32 * pairs:,}"
    additive = f"{2 * n * 32 * 32 + 32 * pairs:,} multiplications, {products} tanh"
    assert f"{additive} and 2,080 parameters to learn" in told
    assert f"the dot product {products} multiplications" in told


@pytest.mark.parametrize(("model", "has_bias"), [("positions-alibi", True), ("stories", False)])
@pytest.mark.parametrize("scene", ["model", "additive"])
def test_a_bias_that_one_map_goes_without_is_named(model: str, has_bias: bool, scene: str) -> None:
    app = open_page("Kernels", sentence=TOM, model=model, scene=scene)
    assert lines(app, "error") == []
    assert ("goes without the bias added to its scores" in lesson(app)) == has_bias


def test_the_houses_have_the_numbers_that_are_printed() -> None:
    """103.753 by a Gaussian kernel and 120.0 for the mean, as one source prints them."""
    app = open_page("Kernels", sentence=TOM, scene="houses")
    assert "By the Gaussian kernel 103.753 thousand; the plain mean of all five says 120.000." in (
        lesson(app)
    )
    (table,) = tables_shown(app)
    parts = [float(text) for text in table["weight · price"].values()]
    assert sum(parts) == pytest.approx(103.753, abs=1e-3)
    assert sum(float(text) for text in table["weight"].values()) == pytest.approx(1, abs=3e-4)
    heights = [np.exp(-(((70 - x) / 15) ** 2) / 2) for x in (50, 60, 80, 100, 120)]
    by_hand = np.dot(heights, [75, 95, 120, 145, 165]) / sum(heights)
    assert by_hand == pytest.approx(103.753, abs=5e-4)


def test_a_house_far_from_all_others_is_said() -> None:
    house = {"scene": "houses", "house": "140,5"}
    app = open_page("Kernels", sentence=TOM, smoothing="boxcar", **house)
    assert "By the boxcar kernel nothing, since no house is within 5 m²;" in lesson(app)
