"""The token embedding of a model, for what compares its rows."""

import re

import numpy as np
import streamlit as st

from model.analysis.similarity import token_table
from model.sources.handle import ModelHandle
from viz import runs
from viz.figures.similarity import token_names
from viz.runs.kept import kept
from viz.runs.under_way import under_way

BYTE = re.compile(r"\\x[0-9a-f]{2}")  # how a token is called that is a byte of a character


@kept
@under_way("Reading the embeddings")
def table(handle: ModelHandle) -> np.ndarray:
    """The rows of all tokens, (V, D); ValueError where the model has no vocabulary."""
    return token_table(runs.runnable(handle).model)


@kept
def readable(handle: ModelHandle) -> np.ndarray:
    """Which tokens are text that can be read, (V,): no special token, no byte, no control sign."""
    texts, special = runs.vocabulary(handle), runs.runnable(handle).special_ids
    return np.array(
        [
            i not in special and text.isprintable() and not BYTE.fullmatch(text)
            for i, text in enumerate(texts)
        ]
    )


@st.cache_data(max_entries=2, show_spinner=False)
@under_way("Reading the vocabulary")
def names(handle: ModelHandle) -> list[str]:
    """What to call each id's token on screen."""
    return token_names(runs.vocabulary(handle))
