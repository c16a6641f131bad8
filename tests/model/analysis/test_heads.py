"""Protects what is said of one head: how sharp it is, what it does most, its strongest pair."""

import math
from dataclasses import replace

import numpy as np
import pytest

from model.analysis.heads import (
    Averages,
    Role,
    measures,
    roles,
    sharpness,
    strongest_pair,
)
from model.analysis.measures import ROLES
from model.trace import AttentionRecord, Site

LOOP_MASKS = {
    "causal": np.tri(7, dtype=bool),
    "window": np.tri(7, dtype=bool) & ~np.tri(7, k=-2, dtype=bool),
    "full": np.ones((7, 7), bool),
    "padded": np.tri(7, dtype=bool) & (np.arange(7) > 1),
    "own": np.random.default_rng(3).random((3, 7, 7)) < 0.5,
}
IDS = np.array([5, 8, 5, 5, 9, 8, 2])


def record(mask: np.ndarray, shape: tuple[int, int, int], kind: str = "self") -> AttentionRecord:
    """Random weights under a mask; queries and keys are one stream unless it is cross-attention."""
    scores = 3 * np.random.default_rng(0).normal(size=shape)
    powers = np.where(mask, np.exp(scores), 0)
    totals = powers.sum(axis=-1, keepdims=True)
    pattern = np.divide(powers, totals, out=np.zeros(shape), where=totals > 0).astype(np.float32)
    q, k = np.zeros((shape[0], shape[1], 2)), np.zeros((shape[0], shape[2], 2))
    return AttentionRecord(
        site=Site("decoder", kind, 0),
        queries="a",
        keys="a" if kind == "self" else "b",
        q=q,
        k=k,
        v=k,
        scale=1.0,
        bias=None,
        mask=mask,
        scores=scores,
        pattern=pattern,
        z=q,
    )


def counted_by_hand(record: AttentionRecord, head: int, name: str) -> list[float]:
    """The value of each query that counts, one cell at a time."""
    values = []
    pattern, mask = record.pattern[head], record.mask_of(head)
    for i in range(pattern.shape[0]):
        open_keys = [j for j in range(pattern.shape[1]) if mask[i, j]]
        weights = [float(pattern[i, j]) for j in open_keys]
        sink = [] if record.sinks is None else [1 - sum(weights)]
        if name in ("broad", "sink") and len(open_keys + sink) > 1:
            terms = [p * math.log(p) for p in weights + sink if p > 0]
            values += sink if name == "sink" else [-sum(terms) / math.log(len(weights + sink))]
        if name in ("broad", "sink") or len(open_keys) < 2:
            continue
        wanted = {
            "previous": [j for j in open_keys if j == i - 1],
            "next": [j for j in open_keys if j == i + 1],
            "induction": [j for j in open_keys if 0 < j < i and IDS[j - 1] == IDS[i]],
            "first": [j for j in open_keys if j == 0 and i > 0],
            "self": [j for j in open_keys if j == i],
            "same": [j for j in open_keys if j < i and IDS[j] == IDS[i]],
        }[name]
        if wanted:
            values.append(sum(float(pattern[i, j]) for j in wanted))
    return values


def test_sharpness_by_hand() -> None:
    """The first row left out, the mean of the rows' largest weights."""
    patterns = np.array(
        [
            [[1, 0, 0], [1, 0, 0], [0, 1, 0]],
            [[1, 0, 0], [0.5, 0.5, 0], [0.25, 0.25, 0.5]],
            [[1, 0, 0], [0.25, 0.75, 0], [0.5, 0.25, 0.25]],
        ]
    )
    assert sharpness(patterns).tolist() == [1, 0.5, 0.625]
    assert sharpness(patterns[None]).shape == (1, 3)
    assert sharpness(np.ones((2, 1, 1))).tolist() == [1, 1], "a single token has no choice"


@pytest.mark.parametrize(
    ("pattern", "pair"),
    [
        ([[1, 0, 0], [0.9, 0.1, 0], [0.5, 0.2, 0.3]], (2, 1)),  # neither the sink nor itself
        ([[1, 0, 0], [1, 0, 0], [1, 0, 0]], (0, 0)),  # nothing but the sink
        ([[1, 0], [0.2, 0.8]], (0, 0)),  # only sink and itself: the largest of all
        ([[1]], (0, 0)),
        ([[0.1, 0.2, 0.7], [0.1, 0.6, 0.3]], (0, 2)),  # more keys than queries
    ],
)
def test_strongest_pair(pattern: list[list[float]], pair: tuple[int, int]) -> None:
    array = np.array(pattern)
    array.flags.writeable = False
    assert strongest_pair(array) == pair


@pytest.mark.parametrize("has_sinks", [False, True])
@pytest.mark.parametrize("name", LOOP_MASKS)
def test_measures_are_what_a_plain_loop_finds(name: str, has_sinks: bool) -> None:
    given = record(LOOP_MASKS[name], (3, 7, 7))
    if has_sinks:  # which take a tenth, a half and nearly all
        pattern = given.pattern * np.float32([0.9, 0.5, 0.02])[:, None, None]
        given = replace(given, sinks=np.zeros(3), pattern=pattern)
    found = measures(given, IDS)
    assert set(found) == set(ROLES) - (set() if has_sinks else {"sink"})
    for measure, averages in found.items():
        for head in range(3):
            values = counted_by_hand(given, head, measure)
            assert averages.n_queries[head] == len(values), measure
            expected = sum(values) / len(values) if values else math.nan
            assert averages.values[head] == pytest.approx(expected, abs=1e-6, nan_ok=True), measure


def test_a_row_without_choice_does_not_count() -> None:
    alone = measures(record(np.ones((1, 1), bool), (2, 1, 1)), IDS[:1])
    assert all(np.isnan(averages.values).all() for averages in alone.values())
    assert roles(alone) == [None, None]


def test_between_two_streams_there_is_no_self_and_no_sink() -> None:
    """Square or not: the diagonal and the first key are keys as all others."""
    for shape in ((2, 5, 7), (2, 7, 7), (2, 7, 5)):
        given = record(np.ones(shape[1:], bool), shape, "cross")
        assert set(measures(given, IDS)) == {"broad"}
        for head in range(2):
            values = counted_by_hand(given, head, "broad")
            assert measures(given)["broad"].values[head] == pytest.approx(np.mean(values))


def test_a_head_is_named_by_the_largest_measure_that_reaches_its_bound() -> None:
    def averages(*values: float) -> Averages:
        return Averages(np.array(values), np.full(len(values), 4))

    found = {
        "broad": averages(0.79, 0.81, 0.5, np.nan),
        "previous": averages(0.33, 0.5, 0.5, np.nan),
        "self": averages(0.1, 0.1, 0.5, np.nan),
    }
    expected = [None, Role("broad", 0.81, 4), Role("previous", 0.5, 4), None]
    assert roles(found) == expected
