"""Protects numbers that are estimated first: their order, their batches, what is pointed at."""

from collections.abc import Sequence

import numpy as np
import pytest
import torch

from model.adopted.adopt import adopt
from model.analysis import exact
from model.analysis.ablation import (
    Targets,
    estimated_costs,
    every_head,
    every_sublayer,
    sizes_of,
)
from model.analysis.branching import Branches
from model.analysis.exact import Filling, ranks, spearman
from model.analysis.interventions import run_rows
from model.tap import Edit, set_at
from tests.model.adopted.families import build, given
from tests.model.builders import tiny_model

ESTIMATE = np.array([1.0, -6.0, 2.0, 5.0, np.nan, -3.0, 4.0])
PLACES = "abababa"
IDS = [3, 1, 4, 1, 5, 9, 2]
TARGETS = Targets(np.arange(6), np.array(IDS[1:]), "next token")
ALL = slice(None)


def made(at_once: int = 2, base: float = 0.0) -> tuple[Filling, list[list[int]]]:
    """A filling whose exact values are ten times the numbers of the cells, and its batches."""
    batches: list[list[int]] = []

    def compute(cells: Sequence[int]) -> np.ndarray:
        batches.append(list(cells))
        return 10.0 * np.array(cells)

    return Filling(ESTIMATE, PLACES, compute, at_once, base), batches


def test_the_largest_come_first_with_others_of_their_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(exact, "SOON", 1e9)  # else a slow machine makes smaller batches
    filling, batches = made()
    assert np.isnan(filling.seconds_left) and np.isnan(filling.exact).all()
    np.testing.assert_array_equal(filling.values, ESTIMATE)
    shares, known = [], []
    while filling.is_running:
        filling.advance(0)
        shares.append(filling.n_done)
        known.append(not np.isnan(filling.seconds_left))
    assert known == [False, False, True, True], "of two batches there is no usual pace"
    assert batches == [[1, 3], [6, 2], [5], [0, 4]], "never one twice, what has no estimate last"
    assert (shares, filling.progress, filling.is_done) == ([2, 4, 5, 7], 1.0, True)
    assert filling.seconds_left == 0
    np.testing.assert_array_equal(filling.values, 10.0 * np.arange(7))
    order = [0, 1, 2, 3, 5, 6]
    assert filling.correlation == spearman(ESTIMATE[order], filling.exact[order])
    filling, batches = made(base=-6.0)
    filling.advance(0)
    assert batches == [[3, 5]], "the largest is what differs most from the base"


def test_a_cell_that_is_pointed_at_is_computed_at_once_and_once() -> None:
    filling, batches = made()
    filling.advance(0)
    filling.is_running = False
    filling.advance(1e9)
    for _ in range(2):
        filling.point(4)
    assert batches == [[1, 3], [4]]
    assert (filling.exact[4], filling.n_done) == (40.0, 3)
    filling.is_running = True
    filling.advance(1e9)
    assert sorted(cell for batch in batches for cell in batch) == list(range(7))


def test_a_value_that_is_no_number_is_not_computed_for_ever() -> None:
    filling = Filling(ESTIMATE, PLACES, lambda cells: np.full(len(cells), np.nan), 9)
    filling.advance(1e9)
    assert filling.is_done and np.isnan(filling.correlation)


def test_rank_correlation_by_hand() -> None:
    assert ranks(np.array([3.0, 1.0, 3.0, 2.0])).tolist() == [2.5, 0.0, 2.5, 1.0]
    first, second = np.array([1, 2, 3, 4, 5]), np.array([2, 1, 4, 3, 5])
    assert spearman(first, second) == pytest.approx(1 - 6 * 4 / (5 * 24))
    assert spearman(first, -second) == pytest.approx(-(1 - 6 * 4 / (5 * 24)))
    assert np.isnan(spearman(first, np.ones(5)))


def test_the_estimated_cost_of_a_part_is_the_slope_towards_its_absence() -> None:
    """By central differences in float64 along (1 + ε) · value, part by part."""
    model, step = tiny_model().double(), 1e-4
    parts = [x for y in (every_head, every_sublayer) for x in y(sizes_of(model, {"decoder": 7}))]
    for part, found in zip(parts, estimated_costs(model, IDS, parts, TARGETS), strict=True):

        def longer(by: float, index: tuple = part.index) -> object:
            def change(value: torch.Tensor) -> torch.Tensor:
                changed = value.clone()
                changed[ALL, *index] *= 1 + by
                return changed

            return change

        rows = [[Edit(part.address, longer(by))] for by in (-step, step)]
        less, more = TARGETS.losses(run_rows(model, IDS, rows)).mean(axis=-1)
        assert found == pytest.approx((less - more) / (2 * step), abs=1e-6), part.text


@pytest.mark.parametrize("family", ["gpt2", "gemma3", "gpt_neox", "gpt_oss", "bert"])
def test_what_stands_before_a_change_is_left_out_and_the_rest_is_the_same(family: str) -> None:
    model, ids = adopt(build(family)), given(family)["input_ids"][0].tolist()
    assert model.is_chain
    changes = [((1,), 0.0), ((0,), 0.5), ((), 0.0)]
    branches, ran = Branches(model, ids, 4), []
    first = model.anatomy.attended[0][1].module
    first.register_forward_hook(lambda *_: ran.append(1))
    for block in model.anatomy.blocks:
        addresses = [f"{block.address}.{name}" for name in ("attn.z", "attn.z", "ffn_out")]
        rows = [
            [set_at(address, (ALL, *index), to)]
            for address, (index, to) in zip(addresses, changes, strict=True)
        ]
        whole = run_rows(model, ids, rows)[:, 4]
        ran.clear()
        found = branches.logits(addresses, changes)
        torch.testing.assert_close(found, whole, atol=1e-5, rtol=1e-5)
    assert not ran, "the first block does not run for a change in the last"


def test_the_rest_takes_as_long_as_most_batches_of_late(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first one is slow: a model runs for the first time."""
    clock = iter([0.0, 90.0, 90.0, 91.0, 91.0, 92.0, 92.0, 93.0])
    monkeypatch.setattr(exact, "SOON", 1e9)
    monkeypatch.setattr(exact.time, "monotonic", lambda: next(clock))
    filling, _ = made(at_once=1)
    for _ in range(3):
        filling.go_on()
    assert filling.seconds_left == 4 * 1.0
    filling.go_on()
    assert filling.seconds_left == 3 * 1.0
