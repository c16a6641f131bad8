"""Texts that a search looked at, beside independent runs of them."""

import streamlit as st

from model.sources.handle import ModelHandle
from model.verify.searched import IndependentTexts, Text, Tree
from model.verify.texts import texts_of
from viz import runs
from viz.runs import Run
from viz.runs.beside import Beside, beside


@st.cache_resource(max_entries=4, show_spinner=False)
def independent_texts(
    handle: ModelHandle,
    _run: Run,
    key: str,
    prompt: Text,
    tree: Tree,
    penalty: float,
    source: Text = (),
) -> Beside:
    """Texts after a prompt, computed when asked for, beside a run, whose key this is."""
    checkpoint = runs.checkpoint(handle)
    words = texts_of(checkpoint.folder)
    independent = IndependentTexts(checkpoint.files, prompt, tree, penalty, words, source)
    return beside(_run.trace, independent)
