"""A sentence sent through a real cache, with what the cache held after every step."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from model.architectures.encoder_decoder import EncoderDecoderTransformer
from model.decoding.predict import Decoder, cache_for
from model.decoding.translation import Translating
from model.kv_cache import KVCache
from model.tap import NO_TAP
from model.trace import Trace
from model.verify.check import relative_error


@dataclass(frozen=True, eq=False)
class CacheRun:
    """A sentence as it went into a real cache: a prefill, then one token at a time.

    `keys` and `values`, for each layer (n_kv_heads, T, Dh), were read out of the cache's tensors
    after each step, the columns that step had written. `bytes_held` has, by the number of tokens
    held, what was measured then; `is_kept` says whether the full cache still held the very same
    numbers.
    """

    keys: Sequence[np.ndarray]
    values: Sequence[np.ndarray]
    bytes_held: dict[int, int]
    bytes_reserved: int  # for the whole context
    bytes_per_value: int
    is_kept: bool

    def errors(self, trace: Trace, n_held: int) -> tuple[float, float]:
        """How far the first `n_held` keys and values are from the trace's own k and v."""
        of_keys, of_values = (
            [
                relative_error(held[:, :n_held], getattr(record, name)[:, :n_held])
                for record, held in zip(trace.attention, layers, strict=True)
            ]
            for name, layers in (("k", self.keys), ("v", self.values))
        )
        return max(of_keys), max(of_values)


@torch.inference_mode()
def run_through_cache(model: Decoder, ids: Sequence[int], n_prefill: int) -> CacheRun:
    """Run ids through a cache, the first `n_prefill` at once and then one per step."""
    cache = cache_for(model)
    tokens = torch.tensor([ids], device=model.device)  # (1, T)
    steps, bytes_held = [], {0: _bytes_held(cache)}
    for stop in range(n_prefill, len(ids) + 1):
        start = cache.length
        model(tokens[:, start:stop], tap=NO_TAP, cache=cache)
        bytes_held[stop] = _bytes_held(cache)
        steps.append(_read(cache, start))
    arrays = [np.concatenate(parts, axis=1) for parts in zip(*steps, strict=True)]
    is_kept = all(map(np.array_equal, arrays, _read(cache, 0)))
    size = model.dtype.itemsize
    return CacheRun(arrays[::2], arrays[1::2], bytes_held, cache.bytes_reserved, size, is_kept)


def _read(cache: KVCache, start: int) -> list[np.ndarray]:
    """Copies of keys and values from `start` on, by turns, (n_kv_heads, T − start, Dh) each."""
    held = (x for layer in cache.layers for x in layer.held())
    return [x[0, :, start:].float().cpu().numpy().copy() for x in held]


def _bytes_held(cache: KVCache) -> int:
    """Element size × number of elements, over all tensors with the tokens held."""
    tensors = (x for layer in cache.layers for x in layer.held())
    return sum(x.element_size() * x.numel() for x in tensors)


@dataclass(frozen=True)
class TwoParts:
    """Bytes of a translation's cache, measured after each token of the target, from none on.

    `own` are keys and values of the target's self-attention, `of_source` those of cross-attention.
    """

    own: tuple[int, ...]
    of_source: tuple[int, ...]


@torch.inference_mode()
def two_parts(
    model: EncoderDecoderTransformer, source: Sequence[int], target: Sequence[int]
) -> TwoParts:
    """Feed a target into a real cache, token by token, and measure both of its parts.

    source and target: ids as the model takes them, Ts and Tt. ValueError as `forward`.
    """
    translating = Translating(model, source)
    cache = cache_for(translating)
    own, of_source = [_bytes_held(cache)], [cache.bytes_of_source]
    for token_id in target:
        translating(torch.tensor([[token_id]], device=model.device), cache=cache)
        own.append(_bytes_held(cache))
        of_source.append(cache.bytes_of_source)
    return TwoParts(tuple(own), tuple(of_source))
