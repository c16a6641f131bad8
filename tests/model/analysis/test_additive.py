"""Protects additive attention: its score by hand and by torch, and what it costs."""

import numpy as np
import pytest

from model.analysis.additive import (
    additive_scores,
    drawn_weights,
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
