"""Why −∞ before softmax and not zero after, and what becomes of a fully masked row."""

import numpy as np

from model.analysis.masking import empty_row, masking_alternatives
from viz.digits import digits
from viz.figures.masks import leak_curves
from viz.figures.token_maps import signed_map
from viz.frame import inspector, layout
from viz.frame.page import Numbers
from viz.frame.said import Word
from viz.frame.view import View
from viz.labels import token_labels
from viz.pages.ideas.masks.shared import hides_nothing


def draw(view: View) -> Numbers:
    """Scores with −∞ wherever the mask says so, and what other ways leave to the visible tokens."""
    record, name = view.record, view.head_name
    scores, sums = record.scores[view.head], _visible_sums(view)
    title, both = f"{name}: scores after the mask", (view.tokens, view.tokens)
    layout.show_charts(
        {
            "scores-after": signed_map(scores, record.mask, both, "score", title, scores),
            "leak": leak_curves(sums, view.tokens),
        }
    )
    inspector.attention(record)
    inspector.numbers(
        r"\mathrm{softmax}(-\infty, \dots, -\infty) = \frac{0}{0},"
        r"\qquad \text{here: } (0, \dots, 0),\ z = 0"
    )
    inspector.source("model.attention.attention_pattern", "model.attention.additive_mask")
    if hides_nothing(record.mask):
        return {}
    query = int(np.argmin(sums["after"] + sums["score_zero"]))
    row = empty_row(scores[-1])
    return {
        "head": name,
        "query": Word(token_labels(view.tokens)[query]),
        "before": digits(sums["before"][query]),
        "zero": digits(sums["score_zero"][query]),
        "after": digits(sums["after"][query]),
        "plain": "NaN in every cell" if np.isnan(row.plain).all() else f"{row.plain.tolist()}",
        "ours": digits(float(row.ours.sum())),
    }


def _visible_sums(view: View) -> dict[str, np.ndarray]:
    """For each way of masking, what the visible cells of each row sum to, (T,)."""
    alternatives = masking_alternatives(view.record.scores[view.head], view.record.mask)
    mask = view.record.mask
    return {
        name: np.where(mask, x, 0.0).sum(axis=-1, dtype=np.float64)
        for name, x in alternatives.items()
    }
