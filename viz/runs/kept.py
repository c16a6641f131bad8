"""What was worked out of an input is kept for all visitors, up to so many bytes in all.

One budget for all functions, and room for a few large answers: what was asked for longest ago goes
first. Nothing is locked while something is worked out; who asks for the same in that time waits for
the one answer.
"""

import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence, Set
from concurrent.futures import CancelledError, Future
from dataclasses import fields, is_dataclass, replace
from functools import wraps
from inspect import signature
from typing import Generic, ParamSpec, TypeVar, cast

import numpy as np
from torch import Tensor

from viz.kit.part import Part

BUDGET = 400_000_000  # bytes: some nine runs of 256 tokens through a model of 6 × 8 heads
MOST_LARGE = 2  # answers larger than half of it, such as a long run and the same with a part off

Given = ParamSpec("Given")
Answer = TypeVar("Answer")


class Kept:
    """Answers by what was asked for, the one asked for last at the end."""

    def __init__(self, budget: int) -> None:
        self.budget = budget
        self._lock = threading.Lock()
        self._answers: OrderedDict[Hashable, tuple[object, int]] = OrderedDict()
        self._coming: dict[Hashable, Future[object]] = {}

    def answer(self, asked: Hashable, work_out: Callable[[], object]) -> object:
        """What is kept, or is being worked out, or is worked out now."""
        while True:
            with self._lock:
                if asked in self._answers:
                    self._answers.move_to_end(asked)
                    return self._answers[asked][0]
                coming = self._coming.get(asked)
                is_mine = coming is None
                if coming is None:
                    coming = self._coming[asked] = Future()
            if is_mine:
                return self._work_out(asked, work_out, coming)
            try:
                return coming.result()
            except CancelledError:  # whoever worked it out was stopped
                continue

    def has(self, asked: Hashable) -> bool:
        """Whether the answer is there."""
        with self._lock:
            return asked in self._answers

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._answers.clear()

    @property
    def n_bytes(self) -> int:
        """How much is kept."""
        return sum(n for _, n in self._answers.values())

    def _work_out(
        self, asked: Hashable, work_out: Callable[[], object], coming: "Future[object]"
    ) -> object:
        try:
            answer = work_out()
        except Exception as error:
            self._coming.pop(asked)
            coming.set_exception(error)
            raise
        except BaseException:  # Streamlit ends a run of a page this way
            self._coming.pop(asked)
            coming.cancel()
            raise
        with self._lock:
            self._keep(asked, answer)
            self._coming.pop(asked)
        coming.set_result(answer)
        return answer

    def _keep(self, asked: Hashable, answer: object) -> None:
        """Runs of long texts do not count: the last ones stay, since pages ask again and again."""
        self._answers[asked] = answer, bytes_of(answer)
        sizes = {key: n for key, (_, n) in self._answers.items()}
        large = [key for key, n in sizes.items() if n > self.budget / 2]
        gone = large[:-MOST_LARGE]
        counted = [key for key in sizes if key not in large]
        excess = sum(sizes[key] for key in counted) - self.budget
        for key in counted:
            if excess > 0:
                gone.append(key)
                excess -= sizes[key]
        for key in gone:
            del self._answers[key]


KEPT = Kept(BUDGET)


def kept(function: Callable[Given, Answer]) -> Callable[Given, Answer]:
    """Keep what a function gives back, by its arguments but for those named with an underscore."""
    parameters = signature(function)

    @wraps(function)
    def ask(*args: Given.args, **kwargs: Given.kwargs) -> Answer:
        bound = parameters.bind(*args, **kwargs)
        bound.apply_defaults()
        given = tuple(x for name, x in bound.arguments.items() if name[0] != "_")
        return cast("Answer", KEPT.answer((function, given), lambda: function(*args, **kwargs)))

    return ask


def is_kept(ask: Callable[..., object], *given: Hashable) -> bool:
    """Whether the answer of such a function to these arguments, in their order, is there."""
    return KEPT.has((vars(ask)["__wrapped__"], given))


def held(part: Part) -> Part:
    """A small part, with arrays that are kept for a browser to fetch."""
    names = tuple((name, about["id"]) for name, about in part.known.items())
    return replace(part, arrays=_arrays(names, part).shared)


@kept
def _arrays(names: tuple[tuple[str, str], ...], _part: Part) -> Part:
    return _part


class Asked(Generic[Answer]):
    """An answer that is kept here alone, and asked for again once it had to go.

    Streamlit keeps what it may call for a visitor for minutes after he left: what that holds has
    this in the place of a run.
    """

    def __init__(self, ask: Callable[[], Answer]) -> None:
        self._ask = ask
        self._kept: Callable[[], Answer | None] = lambda: None

    @property
    def answer(self) -> Answer:
        """The same one for as long as it is kept."""
        answer = self._kept()
        if answer is None:
            answer = self._ask()
            self._kept = weakref.ref(answer)
        return answer


def bytes_of(value: object) -> int:
    """Bytes of all arrays, texts and bytes in a value, each counted once; so is shared memory."""
    seen: set[object] = set()

    def count(part: object) -> int:
        is_array = isinstance(part, np.ndarray | Tensor)
        known = (_place(part), part.nbytes) if is_array else id(part)
        if known in seen:
            return 0
        seen.add(known)
        if is_array:
            return part.nbytes
        if isinstance(part, str | bytes):
            return len(part)
        if is_dataclass(part):
            return sum(count(getattr(part, field.name)) for field in fields(part))
        if isinstance(part, Mapping):
            return sum(count(item) for item in part.values())
        return sum(map(count, part)) if isinstance(part, Sequence | Set) else 0

    return count(value)


def _place(array: np.ndarray | Tensor) -> int:
    """Where in memory its numbers begin."""
    return array.data_ptr() if isinstance(array, Tensor) else array.ctypes.data
