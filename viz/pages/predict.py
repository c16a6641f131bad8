"""Predict: the next token's distribution, the filters on it, and text sampled from it."""

import numpy as np
import pandas as pd
import streamlit as st

from model.analysis.probabilities import Distribution, distribution, given_probabilities
from model.decoding.filters import Sampling
from viz import runs
from viz.figures.labels import visible
from viz.formulas import probability_with_numbers
from viz.frame import controls, inspector, layout, notices, state, tables, words
from viz.frame.sampling import drawing, for_browser
from viz.frame.view import View
from viz.live import component
from viz.live.sampler.data import sampler_data

TITLE = "Predict"
ICON = ":material/bar_chart:"
NEEDS = ("logits", "vocabulary")


def prepare() -> None:
    """Let the browser load the sampler while the model runs."""
    component.preload()


def render(view: View) -> None:
    """Draw the page."""
    layout.heading(
        ICON,
        TITLE,
        "After each token the model gives every entry of its vocabulary a probability of coming "
        "next. Temperature, top-k, top-p and min-p reshape that before one is drawn. "
        "Drag a slider: everything follows, over the whole vocabulary.",
    )
    position = controls.position(view)
    drawn = drawing(view)
    notices.show()
    st.caption(
        "Below each token: the probability predicted for it from the tokens before it. "
        "The distribution is for what follows the framed one."
    )
    given = given_probabilities(view.run.trace)
    words.token_strip(view.tokens, given, numbers=True, marked=position)
    logits = view.run.trace.logits[position]
    vocabulary = runs.vocabulary(view.handle)
    key = f"{view.run.key}-{position}"
    component.show(
        sampler_data(key, logits, vocabulary, for_browser(drawn)), on_change=state.take_over
    )
    inspector.formula("model.decoding.filters.filter_logits")
    _numbers(logits, drawn, vocabulary)
    inspector.source(
        "model.decoding.filters.filter_logits",
        "model.decoding.filters.scale_temperature",
        "model.decoding.filters.top_k",
        "model.decoding.filters.top_p",
        "model.decoding.filters.min_p",
    )

    csv_files = {"Distribution": lambda: _csv(distribution(logits, drawn), vocabulary)}
    inspector.export(view, "predict", csv_files, has_charts=False)


def _numbers(logits: np.ndarray, sampling: Sampling, vocabulary: list[str]) -> None:
    best = int(logits.argmax())
    scaled = logits.astype(np.float64) / sampling.temperature
    st.caption("ℓ are the logits, T the temperature, 𝒦 the kept tokens.", text_alignment="center")
    words.token_line(
        "At this temperature over the whole vocabulary, the most likely token:", vocabulary[best]
    )
    inspector.formula(
        "model.decoding.filters.filter_logits",
        probability_with_numbers(
            float(logits[best]), sampling.temperature, float(np.logaddexp.reduce(scaled))
        ),
    )


def _csv(spread: Distribution, vocabulary: list[str]) -> bytes:
    frame = pd.DataFrame(
        {
            "id": np.arange(len(vocabulary)),
            "token": [visible(token) for token in vocabulary],
            "logit": spread.logits,
            "model": spread.before,
            "sampled_from": spread.after,
            "kept": spread.kept,
        }
    )
    return tables.frame_csv(frame.sort_values("model", ascending=False, kind="stable"))
