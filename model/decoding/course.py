"""How a text came about: the settings by the token they held from, and tokens a person chose."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from itertools import groupby
from typing import NamedTuple

from model.decoding.filters import Sampling

PUT = "token"  # the name of a change that puts a token
NAMES = (*(field.name for field in fields(Sampling)), PUT)


class Change(NamedTuple):
    """From new token `at` on, counted from 0, a field of `Sampling` has another value.

    Named `token`, the change is of this token alone: it was put there by its id.
    """

    at: int
    name: str
    value: object


@dataclass(frozen=True)
class Course:
    """Everything that new tokens depend on beside model and prompt; the first turn is at 0.

    `turns` are the settings by the new token from which each holds, `picks` the new tokens that
    were put and their ids; both in the order of tokens. The random numbers begin again from the
    seed where it changes and after each token that was put.
    """

    turns: tuple[tuple[int, Sampling], ...]
    picks: tuple[tuple[int, int], ...] = ()

    def at(self, n: int) -> Sampling:
        """The settings that hold for new token `n`."""
        return next(sampling for start, sampling in reversed(self.turns) if start <= n)

    def pick(self, n: int) -> int | None:
        """The id that was put as new token `n`, None where it is drawn."""
        return dict(self.picks).get(n)

    def restarts(self, n: int) -> bool:
        """Whether the random numbers begin again from the seed for new token `n`."""
        return n == 0 or self.at(n).seed != self.at(n - 1).seed or self.pick(n - 1) is not None

    def until(self, n: int) -> "Course":
        """The course of the first `n` new tokens, with nothing said of those after them."""
        turns = tuple(turn for turn in self.turns if turn[0] < n) or self.turns[:1]
        return Course(turns, tuple(pick for pick in self.picks if pick[0] < n))

    def steered(self, n: int, sampling: Sampling) -> "Course":
        """The same up to new token `n`, and these settings from there on."""
        before = self.until(n)
        if n == 0:
            return Course(((0, sampling),))
        if sampling == before.at(n):
            return before
        return Course((*before.turns, (n, sampling)), before.picks)

    def picked(self, n: int, token_id: int) -> "Course":
        """The same up to new token `n` and its settings, and this token put there."""
        before = self.until(n)
        turns = tuple(turn for turn in self.turns if turn[0] <= n)
        return Course(turns, (*before.picks, (n, token_id)))


def changes_of(course: Course, now: Sampling) -> tuple[Change, ...]:
    """What brings a course back for who knows only the settings as they are `now`."""
    changes, before = [], now
    for at, sampling in course.turns:
        changes += differences(at, before, sampling)
        before = sampling
    changes += [Change(at, PUT, token_id) for at, token_id in course.picks]
    return tuple(sorted(changes, key=lambda change: change.at))


def differences(at: int, before: Sampling, after: Sampling) -> list[Change]:
    """The fields in which settings differ, with the later values."""
    names = [name for name in NAMES if name != PUT]
    return [
        Change(at, name, getattr(after, name))
        for name in names
        if getattr(before, name) != getattr(after, name)
    ]


def course_of(changes: Sequence[Change], now: Sampling) -> Course:
    """The course that `changes_of` wrote down. ValueError for a value outside its range."""
    turns, sampling = [(0, now)], now
    ordered = sorted(changes, key=lambda change: change.at)
    for at, group in groupby(ordered, key=lambda change: change.at):
        values = {change.name: change.value for change in group if change.name != PUT}
        if not values:
            continue
        sampling = replace(sampling, **values)
        turns = [*(turn for turn in turns if turn[0] != at), (at, sampling)]
    picks = {change.at: change.value for change in ordered if change.name == PUT}
    return Course(tuple(turns), tuple((at, int(str(value))) for at, value in picks.items()))
