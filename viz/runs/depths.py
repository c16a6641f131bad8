"""Gradients through networks of every depth while they are measured, and those of a model."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import streamlit as st

from model.analysis.depth import DEPTHS, KINDS, Kind, Measured, measurements, own_gradients
from model.device import one_thread
from model.sources.handle import ModelHandle
from model.work import Work
from viz import runs
from viz.runs.under_way import under_way


@dataclass(eq=False)
class Measuring(Work):
    """What is measured so far, by kind and depth, and the stream that gives more."""

    stream: Iterator[Measured | None]
    lengths: dict[tuple[Kind, int], np.ndarray] = field(default_factory=dict)
    is_running: bool = True  # from the start: all of it takes seconds

    @property
    def n_networks(self) -> int:
        """How many there are."""
        return len(KINDS) * len(DEPTHS)

    @property
    def progress(self) -> float:
        """How many of them are measured, 0 to 1."""
        return len(self.lengths) / self.n_networks

    def go_on(self) -> bool:
        """Do a piece of a network."""
        measured = next(self.stream)
        if measured is not None:
            self.lengths[measured.kind, measured.depth] = measured.lengths
        return len(self.lengths) < self.n_networks

    def first(self, kind: Kind) -> np.ndarray:
        """The gradient before the first block by depth, (depths,), NaN where not yet measured."""
        return np.array([self.layers(kind, depth)[0] for depth in DEPTHS])

    def layers(self, kind: Kind, depth: int) -> np.ndarray:
        """The gradient before each block and after the last, (depth + 1,), NaN as above."""
        return self.lengths.get((kind, depth), np.full(depth + 1, np.nan))


def measuring(seed: int) -> Measuring:
    """Begin: nothing is measured before `advance`."""
    return Measuring(measurements(seed))


@st.cache_data(max_entries=16, show_spinner=False)
@under_way("Measuring the gradient layer by layer")
def own(handle: ModelHandle, ids: tuple[int, ...]) -> np.ndarray:
    """The gradient of the loss of a text by layer, (L + 1,)."""
    with one_thread():
        return own_gradients(runs.decoder(handle), ids)
