"""Activation patching of two inputs, and what another input is predicted to be."""

from collections.abc import Callable
from typing import TypeVar

import numpy as np
import streamlit as st
import torch

from model.analysis.branching import logits_at
from model.analysis.patching import Pair
from model.analysis.question import Question
from model.device import one_thread
from model.given import Ids, Input, Typed, as_given
from model.memory import give_back_freed_memory
from model.sources.handle import ModelHandle
from viz import runs
from viz.runs.under_way import under_way

Answer = TypeVar("Answer")
MOST_ALIKE = 50  # tokens


@under_way("Running both inputs, and back for gradients")
def answered(handle: ModelHandle, question: Question, begin: Callable[[Pair], Answer]) -> Answer:
    """What is begun of a question: both runs and one backward pass; the rest is left to it.

    ValueError where there is no answer, such as for different numbers of tokens.
    """
    pair = question.of(runs.runnable(handle).model)
    with one_thread():
        begun = begin(pair)
    give_back_freed_memory()  # what gradients took
    return begun


@st.cache_data(max_entries=64, show_spinner=False)
def ids_of(handle: ModelHandle, given: Typed) -> Ids:
    """The tokens of what is given, all of them."""
    return tuple(runs.tokenizer(handle).encode(given))


@st.cache_data(max_entries=64, show_spinner=False)
@under_way("Running the model on the second input")
def logits_of(handle: ModelHandle, given: Input, position: int) -> np.ndarray:
    """What an input is predicted to be at a position, (V,)."""
    model = runs.runnable(handle).model
    with torch.inference_mode():
        return logits_at(model, as_given(given), position)[0].float().cpu().numpy()


@st.cache_data(max_entries=256, show_spinner=False)
@under_way("Comparing the embeddings of all tokens")
def alike(handle: ModelHandle, token: int) -> tuple[int, ...]:
    """The tokens whose embeddings have the largest cosine with that of one, the nearest first."""
    table = runs.runnable(handle).model.token_table
    unit = torch.nn.functional.normalize(table.detach().float(), dim=-1)
    nearest = torch.topk(unit @ unit[token], 1 + MOST_ALIKE).indices.tolist()
    return tuple(one for one in nearest if one != token)
