"""Protects the further measures of heads, each against a loop over single cells."""

import math
from dataclasses import replace

import numpy as np
import pytest

from model.analysis.heads import (
    Averages,
    every_measure,
    largest_weight,
    pooled,
    strongest_arrow,
    traits,
)
from model.analysis.measures import OF_RUN
from model.trace import AttentionRecord
from tests.model.analysis.test_heads import IDS, LOOP_MASKS, record

NORMS = np.random.default_rng(5).random((3, 7)).astype(np.float32) + 0.1


def others_of(mask: np.ndarray) -> np.ndarray:
    """Patterns of the same places with other words."""
    weights = np.random.default_rng(9).random((3, 7, 7)) * mask
    return weights / np.maximum(weights.sum(axis=-1, keepdims=True), 1e-9)


def by_hand(given: AttentionRecord, others: np.ndarray, head: int, name: str) -> list[float]:
    """The value of each query that counts, one cell at a time."""
    values = []
    p, mask = given.pattern[head].astype(float), given.mask_of(head)
    for i in range(7):
        keys = [j for j in range(7) if mask[i, j]]
        sink = [] if given.sinks is None else [1 - sum(p[i])]
        if len(keys + (sink if name == "entropy" else [])) < 2:
            continue
        near = [j for j in keys if j != i and i - 4 <= j <= i + 4]
        if name == "near" and not near:
            continue
        even = sum(float(NORMS[head, j]) for j in keys) / len(keys)
        values.append(
            {
                "near": lambda near=near, i=i: sum(p[i, j] for j in near),
                "entropy": lambda i=i, sink=sink: (
                    -sum(x * math.log2(x) for x in [*p[i], *sink] if x > 0)
                ),
                "largest": lambda i=i: max(p[i]),
                "distance": lambda i=i: sum(p[i, j] * abs(i - j) for j in range(7)),
                "kept": lambda i=i: sum(min(p[i, j], others[head, i, j]) for j in range(7)),
                "moved": lambda i=i, even=even: (
                    sum(p[i, j] * float(NORMS[head, j]) for j in range(7)) / even
                ),
            }[name]()
        )
    return values


@pytest.mark.parametrize("has_sinks", [False, True])
@pytest.mark.parametrize("name", LOOP_MASKS)
def test_each_is_what_a_plain_loop_finds(name: str, has_sinks: bool) -> None:
    given = record(LOOP_MASKS[name], (3, 7, 7))
    if has_sinks:
        given = replace(given, sinks=np.zeros(3), pattern=given.pattern * np.float32(0.7))
    others = others_of(given.mask)
    found = every_measure(given, IDS, others, NORMS)
    assert set(found) == set(OF_RUN) - (set() if has_sinks else {"sink"})
    for measure in ("near", "entropy", "largest", "distance", "kept", "moved"):
        for head in range(3):
            values = by_hand(given, others, head, measure)
            assert found[measure].n_queries[head] == len(values), measure
            expected = sum(values) / len(values) if values else math.nan
            assert found[measure].values[head] == pytest.approx(expected, abs=1e-5, nan_ok=True)


def test_what_is_not_given_is_not_measured() -> None:
    given = record(np.tri(7, dtype=bool), (3, 7, 7))
    assert not {"kept", "moved", "same"} & set(every_measure(given, None, None, None))
    cross = record(np.ones((5, 7), bool), (3, 5, 7), "cross")
    assert set(every_measure(cross, IDS, None, NORMS)) == {"broad", "entropy", "largest", "moved"}


def test_the_strongest_arrow_is_the_largest_weight_times_norm() -> None:
    given = record(np.tri(7, dtype=bool), (3, 7, 7))
    found = strongest_arrow(given.pattern, NORMS, given.mask)
    for head in range(3):
        cells = {
            (i, j): float(given.pattern[head, i, j] * NORMS[head, j])
            for i in range(1, 7)  # the first has no choice
            for j in range(7)
        }
        best = max(cells, key=cells.__getitem__)
        assert (found.queries[head], found.keys[head]) == best
        assert found.norms[head] == pytest.approx(cells[best])


def test_pooled_averages_weigh_by_queries() -> None:
    nan = math.nan
    first = Averages(np.array([1.0, nan, nan]), np.array([3, 0, 0]))
    second = Averages(np.array([0.0, 0.5, nan]), np.array([1, 2, 0]))
    found = pooled([first, second])
    assert found.values.tolist() == pytest.approx([0.75, 0.5, nan], nan_ok=True)
    assert found.n_queries.tolist() == [4, 2, 0]


def test_words_are_those_whose_bounds_are_reached() -> None:
    def averages(*values: float) -> Averages:
        return Averages(np.array(values), np.full(len(values), 4))

    found = {
        "previous": averages(0.34, 0.33, math.nan),
        "near": averages(0.5, 0.49, 0.9),
        "copying": averages(0.5, -0.5, 0.0),
        "moved": averages(0.51, 0.5, 2.0),
    }
    named = [[(trait.measure, trait.is_small) for trait in head] for head in traits(found)]
    assert named == [
        [("previous", False), ("near", False), ("copying", False)],
        [("moved", True), ("copying", True)],
        [("near", False)],
    ]


def test_a_largest_weight_needs_a_choice() -> None:
    found = largest_weight(np.ones((2, 1, 1)), np.ones((1, 1), bool))
    assert np.isnan(found.values).all()
