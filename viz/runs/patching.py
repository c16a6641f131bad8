"""Activation patching of two inputs, and second inputs for one."""

from dataclasses import dataclass
from itertools import islice

import numpy as np
import streamlit as st
import torch

from model.adopted.model import AdoptedModel
from model.analysis import second
from model.analysis.branching import logits_at
from model.analysis.metrics import Metric
from model.analysis.patching import Pair, Patched, begin
from model.analysis.second import with_token
from model.device import one_thread
from model.given import Input, as_given
from model.memory import give_back_freed_memory
from model.sources.handle import ModelHandle
from viz import runs

Ids = tuple[int, ...]
MOST_ALIKE, MOST_MADE = 6, 8  # words that are most like one; texts made of a text


@dataclass(frozen=True)
class Request:
    """What is asked for: values of the input `source` in `base`, in one stack of one model."""

    handle: ModelHandle
    base: Input
    source: Input
    metric: Metric
    stack: str = "decoder"


def patch(request: Request) -> Patched:
    """Begin: both runs and the estimate; no cell is computed before it advances.

    ValueError for different numbers of tokens.
    """
    loaded = runs.runnable(request.handle)
    base, source = as_given(request.base), as_given(request.source)
    with one_thread():
        patched = begin(Pair(loaded.model, base, source, request.metric, request.stack))
    give_back_freed_memory()  # what gradients took
    return patched


@st.cache_data(max_entries=64, show_spinner=False)
def ids_of(handle: ModelHandle, text: str) -> Ids:
    """The tokens of a text, all of them."""
    return tuple(runs.tokenizer(handle).encode(text))


@st.cache_data(max_entries=64, show_spinner=False)
def logits_of(handle: ModelHandle, given: Input, position: int) -> np.ndarray:
    """What an input is predicted to be at a position, (V,)."""
    model = runs.runnable(handle).model
    with torch.inference_mode():
        return logits_at(model, as_given(given), position)[0].float().cpu().numpy()


@st.cache_data(max_entries=256, show_spinner=False)
def alike(handle: ModelHandle, token: int) -> tuple[int, ...]:
    """The tokens whose embeddings have the largest cosine with that of one, the nearest first."""
    model = runs.runnable(handle).model
    if isinstance(model, AdoptedModel):
        table = model.token_table
    else:
        table = next(x for name, x in model.named_parameters() if name.endswith("embed.weight"))
    unit = torch.nn.functional.normalize(table.detach().float(), dim=-1)
    nearest = torch.topk(unit @ unit[token], 1 + MOST_ALIKE).indices.tolist()
    return tuple(one for one in nearest if one != token)


@st.cache_data(max_entries=64, show_spinner=False)
def with_alike_words(
    handle: ModelHandle, text: str, ids: Ids, places: tuple[int, ...]
) -> tuple[str, ...]:
    """Texts of as many tokens, each with one word exchanged for one alike: a few of them.

    ids: those of the text.
    """
    tokenizer = runs.tokenizer(handle)
    tried = ((place, token) for place in places for token in alike(handle, ids[place]))
    made = (with_token(tokenizer, ids, place, token) for place, token in tried)
    return tuple(islice((text for text in made if text), MOST_MADE))


@st.cache_data(max_entries=64, show_spinner=False)
def with_another_word(handle: ModelHandle, text: str, places: tuple[int, ...]) -> str:
    """See `model.analysis.second`."""
    return second.with_another_word(runs.tokenizer(handle), runs.run(handle, text).trace, places)
