"""What a model's file has, beside what is worked out from its sizes; and its times, fitted."""

import math
from dataclasses import dataclass
from typing import cast

import streamlit as st

from model.adopted.model import AdoptedModel
from model.analysis.cost_timing import lengths_of
from model.analysis.seen import Seen, seen_of
from model.analysis.sizes import Shape, shape_of
from model.sources.folder import stored_in
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
    each_in_memory: int
    kind_in_memory: str


@st.cache_data(max_entries=16, show_spinner=False)
def stored(handle: ModelHandle) -> Stored:
    """What a model's file has, tensor by tensor as its header says, and what the model holds."""
    loaded = runs.runnable(handle)
    tensors = stored_in(loaded.folder).values()
    kinds = {tensor.dtype for tensor in tensors}
    weights = list(loaded.model.parameters())
    return Stored(
        sum(math.prod(x.shape) for x in tensors),
        sum(x.n_bytes for x in tensors),
        kinds.pop() if len(kinds) == 1 else "",
        sum(weight.nbytes for weight in weights),
        weights[0].element_size(),
        str(weights[0].dtype).removeprefix("torch."),
    )


@st.cache_resource(max_entries=16, show_spinner=False)
def sizes(handle: ModelHandle) -> Shape | Seen:
    """What the cost of a model is counted from: the sizes of ours, and the parts of another."""
    loaded = runs.runnable(handle)
    if "weights" in loaded.offers:
        return shape_of(runs.checkpoint(handle).config)
    return seen_of(cast("AdoptedModel", loaded.model))


def context(handle: ModelHandle) -> int:
    """The tokens of a model's context, or as many as are run here where it says none."""
    loaded = runs.runnable(handle)
    return loaded.config.max_seq_len or loaded.model.config.max_seq_len


@st.cache_data(max_entries=16, show_spinner=False)
def lengths(handle: ModelHandle) -> tuple[int, ...]:
    """The lengths at which a pass of this model can be timed."""
    return lengths_of(runs.checkpoint(handle).model)
