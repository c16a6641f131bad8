"""One step of decoding: what sampling and beam search share."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from model.kv_cache import KVCache
from model.masks import CausalConfig, bidirectional_prefix
from model.tap import NO_TAP, Recorder, Tap, attach


class Decoder(Protocol):
    """What says how a text goes on: a decoder, or an encoder-decoder with its source."""

    @property
    def config(self) -> CausalConfig:
        """Sizes and variants."""
        ...

    @property
    def device(self) -> torch.device:
        """Where it runs."""
        ...

    @property
    def dtype(self) -> torch.dtype:
        """In which precision it runs."""
        ...

    def __call__(self, ids: Tensor, *, tap: Tap, cache: KVCache | None) -> Tensor:
        """Logits (B, Tq, V) after each of the new tokens (B, Tq). See `DecoderTransformer`."""
        ...


def predict(
    model: Decoder, cache: KVCache, texts: Sequence[Sequence[int]], record: bool = False
) -> tuple[Tensor, tuple[np.ndarray, ...]]:
    """Logits (B, V) of the token after each text, and of the first text its attention (H, Tk).

    texts: B of equal length, of which the cache holds the beginnings; the rest is fed to it. The
    attention is that of the text to itself.
    """
    if cache.length < bidirectional_prefix(model.config):
        cache.truncate(0)  # a later token may have changed what these have seen
    new = [text[cache.length :] for text in texts]
    recorder = _LastRows({"pattern"})
    tap = attach(recorder) if record else NO_TAP
    logits = model(torch.tensor(new, device=model.device), tap=tap, cache=cache)[:, -1]
    own = (x for address, x in recorder.values.items() if address.endswith(".attn.pattern"))
    patterns = tuple(_read_only(x) for x in own)
    return logits.float().cpu(), patterns  # (B, V)


class _LastRows(Recorder):
    """Keeps of each pattern (B, H, Tq, Tk) the last row of the first text, (H, Tk)."""

    def __call__(self, address: str, value: Tensor) -> Tensor:
        super().__call__(address, value[0, :, -1].clone())
        return value


def _read_only(x: Tensor) -> np.ndarray:
    array = x.float().cpu().numpy()
    array.flags.writeable = False
    return array


def cache_for(model: Decoder, n_tokens: int | None = None) -> KVCache:
    """An empty cache where the model runs, for so many tokens or the whole context."""
    context = model.config.max_seq_len
    capacity = context if n_tokens is None else min(n_tokens, context)
    return KVCache(model.config, capacity, device=model.device, dtype=model.dtype)


def check_prompt(
    ids: Sequence[int], context: int, max_new_tokens: int, slide: bool = False
) -> None:
    """ValueError when there is no prompt, no room after it, or nothing asked for."""
    most = context if slide and context > 1 else context - 1
    if not 1 <= len(ids) <= most:
        remedy = "shorten the prompt" if len(ids) else "give a prompt of at least one token"
        raise ValueError(
            f"the prompt has {len(ids)} tokens; it must have between 1 and {most}, so "
            f"that something fits after it: no more than {context} are run; {remedy}"
        )
    if max_new_tokens < 1:
        raise ValueError(f"the number of new tokens is {max_new_tokens}; it must be at least 1")
