"""Why −∞ before softmax and not zero after, and what becomes of a fully masked row."""

import numpy as np
import streamlit as st

from model.analysis.masking import empty_row, masking_alternatives
from viz.digits import digits
from viz.figures.masks import leak_curves
from viz.figures.token_maps import pattern_map, score_map
from viz.frame import inspector, layout, words
from viz.frame.said import Word
from viz.frame.view import View
from viz.labels import token_labels


def draw(view: View) -> None:
    """Draw the view."""
    _scores(view)
    sums = _visible_sums(view)
    _why_before(view, sums)
    _empty_row(view)
    inspector.source("model.attention.attention_pattern", "model.attention.additive_mask")
    inspector.export(view, {})


def _visible_sums(view: View) -> dict[str, np.ndarray]:
    """For each way of masking, what the visible cells of each row sum to, (T,)."""
    alternatives = masking_alternatives(view.record.scores[view.head], view.record.mask)
    mask = view.record.mask
    return {
        name: np.where(mask, x, 0.0).sum(axis=-1, dtype=np.float64)
        for name, x in alternatives.items()
    }


def _scores(view: View) -> None:
    record, name = view.record, view.head_name
    scores = record.scores[view.head]
    layout.section(
        "From scores to weights",
        f"{name}: scores of query and key; then with −∞ wherever the mask says so.",
    )
    maps = (
        ("scores-before", None, "scores before the mask"),
        ("scores-after", record.mask, "scores after it"),
    )
    for column, (key, mask, what) in zip(layout.two_up("scores"), maps, strict=True):
        with column:
            chart = score_map(scores, mask, view.tokens, f"{name}: {what}", scale_of=scores)
            layout.show_chart(chart, key=key)
    left, right = layout.two_up("weights")
    with left:
        title = f"{name}: weights after softmax"
        chart = pattern_map(view.pattern, record.mask, view.tokens, title)
        layout.show_chart(chart, key="pattern")
    with right:
        layout.section(
            "Why −∞ before softmax, and not zero after",
            "",
        )
        st.markdown(
            "Softmax shares out exactly 1. With −∞ in the masked cells, exp(−∞) = 0 and all of it "
            "goes to visible tokens. A masked score of 0 still gets exp(0) = 1. Zeroing after "
            "softmax is too late: the masked tokens have already taken their share, and the row "
            "sums to less than 1."
        )
        inspector.attention(record)


def _why_before(view: View, sums: dict[str, np.ndarray]) -> None:
    query = int(np.argmin(sums["after"]))
    layout.show_chart(leak_curves(sums, view.tokens), key="leak")
    label = token_labels(view.tokens)[query]
    said = {
        how: digits(sums[how][query], places)
        for how, places in (("before", 6), ("score_zero", 4), ("after", 4))
    }
    words.notice(
        [
            "For the query “",
            Word(label),
            f"” in {view.head_name} the visible weights sum to {said['before']} with −∞ before "
            f"softmax, {said['score_zero']} with score 0 before, {said['after']} with zero after.",
        ]
    )


def _empty_row(view: View) -> None:
    """A row with every cell masked, by softmax alone and as the model has it."""
    query = len(view.tokens) - 1
    row = empty_row(view.run.trace.attention[view.layer].scores[view.head, query])
    label = token_labels(view.tokens)[query]
    layout.section(
        "A fully masked row",
        "Left padding, or a mask edited too far, leaves a row without a single visible cell.",
        "Softmax of nothing but −∞ is 0/0. One NaN there would spread to every token that attends "
        "to this one, so Headlight gives such a row zeros: attention then writes nothing, and the "
        "token keeps what it had.",
    )
    inspector.numbers(
        r"\mathrm{softmax}(-\infty, \dots, -\infty) = \frac{0}{0},"
        r"\qquad \text{here: } (0, \dots, 0),\ z = 0"
    )
    plain = "NaN in every cell" if np.isnan(row.plain).all() else f"{row.plain.tolist()}"
    words.notice(
        [
            "The scores of “",
            Word(label),
            f"” in {view.head_name}, with all of its cells masked: softmax alone gives {plain}, "
            f"this model's attention sums to {digits(float(row.ours.sum()))}.",
        ]
    )
