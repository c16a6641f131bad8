"""The tokenizer of a model and the trees of its merges, shared by all sessions."""

import json
from typing import Any

import streamlit as st

from model.analysis.merges import PreToken, merge_forest
from model.data.tokenizer import Merges
from model.given import Typed
from model.sources.handle import ModelHandle
from model.training.evaluation import held_out_bytes_per_token
from model.verify.check import Check
from model.verify.tokens import check_forest
from viz import runs
from viz.runs.kept import kept
from viz.runs.under_way import under_way


@kept
@under_way("Reading the merges")
def merges(handle: ModelHandle) -> Merges | None:
    """The merges of a model's tokenizer; None where it has none."""
    return runs.tokenizer(handle).merges()


@kept
@under_way("Merging the letters of the text")
def forest(handle: ModelHandle, given: Typed, n_tokens: int) -> tuple[PreToken, ...]:
    """How the first tokens of what is given are made, by pre-token."""
    return merge_forest(runs.tokenizer(handle), merges(handle), given, n_tokens)


@kept
def checks(handle: ModelHandle, given: Typed, ids: tuple[int, ...]) -> tuple[Check, ...]:
    """The trees of a text against the tokenizer's file, and the ids the model was given."""
    made, tokenizer = forest(handle, given, len(ids)), runs.tokenizer(handle)
    normalised = tokenizer.normalized(tokenizer.plain_text(given))
    return check_forest(made, ids, normalised, _model_part(handle))


@kept
def _model_part(handle: ModelHandle) -> dict[str, Any]:
    """What the tokenizer's file has of vocabulary and merges."""
    return json.loads(runs.tokenizer(handle).to_json())["model"]


@st.cache_data(max_entries=8, show_spinner=False)
def held_out(handle: ModelHandle) -> dict[str, float]:
    """Bytes per token of each text held out from the training; ValueError where its log is broken.

    Empty where nothing is known.
    """
    return held_out_bytes_per_token(runs.runnable(handle).folder)
