"""What a person gives a model to run on."""

from typing import NamedTuple

import numpy as np


class Blanked(NamedTuple):
    """A text some of whose tokens, by their places, are hidden behind [MASK]."""

    text: str
    blanks: tuple[int, ...]


Given = str | Blanked | np.ndarray  # a picture is (S, S) from 0 to 1
