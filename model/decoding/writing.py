"""A text while it is written, token by token: belongs to one browser session."""

import math
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from threading import RLock
from typing import Any

import numpy as np
import torch

from model.adopted.model import AnyDecoder
from model.decoding.course import Course
from model.decoding.filters import Sampling
from model.decoding.sampling import CONTEXT_FULL, END_OF_TEXT, Continuation, Prediction, Step

FED_SECONDS = 1.0  # how long a browser that asked is expected to ask again


@dataclass(frozen=True, eq=False)
class WrittenToken:
    """One new token: how it was drawn, and what the position that predicted it attended to.

    `is_put` says that a person put it there, and nothing was drawn.
    `attention` has an array (H, Tk) per layer; its key 0 is token `n_dropped` of the whole text.
    """

    token_id: int
    rank: int
    before: float
    prob: float
    n_kept: int
    attention: tuple[np.ndarray, ...]
    n_dropped: int
    is_put: bool = False


@dataclass
class Writing:
    """A text while it is written up to `target` new tokens; `stopped` says why it ended.

    `now` are the settings that were given last; which tokens they held for says the course. One
    that `repeats` a course goes on past an end of the text, as the text did that it brings back.
    """

    model: AnyDecoder
    end_ids: Collection[int]
    ids: tuple[int, ...]
    slide: bool
    now: Sampling
    course: Course
    target: int = 0
    repeats: bool = False
    is_running: bool = False
    stopped: str | None = None
    steps: list[WrittenToken] = field(default_factory=list)
    version: int = 0  # of the text: another one when tokens were taken back
    sent: dict[object, list[Any]] = field(default_factory=dict)  # steps as sent, by head
    lock: RLock = field(default_factory=RLock)  # a run of the page and the browser may both ask
    fed: float = -math.inf  # when the browser last asked for more, on the clock of `monotonic`
    _text: Continuation | None = None
    _generator: torch.Generator = field(default_factory=torch.Generator)

    @property
    def is_full(self) -> bool:
        """Whether the context has no room for another token."""
        return self._text is not None and self._text.is_full

    @property
    def is_fed(self) -> bool:
        """Whether the browser itself asks for more, so that no run of the page needs to write."""
        return time.monotonic() - self.fed < FED_SECONDS

    def advance(self, seconds: float = 0.0, is_awaited: Callable[[], bool] = lambda: False) -> None:
        """Write one token, and more while there is time and nobody `is_awaited`.

        ValueError for a prompt without room.
        """
        deadline = time.monotonic() + seconds
        while self.is_running and not self.stopped and len(self.steps) < self.target:
            try:
                self._write_one()
            except ValueError as error:
                self.is_running, self.stopped = False, str(error)
                raise
            if time.monotonic() >= deadline or is_awaited():
                break
        if len(self.steps) >= self.target or self.stopped:
            self.is_running = self.repeats = False

    def feed(self, seconds: float) -> None:
        """Write on because the browser asks for more; it is expected to go on asking."""
        self.fed = time.monotonic()
        self.advance(seconds)

    def run(self, target: int) -> None:
        """Write up to so many new tokens from the next `advance` on, past an end of text too."""
        self.stopped, self.target, self.is_running = None, target, True

    def steer(self, now: Sampling) -> bool:
        """Draw from the next token on with other settings, if they are others; says whether.

        The seed of the text stays.
        """
        if now == self.now:
            return False
        self.now, n = now, len(self.steps)
        self.course = self.course.steered(n, self._seeded(n)) if n else Course(((0, now),))
        return True

    def again(self, n: int, seed: int) -> None:
        """Take new token `n` and all after it back, and draw them again with another seed."""
        target = max(self.target, len(self.steps))
        self._cut(n)
        self.course = self.course.steered(n, replace(self.now, seed=seed))
        self.run(target)

    def put(self, n: int, token_id: int) -> None:
        """Put a token as new token `n`, in place of what was there and came after it."""
        self._cut(n)
        self.course = self.course.steered(n, self._seeded(n)).picked(n, token_id)
        self.run(n + 1)

    def prediction(self, n: int) -> Prediction | None:
        """What new token `n` is drawn from; None where there is no room, or what it was drawn from
        has been dropped since."""
        text = self._continued()
        place = len(self.ids) + n
        is_next = n == len(self.steps)
        if (is_next and text.is_full) or not text.reaches(place) or len(self.steps) < n:
            return None
        return text.prediction_before(place)

    def _seeded(self, n: int) -> Sampling:
        return replace(self.now, seed=self.course.at(n).seed)

    def _continued(self) -> Continuation:
        if self._text is None:
            self._text = Continuation(self.model, self.ids, slide=self.slide, record=True)
        return self._text

    def _write_one(self) -> None:
        n, text = len(self.steps), self._continued()
        if text.is_full:
            self.stopped = CONTEXT_FULL
            return
        sampling, token_id = self.course.at(n), self.course.pick(n)
        if self.course.restarts(n):
            self._generator.manual_seed(sampling.seed)
        is_put = token_id is not None
        step = text.put(token_id, sampling) if is_put else text.draw(sampling, self._generator)
        self.steps.append(_written(step, is_put))
        is_over = step.token_id in self.end_ids
        if is_over and not (self.repeats and len(self.steps) < self.target):
            self.stopped = END_OF_TEXT
        elif text.is_full:
            self.stopped = CONTEXT_FULL

    def _cut(self, n: int) -> None:
        """Keep `n` new tokens; where the context has slid since, they are written again first."""
        self.course = self.course.until(n)
        self.version += 1
        self.stopped = None
        text = self._continued()
        if text.reaches(len(self.ids) + n):
            text.cut(len(self.ids) + n)
        else:
            self._text, self.repeats, n = None, True, 0
        for kept in (self.steps, *self.sent.values()):
            del kept[n:]


def write(
    model: AnyDecoder,
    end_ids: Collection[int],
    ids: tuple[int, ...],
    now: Sampling,
    *,
    slide: bool = False,
    course: Course | None = None,
    target: int = 0,
) -> Writing:
    """A text before its first token; nothing is computed before `advance`.

    With a `course` it is brought back up to `target` tokens.
    """
    course = course or Course(((0, now),))
    repeats = target > 0
    return Writing(model, end_ids, ids, slide, now, course, target, repeats, is_running=repeats)


def _written(step: Step, is_put: bool) -> WrittenToken:
    return WrittenToken(
        token_id=step.token_id,
        rank=step.rank,
        before=float(step.logits.double().softmax(dim=0)[step.token_id]),
        prob=float(step.probs[step.token_id]),
        n_kept=int(step.kept.sum()),
        attention=step.attention,
        n_dropped=step.n_dropped,
        is_put=is_put,
    )
