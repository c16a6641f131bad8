"""Protects the checks of attention alone: they pass what is true, each fails on its own lie."""

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

from model.trace import Trace
from model.verify.check import Check, in_digits, relative_error, worst
from model.verify.records import check_records, recomputed_pattern, recomputed_scores
from tests.model.builders import GROUPED, pattern_of, tiny_model, tiny_trace, with_cell

ROW_SUMS = "each row of the pattern sums to one"
MASKED = "masked cells are exactly zero"
SCORES = "scores = scale · q·kᵀ + bias, in float64"
PATTERN = "pattern = softmax of the masked scores, in float64"
VALUES = "z = pattern·v, in float64"
FUSED = "explicit attention = torch's fused attention"

# A cell of the last layer's attention, and the checks that must notice when it lies.
LIES = {
    "q[1, 5, 3]": {SCORES, PATTERN, FUSED},
    "k[1, 2, 3]": {SCORES, PATTERN, FUSED},
    "v[1, 2, 3]": {VALUES, FUSED},
    "bias[1, 5, 2]": {SCORES, PATTERN, FUSED},
    "scores[1, 5, 2]": {SCORES},
    "scores[1, 2, 5]": {SCORES},  # a masked cell
    "pattern[1, 5, 2]": {ROW_SUMS, PATTERN, VALUES},
    "pattern[1, 2, 5]": {ROW_SUMS, MASKED, PATTERN, VALUES},
    "z[1, 5, 3]": {VALUES, FUSED},
}


@cache
def honest() -> Trace:
    """What a model with grouped heads and a bias does."""
    return tiny_trace(tiny_model(**GROUPED, position="alibi"))


def failed(address: str, change: Callable[[Any], Any]) -> set[str]:
    """Names of the checks that fail once a cell of the last layer's attention is changed."""
    lie = with_cell(honest(), f"attention.{address}", change)
    return {item.name for item in check_records(lie) if not item.passed}


def test_the_truth_passes() -> None:
    checks = check_records(honest())
    assert {item.name for item in checks} == set.union(*LIES.values())
    assert all(item.passed for item in checks)
    assert worst(checks).error < 1e-5


@pytest.mark.parametrize("added", [0.5, math.nan, math.inf], ids=str)
@pytest.mark.parametrize(("address", "expected"), LIES.items())
def test_each_lie_is_found(address: str, expected: set[str], added: float) -> None:
    """Also one that is not a number."""
    assert expected <= failed(address, lambda x: x + added)


@pytest.mark.parametrize("cell", ["2, 5", "5, 2"])
def test_another_mask_is_found(cell: str) -> None:
    hides = {MASKED} if cell == "5, 2" else set()
    assert {PATTERN, FUSED} | hides <= failed(f"mask[{cell}]", lambda x: not x)


def test_the_smallest_error_that_matters_is_found() -> None:
    assert {ROW_SUMS, PATTERN} <= failed("pattern[1, 5, 2]", lambda x: x + 1e-4)
    assert failed("pattern[1, 2, 5]", lambda x: np.float32(1e-30)) == {MASKED}


def test_pattern_and_scores_recomputed_by_a_loop() -> None:
    for record in honest().attention:
        np.testing.assert_allclose(recomputed_pattern(record), pattern_of(record), atol=1e-12)
        assert recomputed_scores(record).dtype == np.float64


def test_error_is_relative_above_one_only() -> None:
    small, large = np.array([0.1, 0.2]), np.array([1.0, -200.0])
    assert relative_error(small + 0.05, small) == pytest.approx(0.05)
    assert relative_error(large + 1.0, large) == pytest.approx(1 / 200)
    assert relative_error(small, small[:1]) == math.inf
    assert relative_error(np.array([math.nan]), np.zeros(1)) == math.inf
    assert not relative_error(np.zeros(1), np.array([math.nan])) <= 1e9


@pytest.mark.parametrize(
    ("value", "places", "expected"),
    [
        (2.0, 1, "2"),
        (0.0, 0, "0"),
        (12_345.0, 1, "12,345"),
        (1.24e-7, 1, "1.2e-07"),
        (1e-6, 0, "1e-06"),
        (2.5, 1, "2.5e+00"),
        (1e30, 1, "1.0e+30"),
        (math.inf, 1, "inf"),
        (math.nan, 1, "nan"),
    ],
)
def test_a_count_is_printed_as_one(value: float, places: int, expected: str) -> None:
    assert in_digits(value, places) == expected


@pytest.mark.parametrize(
    ("errors", "expected"),
    [
        ([1e-9, 3e-7, 2e-8], "b"),
        ([1e-9, 3e-7, 2e-6], "c"),  # failed, and larger
        ([1e-5, 3e-7, 2e-8], "a"),
    ],
)
def test_badge_shows_the_worst(errors: list[float], expected: str) -> None:
    checks = [Check(name, error, 1e-6) for name, error in zip("abc", errors, strict=True)]
    assert worst(checks).name == expected


def test_badge_shows_a_failure_before_a_larger_error_within_its_bound() -> None:
    assert worst([Check("loose", 1e-5, 1e-4), Check("exact", 1e-9, 0.0)]).name == "exact"


@pytest.mark.parametrize(
    ("error", "is_passed"), [(1e-6, True), (2e-6, False), (math.inf, False), (math.nan, False)]
)
def test_passing_means_within_the_bound(error: float, is_passed: bool) -> None:
    assert Check("any", error, 1e-6).passed is is_passed
