"""What arrows are worth while it is worked out: removals that come in, of one browser session."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from model.analysis.exact import Filling
from model.analysis.explanation import Arrows, Measured, measure, removals, telling_arrows, unseen
from model.analysis.flow import flow, rollout, with_residual
from model.analysis.input_gradients import Integrated, integrated
from model.analysis.metrics import Metric
from model.device import one_thread
from model.given import Input, as_given
from model.sources.handle import ModelHandle
from model.work import Work
from viz import runs
from viz.runs.under_way import under_way

MOST_TOKENS = 64  # up to which each token is removed, and its flow worked out


@dataclass(eq=False)
class Explaining(Work):
    """What is there so far.

    Of tokens there is what `token_effects`, `flows` (N,) and `integrated` say, once all arrows are
    removed; rollout and flows are of one stack, and empty where there are two.
    """

    measured: Measured
    filling: Filling
    token_effects: np.ndarray
    flows: np.ndarray
    rollout: np.ndarray
    integrated: Integrated | None = None
    stream: Iterator[None] = field(default_factory=lambda: iter(()))

    @property
    def effects(self) -> np.ndarray:
        """What the metric loses without each arrow, or is estimated to, (L, H, T)."""
        return self.filling.values.reshape(self.measured.weights.shape)

    @property
    def has_arrows(self) -> bool:
        """Whether every arrow was removed once."""
        return self.filling.is_done

    @property
    def telling(self) -> dict[str, tuple[int, int, int]]:
        """Arrows by which weight and effect part."""
        return telling_arrows(self.measured.weights, self.effects)

    @property
    def progress(self) -> float:
        """How much of it is there, 0 to 1."""
        whole = [self.filling.exact, self.token_effects, self.flows]
        done = sum(int(np.isfinite(x).sum()) for x in whole)
        return done / sum(x.size for x in whole)

    def go_on(self) -> bool:
        """Work something out."""
        return next(self.stream, self) is not self


@under_way("Running the model, and back for gradients")
def explain(
    handle: ModelHandle, given: Input, metric: Metric, group: str, query: int
) -> Explaining:
    """Begin with the arrows of a query of a group: what one run says; nothing is removed yet."""
    question = Arrows(runs.runnable(handle).model, as_given(given), metric, group, query)
    with one_thread():
        measured = measure(question)
    n_tokens = len(question.tokens) if len(question.tokens) <= MOST_TOKENS else 0
    layers = with_residual(measured.patterns) if len(question.lengths) == 1 else None
    work = Explaining(
        measured,
        removals(question, measured),
        np.full(n_tokens, np.nan),
        np.full(n_tokens if layers is not None else 0, np.nan),
        np.zeros(0) if layers is None else rollout(layers, metric.position),
    )
    work.stream = _steps(question, work, layers)
    return work


def _steps(question: Arrows, work: Explaining, layers: np.ndarray | None) -> Iterator[None]:
    """One piece of work after the other."""
    while not work.filling.is_done:
        work.filling.advance(0)
        yield
    has_tokens = len(work.token_effects) > 0
    for first, effects in unseen(question) if has_tokens else ():
        work.token_effects[first : first + len(effects)] = effects
        yield
    if layers is not None:
        for key in range(len(work.flows)):
            work.flows[key] = flow(layers, question.metric.position, key)
            yield
    for result in integrated(question) if has_tokens else ():
        work.integrated = result
        yield
