"""Predict: the next token's distribution, the filters on it, and text sampled from it."""

from collections.abc import Callable
from itertools import permutations

import numpy as np
import pandas as pd
import streamlit as st

from viz import runs, ui
from viz.figures.labels import token_labels, visible
from viz.formulas import probability_with_numbers
from viz.live import component

TITLE = "Predict"
ICON = ":material/bar_chart:"

ALL = -1  # top-k that keeps the whole vocabulary, whatever the model
ORDERS = [",".join(order) for order in permutations(runs.DEFAULT_ORDER)]


def render() -> None:
    """Draw the page."""
    component.preload()
    view = ui.open_page()
    ui.heading(
        ICON,
        TITLE,
        "After each token the model gives every entry of its vocabulary a probability of coming "
        "next. Temperature, top-k, top-p and min-p reshape that before one is drawn. Drag a slider: "
        "everything follows, over the whole vocabulary.",
    )
    position = _position(view)
    settings, sampling, order = _sampling(view)
    ui.show_complaints()
    st.caption(
        "Below each token: the probability the model gave it from those before it. "
        "The distribution is for what follows the framed one."
    )
    given = runs.given_probabilities(view.run.trace)
    ui.token_strip(view.tokens, given, numbers=True, marked=position)
    logits = view.run.trace.logits[position]
    vocabulary = runs.vocabulary(view.model, view.device)
    key = f"{view.run.key}-{position}"
    component.show(
        component.SAMPLER,
        component.sampler_data(key, logits, vocabulary, settings),
        on_told=_take_over,
    )
    _continuation(view, sampling)
    ui.formula("model.decoding.filter_logits")
    _numbers(logits, sampling, vocabulary)
    ui.source(
        "model.decoding.filter_logits",
        "model.decoding.scale_temperature",
        "model.decoding.top_k",
        "model.decoding.top_p",
        "model.decoding.min_p",
    )
    ui.export(
        view,
        "predict",
        {"Distribution": lambda: _csv(runs.distribution(logits, sampling, order), vocabulary)},
        camera=False,
    )


def _position(view: ui.View) -> int:
    """The position whose successor is predicted."""
    labels = token_labels(view.tokens)
    # −1, the default, stays with the last token however the sentence grows.
    position = ui.choice(
        "After token",
        "after",
        range(-1, len(labels)),
        -1,
        lambda i: f"last: {labels[-1]}" if i < 0 else f"{i}: {labels[i]}",
        width=240,
    )
    return position % len(labels)


def _sampling(view: ui.View) -> tuple[component.Settings, runs.Sampling, tuple[str, ...]]:
    """How the next token is drawn: as the browser takes it, as the model does, and the order."""
    vocab_size = view.run.trace.config.vocab_size
    top_k = ui.kept("top_k", ALL, _nearest_top_k(vocab_size))
    numbers = {
        "temperature": ui.kept_number("Temperature", "temperature", 0.05, 3.0, 0.8),
        "top_k": None if top_k == ALL else top_k,
        "top_p": ui.kept_number("Top-p", "top_p", 0.01, 1.0, 0.95),
        "min_p": ui.kept_number("Min-p", "min_p", 0.0, 0.99, 0.0),
    }
    order = ui.kept_option("Order", "order", ORDERS, ORDERS[0]).split(",")
    return {**numbers, "order": order}, runs.Sampling(**numbers), tuple(order)


def _nearest_top_k(vocab_size: int) -> Callable[[object], tuple[int, str | None]]:
    """A whole number up to the vocabulary, or all of it."""

    def nearest(raw: object) -> tuple[int, str | None]:
        if str(raw) in ("all", str(ALL)):
            return ALL, None
        value, complaint = ui.nearest_number("Top-k", raw, 1, vocab_size, ALL)
        return value, complaint

    return nearest


def _take_over(changes: component.Settings) -> None:
    """Keep what a person changed in the browser, in the form the URL has."""
    for name, value in changes.items():
        if name == "top_k" and value is None:
            value = ALL
        st.session_state[name] = ",".join(value) if isinstance(value, list) else value


def _numbers(logits: np.ndarray, sampling: runs.Sampling, vocabulary: list[str]) -> None:
    best = int(logits.argmax())
    scaled = logits.astype(np.float64) / sampling.temperature
    st.caption("ℓ are the logits, T the temperature, 𝒦 the kept tokens.", text_alignment="center")
    ui.token_line("Before top-k, top-p and min-p, the likeliest token:", vocabulary[best])
    ui.formula(
        "model.decoding.filter_logits",
        probability_with_numbers(
            float(logits[best]), sampling.temperature, float(np.logaddexp.reduce(scaled))
        ),
    )


@st.fragment
def _continuation(view: ui.View, sampling: runs.Sampling) -> None:
    st.subheader("Let it write on")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        seed = ui.number("Seed", "seed", 0, 2**31 - 1, 0)
        n_tokens = ui.number("New tokens", "new_tokens", 1, 200, 40)
        asked = st.button("Continue the sentence", icon=":material/play_arrow:", type="primary")
    ui.show_complaints()
    prompt = tuple(view.run.trace.ids.tolist())
    settings = (view.model, view.device, prompt, sampling, n_tokens, seed)
    ui.guarded(lambda: _write_on(view, settings, asked))()


def _write_on(view: ui.View, settings: tuple, asked: bool) -> None:
    text = ui.remembered("continuation", settings)
    prompt = runs.decode(view.model, view.device, view.run.trace.ids.tolist()).removeprefix(" ")
    area = st.empty()
    if asked:
        ids: list[int] = []
        for token_id, _ in runs.continuation(*settings):
            ids.append(token_id)
            text = runs.decode(view.model, view.device, ids)
            with area:
                ui.written(prompt, text)
        ui.remember("continuation", settings, text)
    elif text is not None:
        with area:
            ui.written(prompt, text)


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
