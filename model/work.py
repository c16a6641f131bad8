"""Long work that is done in pieces: begun, stopped, and gone on with."""

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Generator
from typing import TypeAlias, TypeVar

from model.device import one_thread

Result = TypeVar("Result")
Steps: TypeAlias = Generator[object, None, Result]  # gives way after each, and returns its result


def result_of(steps: Steps[Result]) -> Result:
    """What is made, all steps at once."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


class Work(ABC):
    """What gives way after each of its pieces, and says how far it has come."""

    is_running: bool = True
    has_ended: bool = False

    @property
    def is_done(self) -> bool:
        """Whether all of it is there."""
        return self.has_ended

    @property
    @abstractmethod
    def progress(self) -> float:
        """How much of it is there, 0 to 1."""

    @abstractmethod
    def go_on(self) -> bool:
        """Do one piece; whether there may be another."""

    def finish(self) -> None:
        """Do all that is left."""
        self.advance(math.inf)

    def advance(self, seconds: float) -> None:
        """Do a piece, and further ones while there is time; on one thread of the CPU."""
        deadline = time.monotonic() + seconds
        with one_thread():
            while self.is_running and not self.is_done:
                self.has_ended = not self.go_on()
                if time.monotonic() >= deadline:
                    break
        self.is_running = self.is_running and not self.is_done
