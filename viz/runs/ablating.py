"""Runs with parts of the model off, what each part costs, and how many heads can go."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from model.analysis.ablation import (
    CLASS,
    EVERYTHING,
    IN_PLACE,
    KEPT,
    MEAN,
    SURVEYED,
    ZERO,
    Part,
    Step,
    Targets,
    edits_of,
    every_head,
    every_sublayer,
    everything_off,
    part_of,
    pruned,
    single_costs,
    sizes_of,
    targets_of,
)
from model.analysis.branching import values_of
from model.analysis.exact import Filling
from model.analysis.means import averaged, mean_over, ordinary, surveyed_values
from model.architectures.base import Transformer
from model.device import one_thread
from model.sources.handle import ModelHandle
from model.survey.stored import command
from model.tap import Edit, Editor
from model.trace import Trace
from model.work import Work
from viz import runs
from viz.runs import Run
from viz.runs import heads as heads_of
from viz.runs.checking import begin
from viz.runs.kept import kept
from viz.runs.under_way import under_way

AT_ONCE = 384  # tokens of a piece of work: nobody waits longer than for one


def model_of(handle: ModelHandle) -> Transformer:
    """The model of a handle; ValueError where it cannot run again."""
    return runs.runnable(handle).model


def sizes(handle: ModelHandle, trace: Trace) -> dict[str, tuple[int, ...]]:
    """What can be switched off in a run: see `model.analysis.ablation.sizes_of`."""
    return sizes_of(model_of(handle), {stream.name: len(stream) for stream in trace.streams})


@kept
@under_way("Keeping what every part of the model gives")
def values(handle: ModelHandle, _run: Run, key: str, has_arrows: bool) -> dict[str, Tensor]:
    """What edits may put back, of one run; `key` is the run's."""
    names = KEPT if has_arrows else KEPT - {"pattern"}  # patterns are large
    return values_of(model_of(handle), _run.trace.given, names)


@kept
@under_way("Running the model with parts off")
def without(
    handle: ModelHandle,
    _run: Run,
    key: str,
    off: tuple[str, ...],
    way: str = ZERO,
    _other: Run | None = None,
    other_key: str = "",
) -> Run:
    """The same input with parts off; the keys are those of the runs beside them.

    ValueError for a part that there is not.
    """
    trace = _run.trace
    edits = edits_for(handle, _run, off, way, _other)
    loaded = runs.runnable(handle)
    changed = loaded.captured(_arguments(trace), [Editor(*edits)])
    checking = begin(changed, lambda trace: loaded.check_edited(trace, edits))
    return Run(changed, checking, _run.offers)


def edits_for(
    handle: ModelHandle, run: Run, off: Sequence[str], way: str, other: Run | None = None
) -> list[Edit]:
    """Edits that switch parts off, by their spellings."""
    if EVERYTHING in off:
        return everything_off(model_of(handle))
    known = sizes(handle, run.trace)
    parts = [part_of(text, known) for text in off]
    has_arrows = any(part.key is not None for part in parts)
    own = _own(handle, run, way, has_arrows)
    others = values(handle, other, other.key, has_arrows) if other is not None else None
    return edits_of(parts, way, own, others)


def _own(handle: ModelHandle, run: Run, way: str, has_arrows: bool) -> Mapping[str, Tensor] | None:
    """What means are taken of: this run, or the survey's text."""
    if way == SURVEYED:
        survey = heads_of.survey(handle)
        if survey is None:
            raise ValueError(f"no survey is stored with {handle.name}; {command(handle.name)}")
        return surveyed_values({name: group.mean_z for name, group in survey.groups.items()})
    if way != MEAN:
        return None
    places = ordinary(run.trace, runs.runnable(handle).special_ids)
    return averaged(values(handle, run, run.key, has_arrows), places)


def mean_of(handle: ModelHandle, run: Run) -> str:
    """Of how many tokens the mean is that stands in for a part, in words."""
    return mean_over(run.trace, ordinary(run.trace, runs.runnable(handle).special_ids))


def _arguments(trace: Trace) -> tuple[Any, ...]:
    """What the capture of an architecture takes to run a trace's input again."""
    if trace.main.pixels is not None:
        return (trace.main.pixels,)
    rows = []
    for stream in trace.streams:
        assert stream.ids is not None
        rows.append((stream.ids.tolist(), stream.labels))
    return tuple(rows) if len(rows) > 1 else rows[0]


# --- what a run is judged by ------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Judged:
    """What is right in a run, and which token of the last stream each is, −1 for a class."""

    targets: Targets
    places: tuple[int, ...]

    def losses(self, trace: Trace) -> np.ndarray:
        """−ln p of each target in a run, (N,)."""
        assert trace.output is not None
        logits = torch.tensor(trace.output)
        return self.targets.losses(logits[0] if self.targets.name == CLASS else logits)


def judged(run: Run, true_ids: Sequence[int] | None = None) -> Judged:
    """The targets of a run.

    true_ids: of a text some of whose tokens are hidden, the ids that stood there.
    """
    trace = run.trace
    targets = targets_of(trace, true_ids)
    if targets.name == IN_PLACE:
        return Judged(targets, tuple(targets.positions.tolist()))
    if targets.name == CLASS or len(trace.tokens) == 1:
        return Judged(targets, (-1,))
    return Judged(targets, tuple((targets.positions + 1).tolist()))


# --- long work, piece by piece ----------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Ranking:
    """What each part costs by itself: the growth of the mean loss, part by part."""

    parts: list[Part]
    filling: Filling

    @property
    def costs(self) -> dict[Part, float]:
        """What each costs, or is estimated to."""
        return dict(zip(self.parts, self.filling.values.tolist(), strict=True))


@under_way("Estimating what each part costs")
def ranking(
    handle: ModelHandle, run: Run, parts: Sequence[Part], targets: Targets, whole: float
) -> Ranking:
    """Estimate what each part costs; nothing is taken away before it advances.

    whole: the mean loss with nothing off.
    """
    with one_thread():
        filling = single_costs(model_of(handle), run.trace.given, parts, targets, whole)
    return Ranking(list(parts), filling)


def heads(handle: ModelHandle, run: Run) -> list[Part]:
    """Every head of a run."""
    return every_head(sizes(handle, run.trace))


def sublayers(handle: ModelHandle, run: Run) -> list[Part]:
    """All heads of each layer together, and each feed-forward."""
    return every_sublayer(sizes(handle, run.trace))


@dataclass
class Pruning(Work):
    """Heads that went one after the other; `n` there are in all."""

    n: int
    stream: Iterator[Step | None]
    steps: list[Step] = field(default_factory=list)

    @property
    def progress(self) -> float:
        """How much of the work is done, 0 to 1: each step tries all heads that are left."""
        left = self.n - len(self.steps)
        return 1 - left * (left + 1) / (self.n * (self.n + 1))

    def go_on(self) -> bool:
        """Try some of the heads that are left."""
        step = next(self.stream, self)
        self.steps += [step] if isinstance(step, Step) else []
        return step is not self


def pruning(handle: ModelHandle, run: Run, targets: Targets) -> Pruning:
    """Begin to prune heads greedily; nothing runs before `advance`."""
    parts = heads(handle, run)
    at_once = _rows_at_once(run.trace)
    return Pruning(len(parts), pruned(model_of(handle), run.trace.given, parts, targets, at_once))


def _rows_at_once(trace: Trace) -> int:
    return max(1, AT_ONCE // sum(len(stream) for stream in trace.streams))
