"""What the parts of the page share: what is off, both runs, and what they are judged by."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from model.analysis.ablation import EVERYTHING, MEAN, OTHER, SURVEYED, ZERO, Part
from model.analysis.patching import check_tokens
from model.names import head_name
from model.trace import Trace
from viz import runs
from viz.frame import answers, settings, state
from viz.frame.said import Piece, Word
from viz.frame.view import View
from viz.runs import Run, ablating, blanks
from viz.runs.kept import Asked

RISE = 0.05  # of the loss, up to which heads can go
WORDS = {
    ZERO: "zero",
    MEAN: "mean over this input",
    SURVEYED: "mean over held-out text",
    OTHER: "another sentence",
}


@dataclass(frozen=True, eq=False)
class Experiment:
    """What is off on this page, the run under it, and what both runs are judged by."""

    view: View
    off: tuple[str, ...]
    way: str
    asked: Asked[Run]
    judged: ablating.Judged
    before: np.ndarray  # losses of the targets, (N,)
    after: np.ndarray

    @property
    def edited(self) -> Run:
        """The run with parts off."""
        return self.asked.answer

    @property
    def is_everything(self) -> bool:
        """Whether nothing is left of the model."""
        return EVERYTHING in self.off

    @property
    def whole_loss(self) -> float:
        """The mean loss with nothing off."""
        return float(self.before.mean())

    def ranking(self, parts: Sequence[Part]) -> ablating.Ranking:
        """What each of these parts costs, as far as it is known: at first estimates."""
        view, targets = self.view, self.judged.targets
        return ablating.ranking(view.handle, view.run, parts, targets, self.whole_loss)

    def switch(self, part: Part) -> None:
        """Switch a part, on or off."""
        state.put((settings.OFF, list(toggled(self.off, part.text))))


def toggled(off: tuple[str, ...], part: str) -> tuple[str, ...]:
    """What is off once a part is switched, on or off."""
    if part in off:
        return tuple(one for one in off if one != part)
    return (*(one for one in off if one != EVERYTHING), part)


def experiment_of(view: View, way: str) -> Experiment:
    """Run the input with what is off; ValueError for another sentence that does not fit."""
    sizes = ablating.sizes(view.handle, view.run.trace)
    off = state.value(settings.OFF.given(sizes=sizes))

    def edited() -> Run:
        other = _other(view) if way == OTHER else None
        if not off:
            return view.run
        key = "" if other is None else other.key
        return ablating.without(view.handle, view.run, view.run.key, off, way, other, key)

    asked = Asked(edited)
    true_ids = None
    if "encoder" in view.offers:
        true_ids = blanks.ids_of(view.handle, view.sentence)
    judged = ablating.judged(view.run, true_ids)
    before, after = (judged.losses(run.trace) for run in (view.run, asked.answer))
    return Experiment(view, off, way, asked, judged, before, after)


def _other(view: View) -> Run:
    """The run of the other sentence; ValueError where it has another number of tokens."""
    text = state.value(settings.SECOND)
    if not text.strip():
        raise ValueError("the other sentence is empty; type one with as many tokens")
    run = runs.run(view.handle, text)
    check_tokens(view.run.trace.tokens, run.trace.tokens)
    return run


def layer_name(part: Part, trace: Trace) -> str:
    """The layer a part is in, of its kind of attention, as it is named on screen."""
    return f"{_stack(part, trace)}L{part.layer}{' cross' if part.module == 'cross_attn' else ''}"


def _stack(part: Part, trace: Trace) -> str:
    """The stack where it must be told."""
    return "encoder " if len(trace.streams) > 1 and part.stack == "encoder" else ""


def name_of(part: Part, trace: Trace) -> str:
    """A part as it is named on screen, such as L2 H4 or L0 H1: it → animal; labels are text."""
    layer = layer_name(part, trace)
    if part.module == "ffn":
        return f"{layer} MLP" if part.unit is None else f"{layer} N{part.unit}"
    if part.unit is None:
        return f"{layer} attention"
    kind = "cross" if part.module == "cross_attn" else ""
    head = f"{_stack(part, trace)}{head_name(part.layer, part.unit, kind)}"
    if part.query is None:
        return head
    queries = answers.labels_of(trace.stream(part.stack))
    source = trace.stream("encoder" if part.module == "cross_attn" else part.stack)
    query = f"{queries[part.query]} ({part.query})"
    if part.key is None:
        return f"{head} at {query}"
    return f"{head}: {query} → {answers.labels_of(source)[part.key]} ({part.key})"


def answer_of(view: View, best: int, names: Sequence[str]) -> Piece:
    """The most likely answer of a run by its name, a token or a class."""
    return Word(names[best]) if "vocabulary" in view.offers else names[best]
