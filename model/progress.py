"""How far an opening has come, told to whoever waits for it, who may also stop it.

What takes long says its steps with `begin` and goes through its pieces with `each`, wherever it is
called from: nothing is passed on to it, and where nobody waits both cost nothing.
"""

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from statistics import median
from typing import NamedTuple, TypeVar

Piece = TypeVar("Piece")
# The steps of an opening, in their order.
READING, WEIGHTS, CHECKING, TOKENIZER = STEPS = range(4)
KNOWN = 3  # pieces from which on a rate is known


class Stopped(BaseException):
    """Nobody wants it any more; no `except Exception` of a library takes it for a fault."""


class Stage(NamedTuple):
    """What is being done: one of `STEPS`, in words, and how many of its pieces are done, in words.

    share: of the step that is done, by the sizes of its pieces, 0 to 1. seconds_left: of the step;
    not a number before a rate is known.
    """

    step: int
    words: str
    pieces: str = ""
    share: float = 0.0
    seconds_left: float = math.nan

    @property
    def progress(self) -> float:
        """Of the whole opening, 0 to 1, all steps alike."""
        return (self.step + self.share) / len(STEPS)


class Progress:
    """What one opening says, and whether it shall go on; of any thread."""

    def __init__(
        self,
        on_change: Callable[[Stage], None] = lambda stage: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.stage = Stage(READING, "Reading")
        self._on_change = on_change
        self._clock = clock
        self._is_stopped = False

    def stop(self) -> None:
        """End it at the next thing that it says."""
        self._is_stopped = True

    def say(self, stage: Stage) -> None:
        """Note what is being done; `Stopped` where it is not to go on."""
        if self._is_stopped:
            raise Stopped
        self.stage = stage
        self._on_change(stage)

    def each(
        self, begun: Stage, pieces: Sequence[Piece], size: Callable[[Piece], float], unit: str
    ) -> Iterator[Piece]:
        """The pieces, one by one; `Stopped` before the next where it is not to go on."""
        whole, done, rates = sum(map(size, pieces)) or 1.0, 0.0, list[float]()
        for number, piece in enumerate(pieces):
            left = (whole - done) * median(rates) if len(rates) >= KNOWN else math.nan
            said = f"{number:,} of {len(pieces):,} {unit}" if unit else ""
            self.say(begun._replace(pieces=said, share=done / whole, seconds_left=left))
            began, n = self._clock(), size(piece)
            yield piece
            done += n
            if n:
                rates.append((self._clock() - began) / n)
        self.say(begun._replace(share=1.0))


_told: ContextVar[Progress | None] = ContextVar("who is told how far an opening is", default=None)


@contextmanager
def told_to(progress: Progress) -> Iterator[None]:
    """Have all that is opened within it say so there."""
    token = _told.set(progress)
    try:
        yield
    finally:
        _told.reset(token)


def begin(step: int, words: str) -> None:
    """A step of an opening begins, which has no pieces to count."""
    if progress := _told.get():
        progress.say(Stage(step, words))


def each(
    step: int,
    words: str,
    pieces: Iterable[Piece],
    size: Callable[[Piece], float],
    unit: str = "",
) -> Iterable[Piece]:
    """The pieces of a step, one by one, each as much of it as its size.

    unit: what they are, where a person is told how many there are.
    """
    progress = _told.get()
    if progress is None:
        return pieces
    return progress.each(Stage(step, words), [*pieces], size, unit)
