"""Protects attention: torch's own numbers, the worked examples, and rows that mean something."""

import math

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from model.attention import (
    MultiHeadAttention,
    additive_mask,
    fused_attention,
    scaled_dot_product,
)
from model.positions import POSITIONS
from model.tap import Recorder, attach
from tests.model.builders import GROUPED, causal_rows, normal, randomise, tiny_config

B, H, TQ, TK, DH = 2, 3, 5, 7, 11


def tiny_attention(**changes: object) -> tuple[MultiHeadAttention, nn.Module]:
    """An attention layer with random weights, and its position scheme."""
    config = tiny_config(**{"position": "none"} | changes)
    return randomise(MultiHeadAttention(config)), POSITIONS[config.position](config)


def some_mask(seed: int = 5) -> Tensor:
    """A random mask in which every query sees at least one key. (Tq, Tk)."""
    return (normal(TQ, TK, seed=seed) > 0.3) | torch.eye(TQ, TK, dtype=torch.bool)


@pytest.mark.parametrize("has_mask", [False, True])
@pytest.mark.parametrize("has_bias", [False, True])
def test_both_paths_are_torchs_scaled_dot_product(has_mask: bool, has_bias: bool) -> None:
    q, k, v = normal(B, H, TQ, DH), normal(B, H, TK, DH, seed=1), normal(B, H, TK, DH, seed=2)
    mask = some_mask() if has_mask else None
    bias = normal(H, TQ, TK, seed=3) if has_bias else None
    torch_mask = torch.zeros(H, TQ, TK) if bias is None else bias
    if mask is not None:
        torch_mask = torch_mask.masked_fill(~mask, -math.inf)
    expected = F.scaled_dot_product_attention(q, k, v, attn_mask=torch_mask)
    z, pattern = scaled_dot_product(q, k, v, mask=mask, bias=bias)
    fused = fused_attention(q, k, v, mask=mask, bias=bias)
    assert pattern.shape == (B, H, TQ, TK)
    torch.testing.assert_close(z, expected, atol=1e-5, rtol=0)
    torch.testing.assert_close(fused, expected, atol=1e-5, rtol=0)


@pytest.mark.parametrize("scheme", ["none", "rope", "alibi"])
def test_grouped_heads_are_full_heads_with_repeated_weights(scheme: str) -> None:
    grouped, position = tiny_attention(**GROUPED, position=scheme)
    full, _ = tiny_attention(**GROUPED | {"n_kv_heads": 6}, position=scheme)
    weights = grouped.state_dict()
    for name in ("k_proj.weight", "k_proj.bias", "v_proj.weight", "v_proj.bias"):
        heads = weights[name].unflatten(0, (2, 6))  # 2 key heads of width 6
        weights[name] = heads.repeat_interleave(3, dim=0).flatten(0, 1)
    full.load_state_dict(weights)
    x, mask = normal(B, TK, 36), causal_rows(TK)
    expected = full(x, position, mask=mask, tap=attach(Recorder()))
    explicit = grouped(x, position, mask=mask, tap=attach(Recorder()))
    torch.testing.assert_close(explicit, expected, atol=1e-5, rtol=0)
    torch.testing.assert_close(grouped(x, position, mask=mask), expected, atol=1e-5, rtol=0)


@pytest.mark.parametrize("has_bias", [False, True])
def test_a_row_that_may_attend_to_nothing_gives_zeros(has_bias: bool) -> None:
    q, k, v = normal(B, H, TQ, DH), normal(B, H, TK, DH, seed=1), normal(B, H, TK, DH, seed=2)
    mask, bias = some_mask(), normal(H, TQ, TK) if has_bias else None
    mask[2] = False
    z, pattern = scaled_dot_product(q, k, v, mask=mask, bias=bias)
    assert torch.equal(pattern[:, :, 2], torch.zeros(B, H, TK))
    assert torch.equal(z[:, :, 2], torch.zeros(B, H, DH))
    fused = fused_attention(q, k, v, mask=mask, bias=bias)  # torch's kernel says zeros as well
    torch.testing.assert_close(fused, z, atol=1e-5, rtol=0)
    assert (pattern[:, :, 3].sum(dim=-1) - 1).abs().max() < 1e-6


def test_the_mask_of_the_formula_is_zero_or_minus_infinity() -> None:
    added = additive_mask(torch.tensor([[True, False], [True, True]]), torch.float64)
    assert added.tolist() == [[0.0, -math.inf], [0.0, 0.0]]
    assert added.dtype == torch.float64


@pytest.mark.parametrize("scale", [1.0, 0.05])
def test_both_paths_take_another_scale(scale: float) -> None:
    q, k, v = normal(B, H, TQ, DH), normal(B, H, TK, DH, seed=1), normal(B, H, TK, DH, seed=2)
    expected = (q @ k.transpose(-2, -1) * scale).softmax(dim=-1) @ v
    z, _ = scaled_dot_product(q, k, v, scale=scale)
    torch.testing.assert_close(z, expected, atol=1e-5, rtol=0)
    torch.testing.assert_close(fused_attention(q, k, v, scale=scale), expected, atol=1e-5, rtol=0)
    assert (expected - scaled_dot_product(q, k, v)[0]).abs().max() > 0.01


def test_dropout_acts_in_training_alone() -> None:
    attn, position = tiny_attention(dropout=0.5)
    plain, _ = tiny_attention()
    x = normal(B, TK, 30)
    assert torch.equal(attn(x, position), plain(x, position))
    attn.train()
    torch.manual_seed(0)
    first, second = attn(x, position), attn(x, position)
    assert not torch.allclose(first, second)
    torch.manual_seed(0)
    assert torch.equal(attn(x, position), first)
