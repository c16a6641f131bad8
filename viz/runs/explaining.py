"""What arrows are worth while it is worked out: removals that come in, of one browser session."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from model.analysis.explanation import (
    Measured,
    Question,
    Removed,
    measure,
    removals,
    telling_arrows,
    unseen,
)
from model.analysis.flow import flow, rollout, with_residual
from model.analysis.input_gradients import Integrated, integrated
from model.analysis.metrics import Metric
from model.device import one_thread
from model.sources.handle import ModelHandle
from model.trace import Trace
from model.verify.asked import Wanted
from model.verify.explained import IndependentArrows
from model.verify.texts import texts_of
from model.verify.worth import IndependentWorth
from viz import runs
from viz.live import store
from viz.runs.beside import Beside, beside

Ids = tuple[int, ...]
MOST_TOKENS = 64  # up to which each token is removed, and its flow worked out


@dataclass(frozen=True)
class Request:
    """What is asked for: a number of the prediction after the last token of a text."""

    handle: ModelHandle
    ids: Ids
    metric: Metric


@dataclass(eq=False)
class Explaining:
    """What is there so far. Browsers may ask for the independent run's by the key.

    effects: (L, H, T), NaN where an arrow was not removed yet. Of tokens there is what
    `token_effects`, `flows` (T,) and `integrated` say, once all arrows are removed.
    """

    measured: Measured
    key: str
    trace: Trace
    independent: IndependentArrows
    effects: np.ndarray
    token_effects: np.ndarray
    flows: np.ndarray
    rollout: np.ndarray
    worth: Beside
    integrated: Integrated | None = None
    is_running: bool = True
    is_done: bool = False
    stream: Iterator[None] = field(default_factory=lambda: iter(()))

    @property
    def has_arrows(self) -> bool:
        """Whether every arrow was removed once."""
        return bool(np.isfinite(self.effects).all())

    @property
    def telling(self) -> dict[str, tuple[int, int, int]]:
        """Arrows by which weight and effect part."""
        return telling_arrows(self.measured.weights, self.effects)

    @property
    def progress(self) -> float:
        """How much of it is there, 0 to 1."""
        whole = [self.effects, self.token_effects, self.flows]
        done = sum(int(np.isfinite(x).sum()) for x in whole)
        return done / sum(x.size for x in whole)

    def advance(self, seconds: float) -> None:
        """Work something out, and more while there is time; on one thread of the CPU."""
        deadline = time.monotonic() + seconds
        with one_thread():
            while self.is_running:
                if next(self.stream, self) is self:
                    self.is_running, self.is_done = False, True
                if time.monotonic() >= deadline:
                    break


def explain(request: Request, trace: Trace) -> Explaining:
    """Begin: what one run says; nothing is removed before `advance`."""
    found = runs.checkpoint(request.handle)
    question = Question(runs.decoder(request.handle), list(request.ids), request.metric)
    with one_thread():
        measured = measure(question)
    metric = request.metric
    wanted = Wanted(metric.kind, metric.position, metric.answer, metric.other)
    words = texts_of(found.folder)
    independent = IndependentArrows(found.files, request.ids, wanted, words)
    n_tokens = len(request.ids) if len(request.ids) <= MOST_TOKENS else 0
    layers = with_residual(measured.patterns)
    work = Explaining(
        measured,
        store.put(trace, independent),
        trace,
        independent,
        np.where(measured.weights > 0, np.nan, 0.0),
        np.full(n_tokens, np.nan),
        np.full(n_tokens, np.nan),
        rollout(layers, question.query),
        beside(trace, IndependentWorth(found.files, request.ids, wanted, words)),
    )
    work.stream = _steps(question, work, layers)
    return work


def _steps(question: Question, work: Explaining, layers: np.ndarray) -> Iterator[None]:
    """One piece of work after the other."""
    for removed in removals(question, work.measured):
        _take(work, removed)
        yield
    for first, effects in unseen(question) if len(work.flows) else ():
        work.token_effects[first : first + len(effects)] = effects
        yield
    for key in range(len(work.flows)):
        work.flows[key] = flow(layers, question.query, key)
        yield
    for found in integrated(question) if len(work.flows) else ():
        work.integrated = found
        yield


def _take(work: Explaining, removed: Removed) -> None:
    work.effects[removed.layer, removed.heads, removed.keys] = removed.effects
