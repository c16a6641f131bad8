"""How long things take here: the rig, and a token with the cache and without it.

Round after round, so that a disturbance falls on all lengths alike, and on one CPU thread, so that
other work on the machine disturbs little.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor

from model.architectures.base import Transformer
from model.architectures.decoder import DecoderTransformer
from model.decoding.predict import Decoder, cache_for
from model.device import one_thread
from model.kv_cache import KVCache
from model.masks import bidirectional_prefix
from model.verify.check import relative_error

WAYS = WITH_CACHE, WITHOUT, PREFILL, DECODE = "with cache", "without cache", "prefill", "decode"
MOST_LENGTHS = 9
LEAST_ROUNDS, MOST_ROUNDS, DECODE_ROUNDS = 3, 15, 3

Run = Callable[[], Tensor]  # gives logits


@dataclass(frozen=True)
class Timing:
    """Something timed once: one more token in a text of `n_tokens`, or `n_tokens` in all.

    `difference` is the relative error of the logits with the cache against those without it, as
    in `model.verify`. `progress` says how much of the whole measurement is done, 0 to 1.
    """

    way: str
    n_tokens: int
    seconds: float
    progress: float = 0.0
    difference: float = 0.0


def some_ids(model: Transformer, n_tokens: int) -> Tensor:
    """Ids of the vocabulary in their order, (1, T)."""
    n_words = cast("Any", model.config).vocab_size
    return torch.arange(n_tokens, device=model.device)[None] % n_words


def once(run: Run) -> tuple[float, Tensor]:
    """Seconds until one run has its logits, and these."""
    with one_thread(), torch.inference_mode():
        start = perf_counter()
        logits = run()
        logits.flatten()[-1].item()  # waits for the device
        return perf_counter() - start, logits


def timed(
    runs: Mapping[tuple[str, int], Run],
    least: int,
    most: int,
    budget_s: float = math.inf,
    part: tuple[float, float] = (0.0, 1.0),
) -> Iterator[tuple[Timing, Tensor]]:
    """Time all runs, each by its way and length, in whole rounds; gives their logits, too.

    At least so many rounds, and at most so many while the budget lasts. `part` is the progress at
    the beginning and at the end.
    """
    n_done, spent_s = 0, 0.0  # not what the caller does between timings
    for n_round in range(most):
        if n_round >= least and spent_s >= budget_s:
            break
        for (way, n_tokens), run in runs.items():
            seconds, logits = once(run)
            n_done, spent_s = n_done + 1, spent_s + seconds
            spent = min(spent_s / budget_s, n_done / (least * len(runs)), 1.0)
            share = max(n_done / (most * len(runs)), spent)
            yield Timing(way, n_tokens, seconds, float(np.interp(share, (0, 1), part))), logits


def rounds(timings: Sequence[Timing], way: str) -> dict[int, list[float]]:
    """Seconds of one way in every whole round by length, the lengths ascending."""
    times: dict[int, list[float]] = {}
    for timing in timings:
        if timing.way == way:
            times.setdefault(timing.n_tokens, []).append(timing.seconds)
    n_whole = min(map(len, times.values()), default=0)
    return {n: seconds[:n_whole] for n, seconds in sorted(times.items())}


def medians(timings: Sequence[Timing], way: str) -> dict[int, float]:
    """Median seconds of one way at each length, the lengths ascending."""
    return {n: float(np.median(times)) for n, times in rounds(timings, way).items()}


def spread(times: Iterable[Sequence[float]]) -> float:
    """How unsteady the times of each thing were: upper by lower quartile, the median over all.

    1 when every time was the same.
    """
    quartiles = [np.percentile(seconds, (25, 75)) for seconds in times]
    return float(np.median([high / low for low, high in quartiles]))


def growth(seconds: dict[int, float]) -> tuple[float, float]:
    """Exponent a and factor c of the line c · n^a through times at lengths n, both logarithmic.

    Least squares; needs two lengths.
    """
    exponent, log_factor = np.polyfit(np.log(list(seconds)), np.log(list(seconds.values())), 1)
    return float(exponent), float(np.exp(log_factor))


# --- a token with the cache and without -------------------------------------------------------


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


def time_tokens(model: DecoderTransformer, budget_s: float = 5.0) -> Iterator[Timing]:
    """Time one more token at growing lengths with and without the cache, prefill and decoding.

    Yields a timing after each run. Raises ValueError where the context leaves nothing to time.
    """
    context, first = model.config.max_seq_len, fed_at_once(model)
    lengths, timings = lengths_to_time(model), []
    if not lengths:
        raise ValueError(
            f"the context of {context} tokens leaves no token after the first {first}, which enter "
            "at once; there is nothing to time"
        )
    text = _Text(model, some_ids(model, context), cache_for(model))
    for timing in _both_ways(text, lengths, budget_s):
        timings.append(timing)
        yield timing
    n_in_time = int(budget_s / 5 / max(medians(timings, WITH_CACHE).values()))
    n_new = min(context - first, max(1, n_in_time))
    decode = {(DECODE, n_new): partial(text.one_by_one, first, first + n_new)}
    for timing, _ in timed(decode, DECODE_ROUNDS, DECODE_ROUNDS, part=(0.8, 1.0)):
        yield timing


@dataclass(frozen=True)
class _Text:
    """A text (1, T), and a cache that forgets its end and is given it again."""

    model: DecoderTransformer
    ids: Tensor
    cache: KVCache

    def whole(self, n_tokens: int) -> Tensor:
        """Logits (V,) after so many tokens, all of them run."""
        return self.model(self.ids[:, :n_tokens])[0, -1]

    def after(self, n_kept: int, n_tokens: int) -> Tensor:
        """The same, but the first are kept in the cache, and the others enter it."""
        self.cache.truncate(n_kept)
        return self.model(self.ids[:, n_kept:n_tokens], cache=self.cache)[0, -1]

    def one_by_one(self, n_kept: int, n_tokens: int) -> Tensor:
        """The same, but the others enter one at a time, each after the most likely one is known."""
        for n in range(n_kept + 1, n_tokens):
            self.after(n - 1, n).argmax().item()
        return self.after(n_tokens - 1, n_tokens)


def _both_ways(text: _Text, lengths: Sequence[int], budget_s: float) -> Iterator[Timing]:
    """In each round one prefill, then one more token at each length, longest first."""
    context = text.ids.shape[1]
    runs: dict[tuple[str, int], Run] = {(PREFILL, context): partial(text.after, 0, context)}
    for n in reversed(lengths):
        runs[WITH_CACHE, n] = partial(text.after, n - 1, n)
        runs[WITHOUT, n] = partial(text.whole, n)
    first_of_a_kind = list(runs.values())[:3]  # these are slow
    *_, cached = [once(run)[1] for run in first_of_a_kind]
    for timing, logits in timed(runs, LEAST_ROUNDS, MOST_ROUNDS, budget_s, part=(0.0, 0.8)):
        is_whole = timing.way == WITHOUT
        yield replace(timing, difference=_error(cached, logits)) if is_whole else timing
        cached = logits


def _error(actual: Tensor, expected: Tensor) -> float:
    return relative_error(actual.float().cpu().numpy(), expected.float().cpu().numpy())


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
    return TimingSummary(
        {n: with_cache[n] for n in without},
        without,
        tokens_per_second(timings, PREFILL),
        tokens_per_second(timings, DECODE),
        n_rounds=len(rounds(timings, WITHOUT)[max(without)]),
        spread=spread(times for way in WAYS for times in rounds(timings, way).values()),
        difference=max(item.difference for item in timings),
    )


def tokens_per_second(timings: Sequence[Timing], way: str) -> float | None:
    """Median rate of prefill or decoding; None where it was not timed."""
    rates = [timing.n_tokens / timing.seconds for timing in timings if timing.way == way]
    return float(np.median(rates)) if rates else None
