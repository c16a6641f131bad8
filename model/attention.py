"""Scaled dot-product attention as free functions, and the module that holds its weights."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from model.capture import NO_RECORDER, Recorder
from model.config import ModelConfig
from model.kv_cache import LayerCache
from model.positions import Position


def attention_scores(q: Tensor, k: Tensor, bias: Tensor | None = None) -> Tensor:
    """q·kᵀ / √Dh + bias, before the mask (Vaswani et al. 2017, §3.2.1).

    q: (B, H, Tq, Dh), k: (B, H, Tk, Dh), bias: broadcastable to (B, H, Tq, Tk).
    Returns (B, H, Tq, Tk).
    """
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])  # (B, H, Tq, Tk)
    return scores if bias is None else scores + bias


def additive_mask(mask: Tensor, dtype: torch.dtype) -> Tensor:
    """The M of the formula: 0 where a query may attend, −inf where it may not. Same shape."""
    return torch.zeros(mask.shape, dtype=dtype, device=mask.device).masked_fill_(~mask, -math.inf)


def attention_pattern(scores: Tensor, mask: Tensor | None = None) -> Tensor:
    """Softmax of each row over the keys it may attend to; a row that may see nothing gives zeros.

    scores: (B, H, Tq, Tk), mask: bool, True = may attend, broadcastable to it.
    Returns (B, H, Tq, Tk); masked cells are exactly zero.
    """
    if mask is None:
        return scores.softmax(dim=-1)
    pattern = (scores + additive_mask(mask, scores.dtype)).softmax(dim=-1)
    # A row of −inf alone is 0/0 in softmax; the contract says zeros.
    return pattern if mask.any(dim=-1).all() else pattern.masked_fill(~mask, 0.0)


def scaled_dot_product(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    mask: Tensor | None = None,
    bias: Tensor | None = None,
    recorder: Recorder = NO_RECORDER,
) -> tuple[Tensor, Tensor]:
    """softmax(q·kᵀ/√Dh + bias, masked) · v, step by step (Vaswani et al. 2017, eq. 1).

    q: (B, H, Tq, Dh), k and v: (B, H, Tk, Dh), mask and bias broadcastable to (B, H, Tq, Tk).
    Returns z (B, H, Tq, Dh) and pattern (B, H, Tq, Tk).
    """
    scores = attention_scores(q, k, bias)  # (B, H, Tq, Tk)
    pattern = attention_pattern(scores, mask)  # (B, H, Tq, Tk)
    z = pattern @ v  # (B, H, Tq, Dh)
    recorder(scores=scores, pattern=pattern, z=z)
    return z, pattern


def fused_attention(
    q: Tensor, k: Tensor, v: Tensor, *, mask: Tensor | None = None, bias: Tensor | None = None
) -> Tensor:
    """The same z by torch's fused kernel, which keeps no pattern. Shapes as above."""
    added = None if mask is None else additive_mask(mask, q.dtype)
    if bias is not None:
        added = bias.to(q.dtype) if added is None else bias.to(q.dtype) + added
    return F.scaled_dot_product_attention(q, k, v, attn_mask=added)


def share_kv_heads(x: Tensor, n_heads: int) -> Tensor:
    """Let each group of query heads read its shared key or value head (Ainslie et al. 2023).

    x: (B, n_kv_heads, T, Dh). Returns (B, n_heads, T, Dh): query head h reads head
    h // (n_heads / n_kv_heads).
    """
    group = n_heads // x.shape[1]
    return x if group == 1 else x.repeat_interleave(group, dim=1)


class MultiHeadAttention(nn.Module):
    """Several attentions side by side on slices of d_model (Vaswani et al. 2017, §3.2.2)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.n_heads, self.n_kv_heads = config.n_heads, config.n_kv_heads
        d_kv = config.n_kv_heads * config.d_head
        self.q_proj = nn.Linear(config.d_model, config.d_model, bias=config.bias)
        self.k_proj = nn.Linear(config.d_model, d_kv, bias=config.bias)
        self.v_proj = nn.Linear(config.d_model, d_kv, bias=config.bias)
        self.out_proj = nn.Linear(config.d_model, config.d_model, bias=config.bias)

    def forward(
        self,
        x: Tensor,
        position: Position,
        *,
        mask: Tensor | None = None,
        recorder: Recorder = NO_RECORDER,
        cache: LayerCache | None = None,
    ) -> Tensor:
        """x: (B, Tq, D), mask: broadcastable to (B, H, Tq, Tk). Returns (B, Tq, D).

        Tk is Tq and the tokens in the cache, which x comes behind and whose keys and values it
        joins; without a cache Tk = Tq.
        """
        start = 0 if cache is None else cache.length
        key_positions = torch.arange(start + x.shape[1], device=x.device)  # (Tk,)
        positions = key_positions[start:]  # (Tq,)
        q, k, v = self.project(x, position, positions)
        if cache is not None:
            k, v = cache.append(k, v)  # (B, n_kv_heads, Tk, Dh) each
        bias = position.bias(positions, key_positions)  # (H, Tq, Tk) or None
        recorder(q=q, k=k, v=v, mask=mask, bias=bias)
        keys, values = share_kv_heads(k, self.n_heads), share_kv_heads(v, self.n_heads)
        if recorder.active:
            z, _ = scaled_dot_product(q, keys, values, mask=mask, bias=bias, recorder=recorder)
        else:
            z = fused_attention(q, keys, values, mask=mask, bias=bias)
        return self.out_proj(merge_heads(z))

    def project(
        self, x: Tensor, position: Position, positions: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Queries (B, H, T, Dh), keys and values (B, n_kv_heads, T, Dh), as they enter the product.

        x: (B, T, D), positions: (T,).
        """
        q = position.rotate(split_heads(self.q_proj(x), self.n_heads), positions)
        k = position.rotate(split_heads(self.k_proj(x), self.n_kv_heads), positions)
        return q, k, split_heads(self.v_proj(x), self.n_kv_heads)


def split_heads(x: Tensor, n_heads: int) -> Tensor:
    """(B, T, H·Dh) → (B, H, T, Dh)."""
    return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)


def merge_heads(z: Tensor) -> Tensor:
    """(B, H, T, Dh) → (B, T, H·Dh)."""
    return z.transpose(1, 2).flatten(-2)
