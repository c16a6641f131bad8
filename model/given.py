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
