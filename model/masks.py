"""Who may look at whom. A mask is boolean, True = may attend; masks combine with `&`.

`start` leaves out the rows of the first queries, whose work is done: Tq = seq_len − start.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from model.config import ModelConfig


def causal(seq_len: int, device: torch.device | str = "cpu", start: int = 0) -> Tensor:
    """Each token sees itself and what came before. Returns (Tq, T)."""
    return torch.ones(seq_len - start, seq_len, dtype=torch.bool, device=device).tril(start)


def sliding_window(
    seq_len: int, window: int, device: torch.device | str = "cpu", start: int = 0
) -> Tensor:
    """Each token sees the positions less than `window` away, on both sides. Returns (Tq, T).

    With the causal mask: the last `window` tokens, itself included (Beltagy et al. 2020, §3.1).
    """
    positions = torch.arange(seq_len, device=device)
    return (positions[start:, None] - positions[None, :]).abs() < window


def prefix(
    seq_len: int, prefix_len: int, device: torch.device | str = "cpu", start: int = 0
) -> Tensor:
    """The first `prefix_len` tokens see each other; the rest is causal. Returns (Tq, T).

    (Raffel et al. 2020, §3.2.1, "prefix LM".)
    """
    in_prefix = torch.arange(seq_len, device=device) < prefix_len
    return causal(seq_len, device, start) | in_prefix[None, :]


def global_tokens(
    seq_len: int, n_global: int, device: torch.device | str = "cpu", start: int = 0
) -> Tensor:
    """The first `n_global` tokens see all tokens and all see them. Returns (Tq, T).

    Joined to a window by `|` (Beltagy et al. 2020, §3.1, "Global Attention").
    """
    is_global = torch.arange(seq_len, device=device) < n_global
    return is_global[start:, None] | is_global[None, :]


def padding(lengths: Tensor, seq_len: int, in_front: bool = False) -> Tensor:
    """Nobody sees the filler that makes sentences equally long. lengths: (B,).

    The filler is behind a sentence's end or in front of its start. Returns (B, 1, 1, T).
    """
    positions = torch.arange(seq_len, device=lengths.device)[None, :]
    lengths = lengths[:, None]
    is_text = positions >= seq_len - lengths if in_front else positions < lengths  # (B, T)
    return is_text[:, None, None, :]


# What a config's `mask` means; each returns (Tq, T), the rows from `start` on.
MASKS: dict[str, Callable[..., Tensor]] = {
    "causal": lambda config, seq_len, device, start=0: causal(seq_len, device, start),
    "sliding_window": lambda config, seq_len, device, start=0: (
        causal(seq_len, device, start) & sliding_window(seq_len, config.window, device, start)
    ),
    "prefix": lambda config, seq_len, device, start=0: prefix(
        seq_len, config.prefix_len, device, start
    ),
    "global_tokens": lambda config, seq_len, device, start=0: (
        causal(seq_len, device, start)
        & (
            sliding_window(seq_len, config.window, device, start)
            | global_tokens(seq_len, config.n_global, device, start)
        )
    ),
}

# How many first tokens see what comes behind them, where a mask lets any: a later token changes
# their keys, so a cache must be given all of them at once.
SEEING_AHEAD: dict[str, Callable[[ModelConfig], int]] = {
    "causal": lambda config: 0,
    "sliding_window": lambda config: 0,
    "prefix": lambda config: config.prefix_len,
    "global_tokens": lambda config: 0,
}
