"""Protects additive attention: its score by hand and by torch, and what it costs."""

import numpy as np
import pytest

from model.analysis.additive import (
    additive_scores,
    drawn_weights,
    n_multiplications,
    n_parameters,
)


def test_scores_are_those_of_a_network_in_torch() -> None:
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(2)
    q, k = rng.standard_normal((5, 7)), rng.standard_normal((3, 7))
    drawn = drawn_weights(7, 4)
    both = [[np.concatenate([query, key]) for key in k] for query in q]
    first = np.concatenate([drawn.of_queries, drawn.of_keys], axis=1)  # (h, 2 Dh)
    hidden = torch.tanh(
        torch.nn.functional.linear(torch.tensor(np.array(both)), torch.tensor(first))
    )
    expected = (hidden @ torch.tensor(drawn.v)).numpy()
    np.testing.assert_allclose(additive_scores(q, k, drawn), expected, atol=1e-12)


def test_the_same_seed_draws_the_same() -> None:
    assert all(
        (a == b).all() for a, b in zip(drawn_weights(4, 1), drawn_weights(4, 1), strict=True)
    )
    assert (drawn_weights(4, 1).v != drawn_weights(4, 2).v).any()


def test_counts_by_hand() -> None:
    """Two 3 x 3 matrices and 3 more; 5 tokens with 15 pairs: 2 * 5 * 9 + 15 * 3."""
    drawn = drawn_weights(3, 0)
    assert n_parameters(drawn) == 21
    assert n_multiplications(5, 15, drawn) == 135
