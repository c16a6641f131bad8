"""What the parts of a model add to a logit of a run, worked out for whoever looks at it."""

import numpy as np
import streamlit as st

from model.analysis.attribution import Attribution, attribute, words_of_head, words_of_neuron
from model.sources.handle import ModelHandle
from model.trace import Site
from viz import runs
from viz.runs import Run, embedding
from viz.runs.kept import kept
from viz.runs.under_way import under_way


@kept
@under_way("Adding up what each part gives to the answer")
def attribution(
    handle: ModelHandle, _run: Run, key: str, position: int, token: int, against: int | None
) -> Attribution:
    """Every part's share in the logit of a token, alone or against another; `key` is the run's."""
    return attribute(_run.trace, runs.runnable(handle).model, position, token, against)


def by_head(handle: ModelHandle, run: Run, site: Site, head: int, position: int) -> np.ndarray:
    """What one head adds to every logit, (V,)."""
    return words_of_head(run.trace, runs.runnable(handle).model, site, head, position)


def by_neuron(handle: ModelHandle, run: Run, layer: int, neuron: int, position: int) -> np.ndarray:
    """What one neuron adds to every logit, (V,)."""
    return words_of_neuron(run.trace, runs.runnable(handle).model, layer, neuron, position)


@st.cache_data(max_entries=8, show_spinner=False)
def names_of_answers(handle: ModelHandle, n_classes: int) -> list[str]:
    """What each logit is of: tokens or classes, each with a name of its own, or its number."""
    loaded = runs.opened(handle)
    if "vocabulary" in loaded.offers:
        return embedding.names(handle)
    known = runs.runnable(handle).model.classes
    return [f"{known[i]} ({i})" if i in known else str(i) for i in range(n_classes)]
