"""Which tokens may attend to which. A mask is boolean, True = may attend; masks combine with `&`.

`start` leaves out the rows of the first queries, whose work is done: Tq = seq_len − start.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from model.config import DecoderConfig, EncoderDecoderConfig

CausalConfig = DecoderConfig | EncoderDecoderConfig  # what names a mask


def causal(seq_len: int, device: torch.device | str = "cpu", start: int = 0) -> Tensor:
    """Each token attends to itself and what came before. Returns (Tq, T)."""
    return torch.ones(seq_len - start, seq_len, dtype=torch.bool, device=device).tril(start)


def sliding_window(
    seq_len: int, window: int, device: torch.device | str = "cpu", start: int = 0
) -> Tensor:
    """Each token attends to the positions less than `window` away, on both sides. Returns (Tq, T).

    With the causal mask: the last `window` tokens, itself included (Jiang et al. 2023, §2). In
    Beltagy et al. 2020, §3.1, w is the whole width, half of it on each side.
    """
    positions = torch.arange(seq_len, device=device)
    return (positions[start:, None] - positions[None, :]).abs() < window


def prefix(
    seq_len: int, prefix_len: int, device: torch.device | str = "cpu", start: int = 0
) -> Tensor:
    """The first `prefix_len` tokens attend to each other; the rest is causal. Returns (Tq, T).

    (Raffel et al. 2020, §3.2.1, "prefix LM".)
    """
    in_prefix = torch.arange(seq_len, device=device) < prefix_len
    return causal(seq_len, device, start) | in_prefix[None, :]


def global_tokens(
    seq_len: int, n_global: int, device: torch.device | str = "cpu", start: int = 0
) -> Tensor:
    """The first `n_global` tokens attend to all tokens, and all attend to them. Returns (Tq, T).

    Joined to a window by `|` (Beltagy et al. 2020, §3.1, "Global Attention").
    """
    is_global = torch.arange(seq_len, device=device) < n_global
    return is_global[start:, None] | is_global[None, :]


def padding(lengths: Tensor, seq_len: int, left: bool = False) -> Tensor:
    """No token attends to the pad tokens that make sentences equally long. lengths: (B,).

    Padding is on the right of a sentence or, with `left`, on its left. Returns (B, 1, 1, T).
    """
    positions = torch.arange(seq_len, device=lengths.device)[None, :]
    lengths = lengths[:, None]
    is_text = positions >= seq_len - lengths if left else positions < lengths  # (B, T)
    return is_text[:, None, None, :]


def full(seq_len: int, device: torch.device | str = "cpu") -> Tensor:
    """No mask: every token attends to every token, as in an encoder. Returns (T, T)."""
    return torch.ones(seq_len, seq_len, dtype=torch.bool, device=device)


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

# How many first tokens attend to what comes after them, where a mask lets any: a later token
# changes their keys, so a cache must be given all of them at once.
_PREFIXES: dict[str, Callable[[Any], int]] = {
    "causal": lambda config: 0,
    "sliding_window": lambda config: 0,
    "prefix": lambda config: config.prefix_len,
    "global_tokens": lambda config: 0,
}


def bidirectional_prefix(config: CausalConfig) -> int:
    """How many first tokens attend to each other on both sides; 0 where all look back only.

    All, where a cache of keys and values is not all that a model keeps of them.
    """
    return config.n_together or _PREFIXES[config.mask](config)
