"""Scaled dot-product attention as free functions, and the module that holds its weights."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from model.config import BlockConfig
from model.kv_cache import KeysAndValues
from model.positions import Position
from model.tap import NO_TAP, Tap


def attention_scores(
    q: Tensor, k: Tensor, bias: Tensor | None = None, scale: float | None = None
) -> Tensor:
    """scale · q·kᵀ + bias, before the mask; by default scale = 1/√Dh (Vaswani et al. 2017, §3.2.1).

    q: (B, H, Tq, Dh), k: (B, H, Tk, Dh), bias: broadcastable to (B, H, Tq, Tk).
    Returns (B, H, Tq, Tk).
    """
    products = q @ k.transpose(-2, -1)  # (B, H, Tq, Tk)
    # Scaled after the product, in place: exact as q·kᵀ is, and no second large array.
    scores = products.div_(math.sqrt(q.shape[-1])) if scale is None else products.mul_(scale)
    return scores if bias is None else scores + bias


def additive_mask(mask: Tensor, dtype: torch.dtype) -> Tensor:
    """The M of the formula: 0 where a query may attend, −inf where it may not. Same shape."""
    return torch.zeros(mask.shape, dtype=dtype, device=mask.device).masked_fill_(~mask, -math.inf)


def attention_pattern(scores: Tensor, mask: Tensor | None = None) -> Tensor:
    """Softmax of each row over the keys it may attend to; a row with none gives zeros.

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
    tap: Tap = NO_TAP,
) -> Tensor:
    """softmax(q·kᵀ / √Dh + bias, masked) · v, step by step (Vaswani et al. 2017, eq. 1).

    q: (B, H, Tq, Dh), k and v: (B, H, Tk, Dh), mask and bias broadcastable to (B, H, Tq, Tk).
    Scores and pattern go through the tap. Returns z (B, H, Tq, Dh).
    """
    scores = tap("scores", attention_scores(q, k, bias))  # (B, H, Tq, Tk)
    pattern = tap("pattern", attention_pattern(scores, mask))  # (B, H, Tq, Tk)
    return pattern @ v


def fused_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    mask: Tensor | None = None,
    bias: Tensor | None = None,
    scale: float | None = None,
    dropout: float = 0.0,
) -> Tensor:
    """The same z by torch's fused kernel, which keeps no pattern. Shapes as above.

    `dropout` is the share of weights that are put to zero, in training.
    """
    added = None if mask is None else additive_mask(mask, q.dtype)
    if bias is not None:
        added = bias.to(q.dtype) if added is None else bias.to(q.dtype) + added
    return F.scaled_dot_product_attention(q, k, v, attn_mask=added, scale=scale, dropout_p=dropout)


def share_kv_heads(x: Tensor, n_heads: int) -> Tensor:
    """Let each group of query heads read its shared key or value head (Ainslie et al. 2023).

    x: (B, n_kv_heads, T, Dh). Returns (B, n_heads, T, Dh): query head h reads head
    h // (n_heads / n_kv_heads).
    """
    group = n_heads // x.shape[1]
    return x if group == 1 else x.repeat_interleave(group, dim=1)


class MultiHeadAttention(nn.Module):
    """Several attentions side by side on slices of q, k, v (Vaswani et al. 2017, §3.2.2)."""

    def __init__(self, config: BlockConfig) -> None:
        super().__init__()
        self.n_heads, self.n_kv_heads = config.n_heads, config.n_kv_heads
        self.dropout = config.attention_dropout
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
        source: Tensor | None = None,
        mask: Tensor | None = None,
        tap: Tap = NO_TAP,
        cache: KeysAndValues | None = None,
    ) -> Tensor:
        """x: (B, Tq, D), mask: broadcastable to (B, H, Tq, Tk). Returns (B, Tq, D).

        Keys and values are of x itself, after those in the cache, so that Tk counts both; or,
        in cross-attention, of `source` (B, Tk, D), which a static cache needs only once.
        """
        read = x if source is None else source
        start = 0 if cache is None or source is not None else cache.start
        key_positions = torch.arange(start + read.shape[1], device=x.device)  # (Tk,)
        new = key_positions[start:]  # of what is read here
        positions = new if source is None else torch.arange(x.shape[1], device=x.device)  # (Tq,)

        def project() -> tuple[Tensor, Tensor]:
            return self.project_keys(read, position, new), self.project_values(read)

        q = tap("q", self.project_queries(x, position, positions))
        k, v = project() if cache is None else cache.extended(project)
        k, v = tap("k", k), tap("v", v)  # (B, n_kv_heads, Tk, Dh) each
        bias = position.bias(positions, key_positions)  # (H, Tq, Tk) or None
        z = self.attend(q, k, v, mask=tap("mask", mask), bias=tap("bias", bias), tap=tap)
        return self.out_proj(merge_heads(tap("z", z)))

    def attend(
        self,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        *,
        mask: Tensor | None,
        bias: Tensor | None,
        tap: Tap = NO_TAP,
    ) -> Tensor:
        """z (B, H, Tq, Dh): step by step where scores or pattern are asked for, else fused."""
        keys, values = share_kv_heads(k, self.n_heads), share_kv_heads(v, self.n_heads)
        if tap.wants("scores", "pattern"):
            return scaled_dot_product(q, keys, values, mask=mask, bias=bias, tap=tap)
        dropout = self.dropout if self.training else 0.0
        return fused_attention(q, keys, values, mask=mask, bias=bias, dropout=dropout)

    def project_queries(self, x: Tensor, position: Position, positions: Tensor) -> Tensor:
        """Queries as they enter the product. x: (B, T, D), positions: (T,). (B, H, T, Dh)."""
        return position.rotate(split_heads(self.q_proj(x), self.n_heads), positions)

    def project_keys(self, x: Tensor, position: Position, positions: Tensor) -> Tensor:
        """Keys as they enter the product. x: (B, T, D). Returns (B, n_kv_heads, T, Dh)."""
        return position.rotate(split_heads(self.k_proj(x), self.n_kv_heads), positions)

    def project_values(self, x: Tensor) -> Tensor:
        """Values. x: (B, T, D). Returns (B, n_kv_heads, T, Dh)."""
        return split_heads(self.v_proj(x), self.n_kv_heads)


def split_heads(x: Tensor, n_heads: int) -> Tensor:
    """(B, T, H·Dh) → (B, H, T, Dh)."""
    return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)


def merge_heads(z: Tensor) -> Tensor:
    """(B, H, T, Dh) → (B, T, H·Dh)."""
    return z.transpose(1, 2).flatten(-2)
