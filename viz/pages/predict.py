"""Predict: the next token's distribution, the filters on it, and text sampled from it."""

import numpy as np
import pandas as pd
import streamlit as st

from viz import runs, ui
from viz.figures.labels import token_labels, visible
from viz.figures.predict import distribution_bars, leading_tokens
from viz.formulas import probability_with_numbers

TITLE = "Predict"
ICON = ":material/bar_chart:"

MOST_BARS = 20
ALL = -1  # top-k that keeps the whole vocabulary, whatever the model


def render() -> None:
    """Draw the page."""
    view = ui.open_page()
    ui.heading(
        ICON,
        TITLE,
        "After each token the model gives every entry of its vocabulary a probability of coming "
        "next. Temperature, top-k and top-p reshape that before one is drawn.",
    )
    position, sampling = _controls(view)
    ui.show_complaints()
    st.caption(
        "Below each token: the probability the model gave it from those before it. "
        "The distribution is for what follows the framed one."
    )
    given = runs.given_probabilities(view.run.trace)
    ui.token_strip(view.tokens, given, numbers=True, marked=position)
    spread = runs.distribution(view.run.trace, position, sampling)
    vocabulary = runs.vocabulary(view.model, view.device)
    with st.container(key="two-up"):
        left, right = st.columns([6, 5], gap="large")
        with left:
            _bars(view, spread, vocabulary)
        with right:
            _survivors(spread, vocabulary)
            _continuation(view, sampling)
    ui.formula("model.decoding.filter_logits")
    _numbers(spread, sampling, vocabulary)
    ui.source(
        "model.decoding.filter_logits",
        "model.decoding.scale_temperature",
        "model.decoding.top_k",
        "model.decoding.top_p",
    )
    ui.export(view, "predict", {"Distribution": lambda: _csv(spread, vocabulary)})


def _controls(view: ui.View) -> tuple[int, runs.Sampling]:
    """The position whose successor is predicted, and how it is sampled."""
    labels, vocab_size = token_labels(view.tokens), view.run.trace.config.vocab_size
    steps = _top_k_steps(vocab_size)
    columns = st.columns([3, 4, 4, 4], gap="medium", vertical_alignment="bottom")
    with columns[0]:
        # −1, the default, stays with the last token however the sentence grows.
        position = ui.choice(
            "After token",
            "after",
            range(-1, len(labels)),
            -1,
            lambda i: f"last: {labels[-1]}" if i < 0 else f"{i}: {labels[i]}",
        )
    with columns[1]:
        temperature = ui.slider("Temperature", "temperature", 0.05, 3.0, 0.8, 0.05)
    with columns[2]:
        top_k = ui.steps("Top-k", "top_k", steps, ALL, lambda k: "all" if k == ALL else str(k))
    with columns[3]:
        top_p = ui.slider("Top-p", "top_p", 0.01, 1.0, 0.95, 0.01)
    kept = None if top_k == ALL else top_k
    return position % len(labels), runs.Sampling(temperature=temperature, top_k=kept, top_p=top_p)


def _top_k_steps(vocab_size: int) -> list[int]:
    """1, 2, 3, 4, 5, 7, 10, 15, 20, … below the vocabulary's size, then all of it."""
    growing = (int(m * 10**e) for e in range(7) for m in (1, 1.5, 2, 3, 4, 5, 7))
    return [*sorted({k for k in growing if k < vocab_size}), ALL]


def _bars(view: ui.View, spread: runs.Distribution, vocabulary: list[str]) -> None:
    best = int(spread.before.argmax())
    ui.show_figure(
        distribution_bars(
            spread.before, spread.after, spread.kept, vocabulary, view.colors, n_bars=MOST_BARS
        ),
        key="distribution",
        alt=f"The {MOST_BARS} likeliest next tokens and the sum of all others. Likeliest: "
        f"{visible(vocabulary[best])} with probability {spread.before[best]:.3f}, "
        f"{spread.after[best]:.3f} after temperature, top-k and top-p.",
    )


def _survivors(spread: runs.Distribution, vocabulary: list[str]) -> None:
    n_kept = int(spread.kept.sum())
    top, rest = leading_tokens(spread.before, MOST_BARS)
    cells = (
        (f"Tokens kept of {len(vocabulary):,}", f"{n_kept:,}"),
        ("Mass kept", f"{spread.kept_mass:.4f}"),
        ("Entropy before", f"{spread.entropy_before:.3f}"),
        ("Entropy after", f"{spread.entropy_after:.3f}"),
    )
    with st.container(horizontal=True):
        for label, value in cells:
            st.metric(label, value, width=170)
    others = float(spread.before[rest].sum(dtype=np.float64))
    st.caption(
        f"The bars show the {len(top)} likeliest tokens; the other {len(rest):,} hold "
        f"{others:.4f} together. Softmax runs over all {len(vocabulary):,}. Mass kept is the share "
        "of the distribution at this temperature that top-k and top-p leave; entropies in nats."
    )


def _numbers(spread: runs.Distribution, sampling: runs.Sampling, vocabulary: list[str]) -> None:
    best = int(spread.logits.argmax())
    scaled = spread.logits.astype(np.float64) / sampling.temperature
    st.caption("ℓ are the logits, T the temperature, 𝒦 the kept tokens.", text_alignment="center")
    ui.token_line("Before top-k and top-p, the likeliest token:", vocabulary[best])
    ui.formula(
        "model.decoding.filter_logits",
        probability_with_numbers(
            float(spread.logits[best]), sampling.temperature, float(np.logaddexp.reduce(scaled))
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
