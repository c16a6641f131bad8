"""Predict: the next token's distribution, the filters on it, and text sampled from it."""

import numpy as np
import pandas as pd
import streamlit as st

from viz import controls, runs, say, ui
from viz.figures.labels import visible
from viz.formulas import probability_with_numbers
from viz.live import component
from viz.sampling import sampling_settings, take_over_sampling

TITLE = "Predict"
ICON = ":material/bar_chart:"


def render() -> None:
    """Draw the page."""
    component.preload()
    view = ui.open_page()
    ui.heading(
        ICON,
        TITLE,
        "After each token the model gives every entry of its vocabulary a probability of coming "
        "next. Temperature, top-k, top-p and min-p reshape that before one is drawn. "
        "Drag a slider: everything follows, over the whole vocabulary.",
    )
    position = ui.position_picker(view)
    settings, sampling, order = sampling_settings(view)
    controls.show_complaints()
    st.caption(
        "Below each token: the probability the model gave it from those before it. "
        "The distribution is for what follows the framed one."
    )
    given = runs.given_probabilities(view.run.trace)
    say.token_strip(view.tokens, given, numbers=True, marked=position)
    logits = view.run.trace.logits[position]
    vocabulary = runs.vocabulary(view.model, view.device)
    key = f"{view.run.key}-{position}"
    component.show(
        component.SAMPLER,
        component.sampler_data(key, logits, vocabulary, settings),
        on_told=take_over_sampling,
    )
    ui.formula("model.decoding.filters.filter_logits")
    _numbers(logits, sampling, vocabulary)
    ui.source(
        "model.decoding.filters.filter_logits",
        "model.decoding.filters.scale_temperature",
        "model.decoding.filters.top_k",
        "model.decoding.filters.top_p",
        "model.decoding.filters.min_p",
    )
    ui.export(
        view,
        "predict",
        {"Distribution": lambda: _csv(runs.distribution(logits, sampling, order), vocabulary)},
        camera=False,
    )


def _numbers(logits: np.ndarray, sampling: runs.Sampling, vocabulary: list[str]) -> None:
    best = int(logits.argmax())
    scaled = logits.astype(np.float64) / sampling.temperature
    st.caption("ℓ are the logits, T the temperature, 𝒦 the kept tokens.", text_alignment="center")
    say.token_line(
        "At this temperature over the whole vocabulary, the likeliest token:", vocabulary[best]
    )
    ui.formula(
        "model.decoding.filters.filter_logits",
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
    ordered = frame.sort_values("model", ascending=False, kind="stable")
    return ordered.to_csv(index=False).encode("utf-8-sig")
