"""Protects the lesson on several heads: W_O as a sum, ranks, likeness, parameters."""

import math

import numpy as np
import pytest

from model.analysis.several import (
    alike,
    contributions,
    effective_rank,
    most_alike,
    spectra,
    weights_of,
)
from tests.model.builders import GROUPED, tiny_model, tiny_trace

torch = pytest.importorskip("torch")


@pytest.mark.parametrize("changes", [{"bias": False}, {"bias": True}, GROUPED])
def test_what_the_heads_write_adds_up_to_what_the_layer_writes(changes: dict) -> None:
    model = tiny_model(**changes)
    trace = tiny_trace(model)
    for layer, record in enumerate(trace.attention):
        written = contributions(record, weights_of(model, record.site)).sum(axis=0)
        bias = model.blocks[layer].attn.out_proj.bias
        whole = written + (0 if bias is None else bias.double().numpy())
        np.testing.assert_allclose(whole, trace.residuals[layer].attn_out, atol=1e-5)


@pytest.mark.parametrize("changes", [{}, GROUPED])
def test_singular_values_are_those_of_the_whole_matrix(changes: dict) -> None:
    model = tiny_model(**changes)
    record = tiny_trace(model).attention[1]
    weights = weights_of(model, record.site)
    assert weights.values is not None
    found = spectra(*weights)
    for head in range(record.n_heads):
        product = torch.tensor(weights.values[head]).T @ torch.tensor(weights.outputs[head])
        expected = torch.linalg.svdvals(product)
        d_head = record.q.shape[-1]
        np.testing.assert_allclose(found[head], expected[:d_head], rtol=1e-9, atol=1e-12)
        assert float(expected[d_head]) < 1e-9, "its rank is at most the head's width"


def test_heads_that_share_values_have_the_same_ones() -> None:
    model = tiny_model(**GROUPED)
    values, outputs = weights_of(model, tiny_trace(model).attention[0].site)
    assert values is not None
    assert (values[0] == values[2]).all()
    assert (values[0] != values[3]).any()
    assert (outputs[0] != outputs[1]).any()


def test_effective_ranks_by_hand() -> None:
    """Equal values count in full; shares of 1/2, 1/4 and 1/4 are exp(1.5 ln 2) = 2.83."""
    values = np.array([[3.0, 3.0, 3.0], [7.0, 0.0, 0.0], [2.0, 1.0, 1.0], [0.0, 0.0, 0.0]])
    assert effective_rank(values) == pytest.approx([3, 1, 2**1.5, 1])


def test_likeness_of_patterns() -> None:
    one, other = np.eye(3), np.full((3, 3), 1 / 3)
    found = alike(np.stack([one, other, 2 * one]))
    assert found[0] == pytest.approx([1, 1 / math.sqrt(3), 1])
    assert most_alike(np.stack([[other, one], [one, one]])) == (1, 0, 1)
    with pytest.raises(ValueError, match="no two to compare"):
        most_alike(np.stack([[one]]))
