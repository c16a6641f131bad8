"""Our own runs for a scaling law, and the law fitted to them."""

from pathlib import Path

import streamlit as st

from model.analysis.scaling_fit import Held, fit_all
from model.analysis.scaling_runs import Stored, read_runs

RUNS = Path(__file__).parents[2] / "assets" / "scaling" / "runs.json"


@st.cache_resource(show_spinner=False)
def stored() -> Stored:
    """The runs shipped in assets/scaling."""
    return read_runs(RUNS)


@st.cache_resource(show_spinner=False)
def fitted(counted: str) -> Held:
    """The law of all of them, parameters counted as "all" or "without" embeddings."""
    return fit_all(stored().points(counted))
