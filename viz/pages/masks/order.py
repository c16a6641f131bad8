"""Why the mask comes before softmax, and what becomes of a row that may read nothing."""

import numpy as np
import streamlit as st

from viz import say, ui
from viz.figures.labels import token_labels
from viz.figures.masks import leak_curves, pattern_map, score_map
from viz.runs import masks


def draw(view: ui.View) -> None:
    """Draw the view."""
    record = view.run.trace.attention[view.layer]
    _scores(view)
    sums = _visible_sums(view)
    _why_before(view, sums)
    _empty_row(view)
    ui.source("model.attention.attention_pattern", "model.attention.additive_mask")
    ui.export(
        view,
        "masks",
        {
            f"Scores {view.head_name}": lambda: ui.table_csv(
                record.scores[view.head], view.tokens, view.tokens, "query \\ key"
            ),
            f"Row sums {view.head_name}": lambda: ui.table_csv(
                np.stack(list(sums.values()), axis=1), view.tokens, list(sums), "query"
            ),
        },
    )


def _visible_sums(view: ui.View) -> dict[str, np.ndarray]:
    """For each way of masking, what the visible cells of each row sum to, (T,)."""
    alternatives = masks.alternatives(view.run.trace, view.layer, view.head)
    mask = view.run.trace.attention[view.layer].mask
    return {
        name: np.where(mask, x, 0.0).sum(axis=-1, dtype=np.float64)
        for name, x in alternatives.items()
    }


def _scores(view: ui.View) -> None:
    record = view.run.trace.attention[view.layer]
    scores, name = record.scores[view.head], view.head_name
    n_hidden = int((~record.mask).sum())
    ui.section(
        "From scores to weights",
        f"Scores of {name} as query and key make them; then with −∞ wherever the mask says so.",
    )
    maps = (
        (
            "scores-before",
            None,
            "scores before the mask",
            f"from {scores.min():.2f} to {scores.max():.2f}",
        ),
        ("scores-after", record.mask, "scores after it", f"{n_hidden} cells are minus infinity"),
    )
    for column, (key, mask, words, alt) in zip(ui.two_up("scores"), maps, strict=True):
        with column:
            figure = score_map(
                scores, mask, view.tokens, view.colors, f"{name}: {words}", scale_of=scores
            )
            ui.show_figure(figure, key=key, alt=f"{name}, {words}: {alt}.")
    left, right = ui.two_up("weights")
    with left:
        ui.show_figure(
            pattern_map(
                record.pattern[view.head],
                record.mask,
                view.tokens,
                view.colors,
                f"{name}: weights after softmax",
            ),
            key="pattern",
            alt=f"Attention weights of {name}; each row sums to one.",
        )
    with right:
        ui.section(
            "Why −∞ before softmax, and not zero after",
            "Softmax shares out exactly 1. With −∞ in the hidden cells, exp(−∞) = 0 and all of it "
            "goes to visible tokens. A hidden score of 0 still gets exp(0) = 1. Zeroing after "
            "softmax is too late: the hidden tokens have already taken their share, and the row "
            "sums to less than 1.",
        )
        ui.formula("model.attention.scaled_dot_product")


def _why_before(view: ui.View, sums: dict[str, np.ndarray]) -> None:
    query = int(np.argmin(sums["after"]))
    ui.show_figure(
        leak_curves(sums, view.tokens, view.colors),
        key="leak",
        alt=f"Weight on visible tokens for each query: always 1 with minus infinity before "
        f"softmax, down to {sums['score_zero'].min():.3f} with score 0, down to "
        f"{sums['after'].min():.3f} with zero after.",
    )
    label = token_labels(view.tokens)[query]
    say.notice(
        f"For the query “{label}” in {view.head_name} the visible weights sum to "
        f"{sums['before'][query]:.6f} with −∞ before softmax, {sums['score_zero'][query]:.4f} with "
        f"score 0 before, {sums['after'][query]:.4f} with zero after."
    )


def _empty_row(view: ui.View) -> None:
    """A row with every cell masked, by softmax alone and as the model has it."""
    query = len(view.tokens) - 1
    row = masks.empty_row(view.run.trace, view.layer, view.head, query)
    label = token_labels(view.tokens)[query]
    ui.section(
        "A row that may read nothing",
        "Filler in front of a sentence, or a mask edited too far, leaves a row without a single "
        "visible cell. Softmax of nothing but −∞ is 0/0. One NaN there would spread to every token "
        "that reads this one, so Headlight gives such a row zeros: attention then writes nothing, "
        "and the token goes on with what it had.",
    )
    st.latex(
        r"\mathrm{softmax}(-\infty, \dots, -\infty) = \frac{0}{0},"
        r"\qquad \text{here: } (0, \dots, 0),\ z = 0"
    )
    plain = "NaN in every cell" if np.isnan(row.plain).all() else f"{row.plain.tolist()}"
    say.notice(
        f"The scores of “{label}” in {view.head_name}, with all of its cells masked: softmax "
        f"alone gives {plain}, this model's attention sums to {row.ours.sum():g}."
    )
