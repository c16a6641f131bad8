"""Predict: the next token's distribution, the filters on it, and text sampled from it."""

import numpy as np
import pandas as pd
import streamlit as st

from viz import runs
from viz.figures.labels import visible
from viz.formulas import probability_with_numbers
from viz.frame import controls, inspector, layout, notices, state, tables, words
from viz.frame.sampling import drawing
from viz.frame.view import View
from viz.live import component

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
    given = runs.given_probabilities(view.run.trace)
    words.token_strip(view.tokens, given, numbers=True, marked=position)
    logits = view.run.trace.logits[position]
    vocabulary = runs.vocabulary(view.model, view.device)
    key = f"{view.run.key}-{position}"
    component.show(
        component.SAMPLER,
        component.sampler_data(key, logits, vocabulary, drawn.for_browser()),
        on_told=state.take_over,
    )
    inspector.formula("model.decoding.filter_logits")
    _numbers(logits, drawn.sampling, vocabulary)
    inspector.source(
        "model.decoding.filter_logits",
        "model.decoding.scale_temperature",
        "model.decoding.top_k",
        "model.decoding.top_p",
        "model.decoding.min_p",
    )

    def distribution() -> bytes:
        return _csv(runs.distribution(logits, drawn.sampling, drawn.order), vocabulary)

    inspector.export(view, "predict", {"Distribution": distribution}, has_charts=False)


def _numbers(logits: np.ndarray, sampling: runs.Sampling, vocabulary: list[str]) -> None:
    best = int(logits.argmax())
    scaled = logits.astype(np.float64) / sampling.temperature
    st.caption("ℓ are the logits, T the temperature, 𝒦 the kept tokens.", text_alignment="center")
    words.token_line(
        "At this temperature over the whole vocabulary, the most likely token:", vocabulary[best]
    )
    inspector.formula(
        "model.decoding.filter_logits",
        probability_with_numbers(
            float(logits[best]), sampling.temperature, float(np.logaddexp.reduce(scaled))
        ),
    )


def _csv(spread: runs.Distribution, vocabulary: list[str]) -> bytes:
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
