"""Texts that a search looked at, beside independent runs of them."""

from dataclasses import dataclass

import streamlit as st

from model.sources.handle import ModelHandle
from model.trace import Trace
from model.verify.searched import IndependentTexts, Text
from model.verify.texts import texts_of
from viz import runs
from viz.live import store


@dataclass(frozen=True, eq=False)
class Searched:
    """Texts after a prompt, whose trace browsers may ask for by the key."""

    key: str
    trace: Trace
    independent: IndependentTexts


@st.cache_resource(max_entries=4, show_spinner=False)
def independent_texts(
    handle: ModelHandle, sentence: str, found: tuple[Text, ...], penalty: float
) -> Searched:
    """Texts after a sentence, and the independent runs of them, computed when asked for."""
    checkpoint, trace = runs.checkpoint(handle), runs.run(handle, sentence).trace
    prompt = tuple(trace.ids.tolist())
    vocabulary = texts_of(checkpoint.folder)
    independent = IndependentTexts(checkpoint.files, prompt, found, penalty, vocabulary)
    return Searched(store.put(trace, independent), trace, independent)
