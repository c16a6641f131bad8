"""Who may look at whom. A mask is boolean, True = may attend; masks combine with `&`."""

from collections.abc import Callable

import torch
from torch import Tensor

from model.config import ModelConfig


def causal(seq_len: int, device: torch.device | str = "cpu") -> Tensor:
    """Each token sees itself and what came before. Returns (T, T)."""
    return torch.ones(seq_len, seq_len, dtype=torch.bool, device=device).tril()


def sliding_window(seq_len: int, window: int, device: torch.device | str = "cpu") -> Tensor:
    """Each token sees the positions less than `window` away, on both sides. Returns (T, T).

    With the causal mask: the last `window` tokens, itself included (Beltagy et al. 2020, §3.1).
    """
    positions = torch.arange(seq_len, device=device)
    return (positions[:, None] - positions[None, :]).abs() < window


def prefix(seq_len: int, prefix_len: int, device: torch.device | str = "cpu") -> Tensor:
    """The first `prefix_len` tokens see each other; the rest is causal. Returns (T, T).

    (Raffel et al. 2020, §3.2.1, "prefix LM".)
    """
    in_prefix = torch.arange(seq_len, device=device) < prefix_len
    return causal(seq_len, device) | in_prefix[None, :]


def padding(lengths: Tensor, seq_len: int) -> Tensor:
    """Nobody sees the filler behind a sentence's end. lengths: (B,). Returns (B, 1, 1, T)."""
    positions = torch.arange(seq_len, device=lengths.device)
    return (positions[None, :] < lengths[:, None])[:, None, None, :]


# What a config's `mask` means; each returns (T, T).
MASKS: dict[str, Callable[[ModelConfig, int, torch.device], Tensor]] = {
    "causal": lambda config, seq_len, device: causal(seq_len, device),
    "sliding_window": lambda config, seq_len, device: (
        causal(seq_len, device) & sliding_window(seq_len, config.window, device)
    ),
    "prefix": lambda config, seq_len, device: prefix(seq_len, config.prefix_len, device),
}
