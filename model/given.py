"""What a person gives a model to run on."""

from typing import NamedTuple

import numpy as np


class Blanked(NamedTuple):
    """A text some of whose tokens, by their places, are hidden behind [MASK]."""

    text: str
    blanks: tuple[int, ...]


class Translation(NamedTuple):
    """A source text, and the ids of a target that is fed in: what comes after each is predicted."""

    source: str
    target: tuple[int, ...]


Given = str | Blanked | Translation | np.ndarray  # a picture is (S, S) from 0 to 1

# Given as plain values, which caches can compare: ids, of a translation two rows of them, or the
# bytes of float32 pixels.
Input = tuple[int, ...] | tuple[tuple[int, ...], ...] | bytes


def as_given(given: Input) -> np.ndarray | tuple[np.ndarray, ...]:
    """An input as a run takes it."""
    if isinstance(given, bytes):
        pixels = np.frombuffer(given, np.float32)
        side = round(len(pixels) ** 0.5)
        return pixels.reshape(side, side)
    if given and isinstance(given[0], tuple):
        return tuple(np.array(row) for row in given)
    return np.array(given)
