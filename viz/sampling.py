"""How the next token is drawn: the settings two pages share, from the session or the URL."""

from collections.abc import Callable
from itertools import permutations

import streamlit as st

from viz import controls, runs, ui
from viz.live import component

ALL = -1  # top-k that keeps the whole vocabulary, whatever the model
ORDERS = [",".join(order) for order in permutations(runs.DEFAULT_ORDER)]


def sampling_settings(
    view: ui.View,
) -> tuple[component.Settings, runs.Sampling, tuple[str, ...]]:
    """How the next token is drawn: as the browser takes it, as the model does, and the order."""
    vocab_size = view.run.trace.config.vocab_size
    top_k = controls.kept("top_k", ALL, _nearest_top_k(vocab_size))
    numbers = {
        "temperature": controls.kept_number("Temperature", "temperature", 0.05, 3.0, 0.8, 0.01),
        "top_k": None if top_k == ALL else top_k,
        "top_p": controls.kept_number("Top-p", "top_p", 0.01, 1.0, 0.95, 0.01),
        "min_p": controls.kept_number("Min-p", "min_p", 0.0, 0.99, 0.0, 0.01),
    }
    order = controls.kept_option("Order", "order", ORDERS, ORDERS[0]).split(",")
    return {**numbers, "order": order}, runs.Sampling(**numbers), tuple(order)


def _nearest_top_k(vocab_size: int) -> Callable[[object], tuple[int, str | None]]:
    """A whole number up to the vocabulary, or all of it."""

    def nearest(raw: object) -> tuple[int, str | None]:
        if str(raw) in ("all", str(ALL)):
            return ALL, None
        value, complaint = controls.nearest_number("Top-k", raw, 1, vocab_size, ALL)
        return value, complaint and complaint.replace(f"using {ALL}", "using all")

    return nearest


def take_over_sampling(changes: component.Settings) -> None:
    """Keep what a person changed in the browser, in the form the URL has."""
    for name, value in changes.items():
        if name == "top_k" and not value:
            value = ALL
        st.session_state[name] = ",".join(value) if isinstance(value, list) else value
