"""The findings of a run while they are worked out: every head taken away once, piece by piece."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from model.analysis.ablation import Part
from model.analysis.circuits import value_norms
from model.analysis.findings import Found, heaviest_arrow
from model.sources.handle import ModelHandle
from viz.runs import Run, ablating
from viz.runs.kept import Asked


@dataclass(eq=False)
class Scan:
    """What each head costs as far as it is known; `whole` is the mean loss with all of them."""

    handle: ModelHandle
    asked: Asked[Run]
    judged: ablating.Judged
    ranking: ablating.Ranking
    is_running: bool = True

    @property
    def run(self) -> Run:
        """The run with every head."""
        return self.asked.answer

    @property
    def parts(self) -> list[Part]:
        """The heads, in the order in which they are taken away."""
        return self.ranking.parts

    @property
    def is_done(self) -> bool:
        """Whether every head was taken away once."""
        return len(self.ranking.losses) == len(self.parts)

    @property
    def progress(self) -> float:
        """How many of the heads are known, 0 to 1."""
        return len(self.ranking.losses) / len(self.parts)

    def advance(self, seconds: float) -> None:
        """Take heads away for so long."""
        self.ranking.advance(seconds)
        self.is_running = not self.is_done

    @cached_property
    def before(self) -> np.ndarray:
        """−ln p of each target with all heads, (N,)."""
        return self.judged.losses(self.run.trace)

    @property
    def costs(self) -> np.ndarray:
        """What the mean loss rises by without each head, (N,), NaN where it is not known yet."""
        found = np.full(len(self.parts), np.nan)
        known = self.ranking.losses
        found[: len(known)] = np.array(known) - self.before.mean()
        return found

    def without(self, part: Part) -> Run:
        """The run without one head."""
        return ablating.without(self.handle, self.run, self.run.key, (part.text,))

    @cached_property
    def heaviest(self) -> Found | None:
        """The arrow that adds the longest vector; None where no query has a choice."""
        model, records = ablating.model_of(self.handle), self.run.trace.attention
        return heaviest_arrow(records, [value_norms(record, model) for record in records])


def scan(handle: ModelHandle, asked: Asked[Run], judged: ablating.Judged) -> Scan:
    """Begin: no head is taken away before `advance`."""
    run = asked.answer
    heads = ablating.heads(handle, run)
    return Scan(handle, asked, judged, ablating.ranking(handle, run, heads, judged.targets))
