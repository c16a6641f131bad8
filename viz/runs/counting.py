"""What a model's file has, beside what is worked out from its sizes; and its times, fitted."""

import math
from dataclasses import dataclass

import streamlit as st
from safetensors import safe_open

from model.analysis.cost_timing import lengths_of
from model.sources.handle import ModelHandle
from viz import runs

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
