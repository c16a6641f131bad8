"""The decoder's forward pass once more, from its weights alone: what taps are compared with.

Straight tensor arithmetic over a state dict, in float64; nothing of the model's own code runs.
"""

import math
from collections.abc import Callable, Mapping

import torch
from torch import Tensor

from model.config import DecoderConfig

Change = Callable[[str, Tensor], Tensor]


def plain_logits(
    weights: Mapping[str, Tensor],
    config: DecoderConfig,
    ids: Tensor,
    change: Change = lambda name, value: value,
) -> Tensor:
    """Logits (T, V) of a causal pre-norm decoder with GELU, LayerNorm and sinusoidal positions.

    `change(name, value)` may give back another value for `0.z` (H, T, Dh), `0.pattern` (H, T, T)
    or `0.resid_post` (T, D) of layer 0, and so on.
    """
    w = {name: x.double() for name, x in weights.items()}
    n = len(ids)
    x = w["embed.weight"][ids] + waves(n, config)
    for layer in range(config.n_layers):
        block = {
            name.removeprefix(f"blocks.{layer}."): x
            for name, x in w.items()
            if name.startswith(f"blocks.{layer}.")
        }
        y = normed(x, block["attn_norm.gain"], block["attn_norm.offset"], config.norm_eps)
        q, k, v = (
            heads(y @ block[f"attn.{name}_proj.weight"].T + block[f"attn.{name}_proj.bias"], config)
            for name in "qkv"
        )
        scores = q @ k.transpose(1, 2) / math.sqrt(config.d_head)
        future = torch.ones(n, n, dtype=torch.bool).triu(1)
        pattern = torch.softmax(scores.masked_fill(future, -math.inf), dim=-1)
        z = change(f"{layer}.z", change(f"{layer}.pattern", pattern) @ v)
        merged = torch.cat(list(z), dim=-1)  # (T, D)
        x = x + merged @ block["attn.out_proj.weight"].T + block["attn.out_proj.bias"]
        y = normed(x, block["ffn_norm.gain"], block["ffn_norm.offset"], config.norm_eps)
        hidden = y @ block["ffn.up.weight"].T + block["ffn.up.bias"]
        hidden = 0.5 * hidden * (1 + torch.erf(hidden / math.sqrt(2)))
        x = change(
            f"{layer}.resid_post", x + hidden @ block["ffn.down.weight"].T + block["ffn.down.bias"]
        )
    x = normed(x, w["final_norm.gain"], w["final_norm.offset"], config.norm_eps)
    return x @ w["unembed.weight"].T


def waves(n: int, config: DecoderConfig) -> Tensor:
    """Sinusoidal positions by a loop, (T, D)."""
    table = torch.zeros(n, config.d_model, dtype=torch.float64)
    for pos in range(n):
        for i in range(0, config.d_model, 2):
            angle = pos / config.position_base ** (i / config.d_model)
            table[pos, i], table[pos, i + 1] = math.sin(angle), math.cos(angle)
    return table


def normed(x: Tensor, gain: Tensor, offset: Tensor, eps: float) -> Tensor:
    """LayerNorm by its definition."""
    centred = x - x.mean(-1, keepdim=True)
    return centred / (centred.square().mean(-1, keepdim=True) + eps).sqrt() * gain + offset


def heads(x: Tensor, config: DecoderConfig) -> Tensor:
    """(T, H·Dh) → (H, T, Dh), a head a slice of columns."""
    return torch.stack(x.split(config.d_head, dim=-1))
