"""A measurement of time while it is taken: belongs to one browser session."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from model.analysis.cost_timing import time_passes
from model.analysis.timing import Timing, time_tokens
from model.sources.handle import ModelHandle
from model.work import Work
from viz import runs


@dataclass
class Measuring(Work):
    """The times so far, and the stream that gives more."""

    stream: Iterator[Timing]
    timings: list[Timing] = field(default_factory=list)

    @property
    def progress(self) -> float:
        """How much of it is done, 0 to 1."""
        return self.timings[-1].progress if self.timings else 0.0

    def go_on(self) -> bool:
        """Take one more time."""
        timing = next(self.stream, None)
        self.timings += [timing] if timing else []
        return timing is not None


def measure(handle: ModelHandle) -> Measuring:
    """Begin to time tokens with and without the cache; nothing runs before `advance`."""
    return Measuring(time_tokens(runs.own_decoder(handle)))


def measure_passes(handle: ModelHandle, asked: int) -> Measuring:
    """Begin to count and time passes of a model of any architecture; `asked` comes last."""
    return Measuring(time_passes(runs.checkpoint(handle).model, asked))
