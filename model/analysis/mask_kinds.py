"""Every kind of mask over a number of tokens, and how many pairs it lets attend."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from model.config import DecoderConfig
from model.masks import MASKS, causal, full, global_tokens, padding, prefix, sliding_window


@dataclass(frozen=True)
class MaskSizes:
    """What the kinds of mask are set by; each kind looks at its own.

    `is_causal` joins the causal mask to those that have another side, by `&`.
    """

    window: int = 4
    prefix_len: int = 3
    n_global: int = 1
    n_pads: int = 2
    is_causal: bool = True


KINDS: dict[str, Callable[[MaskSizes, int], Tensor]] = {
    "causal": lambda sizes, n: causal(n),
    "sliding_window": lambda sizes, n: sliding_window(n, sizes.window),
    "prefix": lambda sizes, n: prefix(n, sizes.prefix_len),
    "global_tokens": lambda sizes, n: (
        sliding_window(n, sizes.window) | global_tokens(n, sizes.n_global)
    ),
    "padding": lambda sizes, n: padding(torch.tensor([n - sizes.n_pads]), n)[0, 0].expand(n, -1),
    "everything": lambda sizes, n: full(n),
}
TWO_SIDED = ("sliding_window", "global_tokens", "padding")


def source_of(kind: str) -> str:
    """Dotted name of the function that makes a kind of mask."""
    return f"model.masks.{'full' if kind == 'everything' else kind}"


def own_mask(config: DecoderConfig, n_tokens: int) -> np.ndarray:
    """The mask the model was trained with, (T, T)."""
    return MASKS[config.mask](config, n_tokens, "cpu").numpy()


def mask_of_kind(kind: str, sizes: MaskSizes, n_tokens: int) -> np.ndarray:
    """A kind of mask over n tokens, (T, T). Under `padding` the last ones are pad tokens."""
    mask = KINDS[kind](sizes, n_tokens)
    if kind in TWO_SIDED and sizes.is_causal:
        mask = mask & causal(n_tokens)
    return mask.numpy()


@lru_cache(maxsize=1024)
def n_pairs(kind: str, sizes: MaskSizes, n_tokens: int) -> int:
    """How many pairs of n tokens may attend, counted in the mask."""
    return int(np.count_nonzero(mask_of_kind(kind, sizes, n_tokens)))
