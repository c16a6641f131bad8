"""A text some of whose tokens are hidden, through an encoder, and each token hidden in turn."""

import streamlit as st

from model.analysis.blanks import InTurn, predicted_in_turn
from model.architectures.base import Transformer
from model.data.tokenizer import MASK
from model.given import Blanked
from model.inputs import INPUTS
from model.masks import causal
from model.sources.handle import ModelHandle
from viz import runs
from viz.runs.checking import begin
from viz.runs.kept import kept
from viz.runs.under_way import under_way

MOST_IN_TURN = 32  # tokens that are hidden one at a time: each is a pass over the whole text


def encoder(handle: ModelHandle) -> Transformer:
    """The encoder of a handle; ValueError where the model is of another kind."""
    model = runs.runnable(handle).model
    if model.config.architecture != "encoder":
        raise ValueError(f"{handle.spelled} is not an encoder: it fills no blanks")
    return model


def ids_of(handle: ModelHandle, text: str) -> tuple[int, ...]:
    """The tokens of a text as they stand, cut to the context; ValueError for an empty text."""
    prepared = INPUTS["encoder"].prepare(encoder(handle), runs.tokenizer(handle), text)
    ids, _ = prepared.arguments
    return tuple(ids)


def tokens_of(handle: ModelHandle, text: str) -> tuple[str, ...]:
    """The strings of these tokens."""
    return runs.tokenizer(handle).token_strings(ids_of(handle, text))


@kept
@under_way("Running the model on the hidden words")
def run_blanked(
    handle: ModelHandle, text: str, blanks: tuple[int, ...], is_causal: bool = False
) -> runs.Run:
    """Capture and check a text with hidden tokens, by their places.

    With `is_causal` each token attends to itself and those before it alone, for which the model was
    not trained. ValueError where the tokenizer has no [MASK] and there is something to hide.
    """
    loaded = runs.runnable(handle)
    cells = causal(len(ids_of(handle, text))).numpy() if is_causal else None
    trace, n_cut, reads = loaded.trace(Blanked(text, blanks) if blanks else text, cells)
    checking = begin(trace, lambda trace: loaded.check(trace, cells))
    offers = loaded.offers | trace.offers
    return runs.Run(trace, checking, offers, n_cut=n_cut, reads=reads)


@st.cache_data(max_entries=64, show_spinner=False)
@under_way("Hiding each word in turn")
def in_turn(handle: ModelHandle, text: str, is_causal: bool = False) -> InTurn:
    """What is predicted of each of the first tokens, itself hidden and all others given."""
    ids, hiding = ids_of(handle, text), runs.tokenizer(handle).id_of(MASK)
    n = min(len(ids), MOST_IN_TURN)
    return predicted_in_turn(encoder(handle), ids, hiding, n=n, is_causal=is_causal)
