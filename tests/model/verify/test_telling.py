"""Protects what independent runs say of arrows, most likely tokens and boxes."""

import numpy as np
import pytest

from model.reference import Files
from model.verify.answered import ANSWERED
from model.verify.boxed import BOXED
from model.verify.derived import Ran
from model.verify.telling import parted, rank_correlation

LOGITS = np.array([[0.0, 3.0, 1.0], [2.0, 0.0, 1.0], [5.0, 5.0, 0.0]])


def ran(logits: np.ndarray, before: Ran | None = None) -> Ran:
    """A run of three tokens, 0, 1 and 2."""
    arrays = {"output": logits, "decoder.ids": np.array([0, 1, 2])}
    return Ran(Files({}, {}), arrays, before=before)


def test_ranks_are_correlated_and_equal_ones_share_their_place() -> None:
    assert rank_correlation(np.array([1.0, 2.0, 9.0]), np.array([0.1, 5.0, 6.0])) == pytest.approx(
        1
    )
    assert rank_correlation(np.array([1.0, 2.0]), np.array([3.0, -3.0])) == pytest.approx(-1)
    tied = rank_correlation(np.array([1.0, 1.0, 2.0]), np.array([1.0, 2.0, 3.0]))
    assert tied == pytest.approx(np.corrcoef([0.5, 0.5, 2], [0, 1, 2])[0, 1])
    assert np.isnan(rank_correlation(np.ones(3), np.arange(3.0)))


def test_arrows_part_by_weight_and_effect() -> None:
    found = parted(np.array([0.5, 0.1, 0.3, 0.0, 0.9]), np.array([2.0, -1.0, 3.0, 4.0, -0.5]))
    assert np.array_equal(found["idle"], [2.0, np.nan, np.nan, np.nan, 0.5], equal_nan=True)
    assert np.array_equal(found["strong"], [np.nan, 1.0, np.nan, np.nan, np.nan], equal_nan=True)
    assert np.array_equal(found["against"], [np.nan] * 4 + [-0.5], equal_nan=True)


def test_the_most_likely_tokens_are_named_but_for_those_alike() -> None:
    own = ran(LOGITS)
    assert ANSWERED["best.ids"](own).tolist() == [1, 0, -1]
    assert ANSWERED["best.others"](own).tolist() == [-1, 0]
    assert (ANSWERED["best.agrees"](own), ANSWERED["best.first"](own)) == (1, 2)


def test_tokens_of_two_runs_stand_once() -> None:
    both = ran(LOGITS[[1, 1, 1]], before=ran(LOGITS))
    assert ANSWERED["best.both"](both, 0, 2).tolist() == [1, 2, 0]
    assert set(ANSWERED["best.both"](both, 2, 2)) == {-1}


def test_boxes_have_the_weights_of_their_tensors() -> None:
    sizes = {"embed": 12, "blocks.0.attn_norm": 4, "blocks.0.attn.q_proj": 16, "final_norm": 4}
    weights = {f"{name}.weight": np.zeros(n) for name, n in sizes.items()}
    config = {"architecture": "decoder", "norm_placement": "pre", "position": "none"}
    arrays = {"decoder.embed": np.zeros((2, 4)), "output": np.zeros((2, 3))}
    found = BOXED["boxes"](Ran(Files(config, weights), arrays), 0)
    assert found.tolist() == [
        [2, 4, 12], [2, 4, 4], [2, 4, 16], [2, 4, 0], [2, 4, 4], [2, 3, 0], [2, 3, 0],
    ]  # fmt: skip
