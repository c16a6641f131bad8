"""The token embedding of a model, for what compares its rows."""

import numpy as np
import streamlit as st

from model.analysis.similarity import token_table
from model.sources.handle import ModelHandle
from viz import runs
from viz.figures.similarity import token_names
from viz.runs.kept import kept
from viz.runs.under_way import under_way


@kept
@under_way("Reading the embeddings")
def table(handle: ModelHandle) -> np.ndarray:
    """The rows of all tokens, (V, D); ValueError where the model has no vocabulary."""
    return token_table(runs.runnable(handle).model)


@st.cache_data(max_entries=2, show_spinner=False)
@under_way("Reading the vocabulary")
def names(handle: ModelHandle) -> list[str]:
    """What to call each id's token on screen."""
    return token_names(runs.vocabulary(handle))
