"""Random vectors of the lesson on √d, drawn once for each seed."""

import numpy as np
import streamlit as st

from model.analysis.saturation import DIMENSIONS, random_products


@st.cache_data(max_entries=8, show_spinner=False)
def products(seed: int) -> dict[int, np.ndarray]:
    """q·k of random vectors by dimension, (queries, keys) each."""
    return {d: random_products(d, seed) for d in DIMENSIONS}
