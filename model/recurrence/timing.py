"""How long each translator takes for a forward pass over a known target, by length; when asked."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from model.analysis.timing import Timing, medians, spread
from model.device import one_thread
from model.recurrence.scored import rows_of
from model.recurrence.task import LONGEST_TIMED, begun, examples
from model.recurrence.translators import Translator
from model.verify.check import relative_error

LENGTHS = tuple(2**power for power in range(2, LONGEST_TIMED.bit_length()))
ROUNDS, LEAST_ROUNDS = 15, 5


@torch.inference_mode()
def time_translators(models: Mapping[str, Translator], budget_s: float = 5.0) -> Iterator[Timing]:
    """Time each at each of LENGTHS, round after round, and yield a timing after each run.

    One row at a time, of `reverse`, on one thread. The first timing of each has as `difference` how
    far logits of all positions at once are from those written one after the other.
    """
    given = {n: _given(n) for n in LENGTHS}
    apart = {name: _apart(model, given[LENGTHS[0]]) for name, model in models.items()}
    n_all, n_done, spent_s = ROUNDS * len(models) * len(LENGTHS), 0, 0.0
    for number in range(ROUNDS):
        for n, tensors in given.items():
            for name, model in models.items():
                seconds = _timed(model, tensors)
                n_done, spent_s = n_done + 1, spent_s + seconds
                spent = min(spent_s / budget_s, n_done * ROUNDS / (LEAST_ROUNDS * n_all), 1.0)
                yield Timing(name, n, seconds, max(n_done / n_all, spent), apart[name])
        if number + 1 >= LEAST_ROUNDS and spent_s >= budget_s:
            break


@dataclass(frozen=True)
class Summary:
    """Seconds by length for each model: the median, and the quartiles beside it."""

    seconds: Mapping[str, dict[int, float]]
    quartiles: Mapping[str, dict[int, tuple[float, float]]]
    n_rounds: int
    spread: float  # 1 when all rounds took equally long; see `timing.spread`
    difference: float


def summarise(timings: Sequence[Timing]) -> Summary | None:
    """What the times so far amount to; None while fewer than two lengths ran in every model."""
    names = list(dict.fromkeys(x.way for x in timings))
    found = {name: medians(timings, name) for name in names}
    common = set.intersection(*map(set, found.values())) if found else set()
    if len(common) < 2:
        return None
    seconds = {name: {n: s for n, s in by_n.items() if n in common} for name, by_n in found.items()}
    quartiles = {name: {n: _quartiles(timings, name, n) for n in sorted(common)} for name in names}
    n_rounds = sum((x.way, x.n_tokens) == (names[-1], max(common)) for x in timings)
    return Summary(
        seconds, quartiles, n_rounds, spread(timings), max(x.difference for x in timings)
    )


def _quartiles(timings: Sequence[Timing], name: str, n: int) -> tuple[float, float]:
    low, high = np.percentile(
        [x.seconds for x in timings if (x.way, x.n_tokens) == (name, n)], (25, 75)
    )
    return float(low), float(high)


def _given(n: int) -> tuple[Tensor, Tensor]:
    """A source and its target but for the last token, (1, n + 2) and (1, n + 1)."""
    sources, answers = examples("reverse", rows_of("reverse", n, 1))
    return sources, begun(answers)


def _apart(model: Translator, given: tuple[Tensor, Tensor]) -> float:
    """Also the first run, which is slow."""
    sources, targets = given
    step = model.begin(sources)
    one_by_one = torch.stack([step(last) for last in targets.unbind(dim=1)], dim=1)
    return relative_error(one_by_one.numpy(), model(sources, targets).numpy())


def _timed(model: Translator, given: tuple[Tensor, Tensor]) -> float:
    with one_thread():
        start = time.perf_counter()
        model(*given)
        return time.perf_counter() - start
