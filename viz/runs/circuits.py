"""Circuits of two texts."""

from functools import partial

import numpy as np
import streamlit as st

from model.analysis.paths.circuit import Circuit
from model.analysis.paths.others import Elsewhere, at_random, on_another
from model.analysis.second import in_same_form
from model.device import one_thread
from model.given import Typed
from model.sources.handle import ModelHandle
from viz import runs
from viz.runs.patching import alike, ids_of
from viz.runs.under_way import under_way

MOST_TEXTS, N_DRAWS = 3, 3


@st.cache_data(max_entries=64, show_spinner=False)
@under_way("Looking for texts of the same form")
def same_form(handle: ModelHandle, both: tuple[str, str]) -> tuple[str, ...]:
    """A few texts like the first of both; see `model.analysis.second`."""
    tokenizer = runs.tokenizer(handle)
    return tuple(in_same_form(tokenizer, partial(alike, handle), both, MOST_TEXTS))


@under_way("Running the circuit on another text")
def elsewhere(circuit: Circuit, edges: np.ndarray, handle: ModelHandle, given: Typed) -> Elsewhere:
    """What edges of a circuit keep on another text; ValueError where there is nothing to keep."""
    with one_thread():
        return on_another(circuit.paths, edges, ids_of(handle, given))


@under_way("Running edges that are drawn at random")
def of_random(circuit: Circuit, n: int) -> float:
    """The mean of what n of the edges keep that are drawn at random, over a few draws."""
    draws = range(N_DRAWS)
    with one_thread():
        return sum(at_random(circuit.paths, circuit.all.edges, n, seed) for seed in draws) / N_DRAWS
