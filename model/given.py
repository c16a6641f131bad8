"""What a person gives a model to run on."""

from collections.abc import Sequence
from typing import NamedTuple, cast

import numpy as np

# Given as plain values, which caches can compare: ids, of a translation two rows of them, or the
# bytes of float32 pixels.
Ids = tuple[int, ...]


class Blanked(NamedTuple):
    """A text some of whose tokens, by their places, are hidden behind [MASK]."""

    text: str
    blanks: tuple[int, ...]


class Translation(NamedTuple):
    """A source text, and the ids of a target that is fed in: what comes after each is predicted."""

    source: str
    target: tuple[int, ...]


class Turn(NamedTuple):
    """What one of "system", "user" or "assistant" says in a chat."""

    role: str
    text: str


class Chat(NamedTuple):
    """A chat, which a model reads by its own template; an answer is asked for unless it has it.

    answer: ids of one that has begun.
    """

    turns: tuple[Turn, ...]
    answer: Ids = ()


class Markup(NamedTuple):
    """A text whose special tokens, written out as in `<|im_start|>`, are read as such."""

    text: str


Typed = str | Markup | Chat
Given = Typed | Blanked | Translation | np.ndarray  # a picture is (S, S) from 0 to 1
Input = Ids | tuple[Ids, ...] | bytes


def words_of(given: Typed) -> str:
    """Its words alone, as any model reads them; of a chat what was said last."""
    if isinstance(given, Chat):
        return given.turns[-1].text
    return given.text if isinstance(given, Markup) else given


def with_words(given: Typed, text: str) -> Typed:
    """The same with other words; of a chat what was said last is another text."""
    if isinstance(given, Chat):
        *before, last = given.turns
        return given._replace(turns=(*before, last._replace(text=text)))
    return Markup(text) if isinstance(given, Markup) else text


def as_given(given: Input) -> np.ndarray | tuple[np.ndarray, ...]:
    """An input as a run takes it."""
    if isinstance(given, bytes):
        pixels = np.frombuffer(given, np.float32)
        side = round(len(pixels) ** 0.5)
        return pixels.reshape(side, side)
    if given and isinstance(given[0], tuple):
        return tuple(np.array(row) for row in given)
    return np.array(given)


def as_input(given: np.ndarray | tuple[np.ndarray, ...]) -> Input:
    """What a run was given, as plain values."""
    if isinstance(given, tuple):
        return tuple(tuple(row.tolist()) for row in given)
    return given.astype(np.float32).tobytes() if given.ndim > 1 else tuple(given.tolist())


def rows_of(given: Input) -> tuple[Ids, ...]:
    """The ids of a text, or of a source and its target."""
    return cast(tuple[Ids, ...], given if given and isinstance(given[0], tuple) else (given,))


def space_at_end(tokens: Sequence[str]) -> str:
    """What a space at the end of a text does to what comes next; empty where it does nothing.

    Where words begin with their space, the last one is a token of its own, and the next word
    cannot come as the model has learnt it.
    """
    has_own_spaces = any(text[:1] == " " and text.strip() for text in tokens)
    if not has_own_spaces or tokens[-1] != " ":
        return ""
    return (
        "The text ends in a space, which is a token of its own here. Words of this vocabulary "
        "begin with theirs, so the next one is predicted worse: leave the space out."
    )
