"""ALiBi: every score falls with distance, each head with its own slope."""

import numpy as np

from model.analysis.heads import strongest_pair
from model.analysis.order import without_bias
from model.analysis.positions import check_slopes, head_slopes
from viz.digits import digits
from viz.figures.schemes import slope_bars
from viz.figures.token_maps import pattern_map, signed_map
from viz.formulas.parts import alibi, bias_with_numbers
from viz.frame import controls, inspector, layout, scenes, verdicts, words
from viz.frame.page import Numbers
from viz.frame.said import Word
from viz.frame.settings import SLOPE_HEADS
from viz.frame.view import View
from viz.labels import token_labels


def _formula(view: View) -> None:
    written = alibi(view.config.n_heads)
    inspector.formula("model.positions.alibi_bias", written)


def slopes(view: View) -> Numbers:
    """The slope of each head, of this model or of one with another number of heads."""
    own = view.config.n_heads
    with scenes.to_set():
        n_heads = controls.number(SLOPE_HEADS.given(default=own))
    found = head_slopes(n_heads)
    whose = "this model" if n_heads == own else f"a model of {n_heads} head{'s' * (n_heads > 1)}"
    layout.show_chart(slope_bars(found, f"Slopes of {whose}"), key="slopes")
    verdicts.properties((check_slopes(found),))
    _formula(view)
    return {"ratio": _ratio(n_heads)}


def _ratio(n_heads: int) -> str:
    """By what each slope falls, in words."""
    below = 2 ** int(np.log2(n_heads))
    # The first slope is the ratio too: the one before it would be 1.
    ratio = f"2^(−8/{below}) = {digits(2 ** (-8 / below))}"
    if below == n_heads:
        return f"Each slope is {ratio} times the one before." if below > 1 else f"It is {ratio}."
    others = n_heads - below
    rest = (
        "the other one is the first slope" if others == 1 else f"the other {others} are every other"
    )
    return (
        f"{n_heads} is not a power of two: the first {below} are those of {below} heads, each "
        f"{ratio} times the one before; {rest} of {2 * below} heads."
    )


def bias(view: View) -> Numbers:
    """What is added to the head's scores, and one score with its numbers."""
    record, d_head, labels = view.record, view.config.d_head, token_labels(view.tokens)
    title = f"{view.head_name} of this model: what is added to its scores"
    both = (view.tokens, view.tokens)
    chart = signed_map(record.added[view.head], record.mask, both, "bias", title)
    layout.show_chart(chart, key="bias")
    query, key = strongest_pair(view.pattern)
    slope, distance = float(head_slopes(view.config.n_heads)[view.head]), abs(query - key)
    score = float(record.scores[view.head, query, key])
    plain = score - float(record.added[view.head, query, key])
    _formula(view)
    numbers = bias_with_numbers(plain * d_head**0.5, d_head, slope, distance)
    inspector.formula("model.positions.alibi_bias", numbers)
    return {
        "head": view.head_name,
        "slope": f"{slope:.4g}",
        "query": Word(labels[query]),
        "key": Word(labels[key]),
        "aside": words.passed_over(query, key),
        "distance": str(distance),
        "does": f"takes that score from {digits(plain, 2)} to {digits(score, 2)}"
        if distance
        else "is 0 there",
    }


def pattern(view: View) -> Numbers:
    """The pattern as the model runs, and with the same scores without the bias."""
    plain, head, mask = without_bias(view.record, view.head), view.head_name, view.record.mask
    layout.show_charts(
        {
            "pattern": pattern_map(
                view.pattern, mask, view.tokens, f"{head}: with the bias, as it runs"
            ),
            "pattern-plain": pattern_map(plain, mask, view.tokens, f"{head}: without the bias"),
        }
    )
    _formula(view)
    moved = float(np.abs(view.pattern - plain).sum() / 2 / len(plain))
    return {
        "head": head,
        "with": digits(_mean_distance(view.pattern), 2),
        "without": digits(_mean_distance(plain), 2),
        "moved": digits(100 * moved, 1),
    }


def distances(view: View) -> Numbers:
    """How far each head of the layer attends, with the bias and without."""
    record, heads = view.record, range(view.group.n_heads)
    words.table(
        {
            "head": [f"H{head}" for head in heads],
            "slope": [f"{slope:.4g}" for slope in head_slopes(len(heads)).tolist()],
            "with the bias": [digits(_mean_distance(record.pattern[head]), 2) for head in heads],
            "without": [digits(_mean_distance(without_bias(record, head)), 2) for head in heads],
        }
    )
    _formula(view)
    return {"layer": f"L{view.layer}"}


def _mean_distance(pattern: np.ndarray) -> float:
    """Mean distance between query and key, weighted by attention. pattern: (T, T)."""
    at = np.arange(len(pattern))
    return float((pattern * np.abs(at[:, None] - at)).sum() / len(pattern))
