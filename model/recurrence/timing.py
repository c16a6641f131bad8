"""How long each translator takes for a forward pass over a known target, by length; when asked."""

from collections.abc import Iterator, Mapping
from functools import partial

import torch
from torch import Tensor

from model.analysis.timing import Timing, time_rounds
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
    runs = {(name, n): partial(models[name], *given[n]) for n in LENGTHS for name in models}
    yield from time_rounds(
        runs, apart, n_rounds=ROUNDS, least_rounds=LEAST_ROUNDS, budget_s=budget_s
    )


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
