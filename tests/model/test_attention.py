"""Protects attention: both paths are torch's own, and dropout acts in training alone."""

import math

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from model.attention import MultiHeadAttention, fused_attention, scaled_dot_product
from model.positions import POSITIONS
from tests.model.builders import normal, randomise, tiny_config

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
    """In either precision, and with a row that may attend to nothing: its z is zero."""
    dtype = torch.float64 if has_mask else torch.float32
    sizes = (TQ, TK, TK)
    q, k, v = (normal(B, H, n, DH, seed=i).to(dtype) for i, n in enumerate(sizes))
    mask = some_mask() if has_mask else None
    bias = normal(H, TQ, TK, seed=3).to(dtype) if has_bias else None
    torch_mask = torch.zeros(H, TQ, TK, dtype=dtype) if bias is None else bias
    if mask is not None:
        mask[2] = False
        torch_mask = torch_mask.masked_fill(~mask, -math.inf)
    expected = F.scaled_dot_product_attention(q, k, v, attn_mask=torch_mask)
    z = scaled_dot_product(q, k, v, mask=mask, bias=bias)
    fused = fused_attention(q, k, v, mask=mask, bias=bias)
    torch.testing.assert_close(z, expected, atol=1e-5, rtol=0)
    torch.testing.assert_close(fused, expected, atol=1e-5, rtol=0)
    assert mask is None or (z[:, :, 2] == 0).all()


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
