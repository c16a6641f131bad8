"""Masks: the mask in use, scores before and after it, and why it comes before softmax."""

import numpy as np
import streamlit as st

from viz import runs, ui
from viz.figures.labels import token_labels
from viz.figures.masks import leak_curves, mask_map, pattern_map, score_map

TITLE = "Masks"
ICON = ":material/visibility_off:"
WORDS = {
    "causal": "This model writes from left to right: a token must not see what comes after it.",
    "sliding_window": "In this model a token sees itself and the few tokens just before it.",
    "prefix": "In this model the first tokens all see each other; the rest sees what is before it.",
}


def render() -> None:
    """Draw the page."""
    view = ui.open_page()
    ui.heading(
        ICON,
        TITLE,
        f"A mask says who may read whom. {WORDS[view.run.trace.config.mask]} "
        "Cells that may not be read are hatched.",
    )
    _matrix_and_scores(view)
    ui.formula(runs.mask_source(view.run.trace.config.mask))
    _why_before(view)
    ui.source("model.attention.attention_pattern", runs.mask_source(view.run.trace.config.mask))
    record = view.run.trace.attention[view.layer]
    ui.export(
        view,
        "masks",
        {
            "Mask": lambda: _csv(view, record.mask.astype(int)),
            f"Scores {view.head_name}": lambda: _csv(view, record.scores[view.head]),
            f"Row sums {view.head_name}": lambda: _sums_csv(view),
        },
    )


def _csv(view: ui.View, values: np.ndarray) -> bytes:
    return ui.table_csv(values, view.tokens, view.tokens, "query \\ key")


def _sums_csv(view: ui.View) -> bytes:
    sums = _visible_sums(view)
    return ui.table_csv(np.stack(list(sums.values()), axis=1), view.tokens, list(sums), "query")


def _visible_sums(view: ui.View) -> dict[str, np.ndarray]:
    """For each way of masking, what the visible cells of each row sum to, (T,)."""
    alternatives = runs.alternatives(view.run.trace, view.layer, view.head)
    mask = view.run.trace.attention[view.layer].mask
    return {
        name: np.where(mask, x, 0.0).sum(axis=-1, dtype=np.float64)
        for name, x in alternatives.items()
    }


def _matrix_and_scores(view: ui.View) -> None:
    record = view.run.trace.attention[view.layer]
    scores, n_tokens = record.scores[view.head], len(view.tokens)
    n_hidden = int((~record.mask).sum())
    name = view.head_name
    figures = (
        (
            mask_map(record.mask, view.tokens, view.colors),
            "mask",
            f"The mask: {n_hidden} of {n_tokens**2} cells are hidden.",
        ),
        (
            score_map(scores, None, view.tokens, view.colors, f"{name}: scores before the mask"),
            "scores-before",
            f"Scores of {name} before the mask, from {scores.min():.2f} to {scores.max():.2f}.",
        ),
        (
            score_map(scores, record.mask, view.tokens, view.colors, f"{name}: scores after it"),
            "scores-after",
            f"Scores of {name} after the mask; {n_hidden} cells are minus infinity.",
        ),
        (
            pattern_map(
                record.pattern[view.head],
                record.mask,
                view.tokens,
                view.colors,
                f"{name}: weights after softmax",
            ),
            "pattern",
            f"Attention weights of {name}; each row sums to one.",
        ),
    )
    with st.container(key="two-up"):
        for pair in (figures[:2], figures[2:]):
            for column, (figure, key, alt) in zip(st.columns(2), pair, strict=True):
                with column:
                    ui.show_figure(figure, key=key, alt=alt)


def _why_before(view: ui.View) -> None:
    sums = _visible_sums(view)
    query = int(np.argmin(sums["after"]))
    st.subheader("Why −∞ before softmax, and not zero after")
    st.markdown(
        "Softmax shares out exactly 1. With −∞ in the hidden cells, $e^{-\\infty} = 0$ and all of "
        "it goes to visible tokens. A hidden score of 0 still gets $e^0 = 1$. Zeroing after "
        "softmax is too late: the hidden tokens have already taken their share, and the row sums "
        "to less than 1."
    )
    ui.show_figure(
        leak_curves(sums, view.tokens, view.colors),
        key="leak",
        alt=f"Weight on visible tokens for each query: always 1 with minus infinity before "
        f"softmax, down to {sums['score_zero'].min():.3f} with score 0, down to "
        f"{sums['after'].min():.3f} with zero after.",
    )
    label = token_labels(view.tokens)[query]
    ui.notice(
        f"For the query “{label}” in {view.head_name} the visible weights sum to "
        f"{sums['before'][query]:.6f} with −∞ before softmax, {sums['score_zero'][query]:.4f} with "
        f"score 0 before, {sums['after'][query]:.4f} with zero after."
    )
