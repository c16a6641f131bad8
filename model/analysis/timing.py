"""How long a token takes with the cache and without it: both really run, and are compared.

On one CPU thread, so that other work on the machine disturbs little.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np
import torch
from torch import Tensor

from model.architectures.decoder import DecoderTransformer
from model.decoding.predict import Decoder, cache_for
from model.device import one_thread
from model.kv_cache import KVCache
from model.masks import bidirectional_prefix
from model.verify.check import relative_error

WITH_CACHE, WITHOUT, PREFILL, DECODE = "with cache", "without cache", "prefill", "decode"
MOST_LENGTHS = 9
LEAST_ROUNDS, MOST_ROUNDS, DECODE_ROUNDS = 3, 15, 3


@dataclass(frozen=True)
class Timing:
    """Something timed once: one more token in a text of `n_tokens`, or `n_tokens` in all.

    `difference` is the relative error of the logits with the cache against those without it, as
    in `model.verify`. `progress` says
    how much of the whole measurement is done, 0 to 1.
    """

    way: str
    n_tokens: int
    seconds: float
    progress: float = 0.0
    difference: float = 0.0


def fed_at_once(model: Decoder) -> int:
    """Tokens a cache must be given together before a single one can follow; at least 1."""
    return max(1, bidirectional_prefix(model.config))


def lengths_to_time(model: DecoderTransformer) -> list[int]:
    """Text lengths a factor √2 apart, up to the context; the last token is the one timed.

    Empty where a cache cannot help: nothing fits after the first tokens, or they all see each
    other.
    """
    context = model.config.max_seq_len
    sizes = {round(context / 2 ** (half / 2)) for half in range(MOST_LENGTHS)}
    return sorted(size for size in sizes if size > fed_at_once(model))


@torch.inference_mode()
def time_tokens(model: DecoderTransformer, budget_s: float = 5.0) -> Iterator[Timing]:
    """Time one more token at growing lengths with and without the cache, prefill and decoding.

    Yields a timing after each run. Goes round after round, so that a disturbance falls on all
    lengths alike, until it has enough rounds, or a few and the budget is spent. Raises
    ValueError where the context leaves nothing to time.
    """
    lengths = lengths_to_time(model)
    if not lengths:
        raise ValueError(
            f"the context of {model.config.max_seq_len} tokens leaves no token after the first "
            f"{fed_at_once(model)}, which enter at once; there is nothing to time"
        )
    ids = (
        torch.arange(model.config.max_seq_len, device=model.device)[None] % model.config.vocab_size
    )
    for n_new in (ids.shape[1], 1, 1):  # the first runs of a kind are slow
        _timed(model, ids[:, :n_new])
    n_round, spent_s = 1 + 2 * len(lengths), 0.0
    rounds = chain.from_iterable(_round(model, ids, lengths) for _ in range(MOST_ROUNDS))
    for n_done, timing in enumerate(rounds, start=1):
        spent_s += timing.seconds  # not what the caller does between timings
        spent = min(spent_s / budget_s, n_done / (LEAST_ROUNDS * n_round), 1.0)
        yield replace(timing, progress=0.8 * max(n_done / (MOST_ROUNDS * n_round), spent))
        if spent == 1:
            break
    for n in range(1, DECODE_ROUNDS + 1):
        n_decoded, seconds = _decode(model, ids, budget_s / 5)
        yield Timing(DECODE, n_decoded, seconds, 0.8 + 0.2 * n / DECODE_ROUNDS)


def by_length(timings: Sequence[Timing], way: str) -> dict[int, list[float]]:
    """Seconds of one way at each length, the lengths ascending."""
    times: dict[int, list[float]] = {}
    for timing in timings:
        if timing.way == way:
            times.setdefault(timing.n_tokens, []).append(timing.seconds)
    return dict(sorted(times.items()))


def medians(timings: Sequence[Timing], way: str) -> dict[int, float]:
    """Median seconds of one way at each length, the lengths ascending."""
    return {n: float(np.median(times)) for n, times in by_length(timings, way).items()}


def tokens_per_second(timings: Sequence[Timing], way: str) -> float:
    """Median rate of prefill or decoding."""
    return float(
        np.median([timing.n_tokens / timing.seconds for timing in timings if timing.way == way])
    )


def spread(timings: Sequence[Timing]) -> float:
    """How unsteady the times were: upper by lower quartile, the median over ways and lengths.

    1 when every time was the same.
    """
    times = {}
    for timing in timings:
        times.setdefault((timing.way, timing.n_tokens), []).append(timing.seconds)
    quartiles = [np.percentile(seconds, (25, 75)) for seconds in times.values()]
    return float(np.median([high / low for low, high in quartiles]))


def growth(seconds: dict[int, float]) -> tuple[float, float]:
    """Exponent a and factor c of the line c · n^a through times at lengths n, both logarithmic.

    Least squares; needs two lengths.
    """
    exponent, log_factor = np.polyfit(np.log(list(seconds)), np.log(list(seconds.values())), 1)
    return float(exponent), float(np.exp(log_factor))


@dataclass(frozen=True)
class TimingSummary:
    """Medians of a measurement: seconds of one more token by text length, and tokens per second."""

    with_cache: dict[int, float]
    without: dict[int, float]
    prefill: float | None
    decode: float | None
    n_rounds: int
    spread: float  # 1 when all rounds took equally long; see `spread`
    difference: float  # between the logits of the two ways


def summarise(timings: Sequence[Timing]) -> TimingSummary | None:
    """What the times so far amount to; None while fewer than two lengths ran both ways."""
    with_cache, without = (medians(timings, way) for way in (WITH_CACHE, WITHOUT))
    if len(without) < 2:
        return None
    prefill, decode = (
        tokens_per_second(timings, way) if any(item.way == way for item in timings) else None
        for way in (PREFILL, DECODE)
    )
    return TimingSummary(
        {n: with_cache[n] for n in without},
        without,
        prefill,
        decode,
        n_rounds=sum(item.way == PREFILL for item in timings),
        spread=spread(timings),
        difference=max(item.difference for item in timings),
    )


def _round(model: DecoderTransformer, ids: Tensor, lengths: Sequence[int]) -> Iterator[Timing]:
    """One prefill, then one more token at each length, longest first: the cache forgets the end.

    ids: (1, T).
    """
    cache = cache_for(model)
    seconds, _ = _timed(model, ids, cache)
    yield Timing(PREFILL, ids.shape[1], seconds)
    for n in reversed(lengths):
        cache.truncate(n - 1)
        seconds, cached = _timed(model, ids[:, n - 1 : n], cache)
        yield Timing(WITH_CACHE, n, seconds)
        seconds, whole = _timed(model, ids[:, :n])
        yield Timing(WITHOUT, n, seconds, difference=_error(cached, whole))


def _decode(model: DecoderTransformer, ids: Tensor, budget_s: float) -> tuple[int, float]:
    """How many tokens went through the cache one at a time, and in how many seconds."""
    cache = cache_for(model)
    _timed(model, ids[:, : fed_at_once(model)], cache)
    first, start = cache.length, time.perf_counter()
    while cache.length < ids.shape[1] and time.perf_counter() - start < budget_s:
        _timed(model, ids[:, cache.length : cache.length + 1], cache)
    return cache.length - first, time.perf_counter() - start


def _error(actual: Tensor, expected: Tensor) -> float:
    return relative_error(actual.float().cpu().numpy(), expected.float().cpu().numpy())


def _timed(
    model: DecoderTransformer, ids: Tensor, cache: KVCache | None = None
) -> tuple[float, Tensor]:
    """Seconds until the most likely next token is known, and its logits (V,)."""
    with one_thread():
        start = time.perf_counter()
        logits = model(ids, cache=cache)[0, -1]
        logits.argmax().item()  # waits for the device
        return time.perf_counter() - start, logits
