"""What a model's file has, beside what is worked out from its sizes; and its times, fitted."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import streamlit as st
from safetensors import safe_open

from model.analysis.cost_timing import lengths_of
from model.sources.handle import ModelHandle
from model.verify.timed import IndependentTimes
from viz import runs
from viz.runs import Run
from viz.runs.beside import Beside, beside

BYTES = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2}  # of one number, by safetensors' names


@dataclass(frozen=True)
class Stored:
    """The numbers of a file, the bytes they take there, and the bytes they take in memory here.

    `kind` is the one kind of number in the file, empty where there are several.
    """

    numbers: int
    bytes: int
    kind: str
    in_memory: int
    kind_in_memory: str


@st.cache_data(max_entries=16, show_spinner=False)
def stored(handle: ModelHandle) -> Stored:
    """What a model's file has, tensor by tensor as its header says, and what the model holds."""
    found = runs.checkpoint(handle)
    with safe_open(found.folder / "model.safetensors", "np") as file:
        slices = [file.get_slice(name) for name in file.keys()]  # noqa: SIM118  it is no mapping
    sizes = [(math.prod(x.get_shape()), x.get_dtype()) for x in slices]
    kinds = {kind for _, kind in sizes}
    weights = list(found.model.parameters())
    return Stored(
        sum(n for n, _ in sizes),
        sum(n * BYTES[kind] for n, kind in sizes),
        kinds.pop() if len(kinds) == 1 else "",
        sum(weight.nbytes for weight in weights),
        str(weights[0].dtype).removeprefix("torch."),
    )


@st.cache_data(max_entries=16, show_spinner=False)
def lengths(handle: ModelHandle) -> tuple[int, ...]:
    """The lengths at which a pass of this model can be timed."""
    return lengths_of(runs.checkpoint(handle).model)


def independent_times(
    run: Run,
    handle: ModelHandle,
    rounds: Mapping[int, Sequence[float]],
    again: tuple[int, Sequence[float]],
    places: Sequence[int],
) -> Beside | None:
    """The fits once more, from the times that are shown; None where there are no files.

    rounds: seconds by length, again: the length that was left out, and its seconds.
    """
    if run.independent is None:
        return None
    times = np.array(list(rounds.values())).T  # (R, N)
    asked, seconds = again
    independent = IndependentTimes(
        runs.checkpoint(handle).files,
        run.independent.vocabulary,
        tuple(rounds),
        times,
        asked,
        np.array(seconds),
        tuple(places),
    )
    return beside(run.trace, independent)
