"""Circuits of two texts."""

from dataclasses import dataclass
from functools import partial

import numpy as np
import streamlit as st

from model.analysis.metrics import Metric
from model.analysis.patching import Pair
from model.analysis.paths.circuit import Circuit
from model.analysis.paths.others import Elsewhere, at_random, on_another
from model.analysis.paths.terms import paths
from model.analysis.second import in_same_form
from model.device import one_thread
from model.given import Input, as_given
from model.memory import give_back_freed_memory
from model.sources.handle import ModelHandle
from viz import runs
from viz.runs.patching import alike, ids_of

MOST_TEXTS, N_DRAWS = 3, 3


@dataclass(frozen=True)
class Request:
    """What is asked for: what makes the answer of `base`, where `source` has another."""

    handle: ModelHandle
    base: Input
    source: Input
    metric: Metric


def begin(request: Request) -> Circuit:
    """Both runs and one backward pass; no edge but those into the answer is estimated yet.

    ValueError where there is no circuit.
    """
    model = runs.runnable(request.handle).model
    base, source = as_given(request.base), as_given(request.source)
    with one_thread():
        circuit = Circuit(paths(Pair(model, base, source, request.metric)))
    give_back_freed_memory()  # what gradients took
    return circuit


@st.cache_data(max_entries=64, show_spinner=False)
def same_form(handle: ModelHandle, both: tuple[str, str]) -> tuple[str, ...]:
    """A few texts like the first of both; see `model.analysis.second`."""
    tokenizer = runs.tokenizer(handle)
    return tuple(in_same_form(tokenizer, partial(alike, handle), both, MOST_TEXTS))


def elsewhere(circuit: Circuit, edges: np.ndarray, handle: ModelHandle, text: str) -> Elsewhere:
    """What edges of a circuit keep on another text; ValueError where there is nothing to keep."""
    with one_thread():
        return on_another(circuit.paths, edges, ids_of(handle, text))


def of_random(circuit: Circuit, n: int) -> float:
    """The mean of what n of the edges keep that are drawn at random, over a few draws."""
    draws = range(N_DRAWS)
    with one_thread():
        return sum(at_random(circuit.paths, circuit.all.edges, n, seed) for seed in draws) / N_DRAWS
