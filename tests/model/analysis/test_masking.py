"""Protects what masks do, what logits say of tokens, and what another order does to outputs."""

import numpy as np
import pytest
import torch

from model.analysis.masking import empty_row, future_share, largest_changes, masking_alternatives
from model.analysis.order import in_two_orders, rolled, without_bias
from model.analysis.probabilities import (
    leading_tokens,
    most_likely_other,
    next_token_losses,
    rank,
    target_probabilities,
)
from model.capture import capture
from tests.model.builders import softmax, tiny_ids, tiny_model, tiny_trace

RNG = np.random.default_rng(3)
LOGITS = RNG.normal(scale=3, size=(5, 7)).astype(np.float32)
IDS = np.array([4, 0, 6, 2, 2])


def test_a_mask_before_softmax_alone_keeps_rows_whole() -> None:
    scores, mask = RNG.normal(size=(4, 4)), np.tri(4, dtype=bool)
    found = masking_alternatives(scores, mask)
    for i in range(4):
        open_cells = np.exp(scores[i, : i + 1])
        hidden = np.exp(scores[i, i + 1 :]).sum()
        whole = open_cells.sum()
        np.testing.assert_allclose(found["before"][i, : i + 1], open_cells / whole)
        np.testing.assert_allclose(found["score_zero"][i, : i + 1], open_cells / (whole + 3 - i))
        np.testing.assert_allclose(found["after"][i, : i + 1], open_cells / (whole + hidden))
    assert (found["before"][~mask] == 0).all() and (found["after"][~mask] == 0).all()
    assert (found["score_zero"][~mask] > 0).all()


def test_the_share_of_later_tokens_is_summed_over_cells() -> None:
    pattern = np.array([[0.5, 0.25, 0.25], [0.2, 0.7, 0.1], [0.0, 0.9, 0.1]])
    assert future_share(pattern) == pytest.approx((0.25 + 0.25 + 0.1) / 3)


def test_a_row_without_an_open_cell_has_no_number_or_is_zero() -> None:
    row = empty_row(np.array([1.0, -2.0, 0.5]))
    assert np.isnan(row.plain).all()
    assert (row.ours == 0).all()


def test_losses_ranks_and_changes_are_those_of_loops() -> None:
    probs = softmax(LOGITS.astype(np.float64))
    losses = [-np.log(probs[i, IDS[i + 1]]) for i in range(4)]
    np.testing.assert_allclose(next_token_losses(LOGITS, IDS), losses)
    targets = [probs[i, token] for i, token in enumerate(IDS)]
    np.testing.assert_allclose(target_probabilities(LOGITS, IDS), targets)
    other = LOGITS[::-1].copy()
    changes = [max(abs(softmax(b.astype(float)) - p)) for b, p in zip(other, probs, strict=True)]
    np.testing.assert_allclose(largest_changes(LOGITS, other), changes)
    ties = np.array([1.0, 3.0, 3.0, 0.0])
    assert [rank(ties, i) for i in range(4)] == [2, 0, 1, 3]
    assert [most_likely_other(ties, i) for i in (0, 1, 2)] == [1, 2, 1]


def test_leading_tokens_are_those_of_either_by_the_second() -> None:
    before, after = np.array([5.0, 4.0, 0.0, 0.0]), np.array([0.0, 4.0, 0.0, 5.0])
    found = leading_tokens(before, after, 1)
    assert [token for token, *_ in found] == [3, 0]
    first, second = softmax(before), softmax(after)
    for token, was, now in found:
        assert (was, now) == pytest.approx((first[token], second[token]))


@pytest.mark.parametrize("positions", ["none", "sinusoidal"])
def test_outputs_follow_their_tokens_only_without_positions_and_mask(positions: str) -> None:
    model, order = tiny_model(position=positions), (2, 0, 3, 1)
    ids = tiny_ids(seq_len=4)[0].tolist()
    free = np.abs(np.subtract(*in_two_orders(model, ids, order, is_masked=False))).max()
    one, other = in_two_orders(model, ids, order, is_masked=True)
    np.testing.assert_allclose(one, capture(model, ids, [""] * 4).logits[3], atol=1e-5)
    exchanged = capture(model, [ids[i] for i in order], [""] * 4)
    np.testing.assert_allclose(other, exchanged.logits[2], atol=1e-5)  # where the last one stands
    assert (free < 1e-5) == (positions == "none")
    assert np.abs(one - other).max() > 1e-3
    turned = rolled(model, ids)
    assert turned is not None and (turned < 1e-5) == (positions == "none")
    assert rolled(model, [ids[0]] * 3) is None


def test_without_its_bias_a_pattern_is_that_of_queries_and_keys() -> None:
    model = tiny_model(position="alibi")
    record = tiny_trace(model).attention[1]
    q, k = (torch.from_numpy(np.array(x[2])).double() for x in (record.q, record.k))
    scores = (q @ k.T / q.shape[-1] ** 0.5).masked_fill(~torch.tensor(record.mask), -torch.inf)
    found = without_bias(record, 2)
    np.testing.assert_allclose(found, scores.softmax(dim=-1), atol=1e-6)
    assert np.abs(found - record.pattern[2]).max() > 1e-3
