"""ALiBi: every score falls with distance, each head with its own slope."""

import numpy as np

from model.analysis.heads import strongest_pair
from model.analysis.order import without_bias
from model.analysis.positions import check_slopes, head_slopes
from viz.digits import digits
from viz.figures.schemes import slope_bars
from viz.figures.token_maps import pattern_map, signed_map
from viz.formulas import alibi, bias_with_numbers
from viz.frame import controls, inspector, layout, scenes, verdicts, words
from viz.frame.page import Numbers
from viz.frame.said import Word
from viz.frame.settings import SLOPE_HEADS
from viz.frame.view import View
from viz.labels import token_labels
from viz.pages.ideas.positions.shared import Tab
from viz.runs import positions


def _slopes(view: View) -> Numbers:
    """The slope of each head, of this model or of one with another number of heads."""
    config = view.config
    with scenes.to_set():
        n_heads = controls.number(SLOPE_HEADS.given(default=config.n_heads))
    slopes = head_slopes(n_heads)
    is_own = n_heads == config.n_heads
    whose = "this model" if is_own else f"a model of {n_heads} head{'s' * (n_heads > 1)}"
    layout.show_chart(slope_bars(slopes, f"Slopes of {whose}"), key="slopes")
    verdicts.properties((check_slopes(slopes),))
    _formula(view)
    return {"ratio": _ratio(slopes)}


def _formula(view: View) -> None:
    written = alibi(view.config.n_heads)
    inspector.formula("model.positions.alibi_bias", written.latex, written.reference)


def _ratio(slopes: np.ndarray) -> str:
    n_heads = len(slopes)
    below = 2 ** int(np.log2(n_heads))
    # The first slope is the ratio too: the one before it would be 1.
    factor = digits(2 ** (-8 / below))
    if below == n_heads:
        named = f"2^(−8/{n_heads}) = {factor}"
        return f"It is {named}." if below == 1 else f"Each slope is {named} times the one before."
    others = n_heads - below
    rest = (
        "the other one is the first slope" if others == 1 else f"the other {others} are every other"
    )
    return (
        f"{n_heads} is not a power of two: the first {below} are those of {below} heads, each "
        f"2^(−8/{below}) = {factor} times the one before; {rest} of {2 * below} heads."
    )


def _bias(view: View) -> Numbers:
    """What is added to the head's scores, and one score with its numbers."""
    record, d_head = view.record, view.config.d_head
    title = f"{view.head_name} of this model: what is added to its scores"
    both = (view.tokens, view.tokens)
    chart = signed_map(record.added[view.head], record.mask, both, "bias", title)
    layout.show_chart(chart, key="bias")
    query, key = strongest_pair(view.pattern)
    slope = float(head_slopes(view.config.n_heads)[view.head])
    scaled = float(record.scores[view.head, query, key] - record.added[view.head, query, key])
    _formula(view)
    numbers = bias_with_numbers(scaled * d_head**0.5, d_head, slope, abs(query - key))
    inspector.formula("model.positions.alibi_bias", numbers)
    labels = token_labels(view.tokens)
    return {
        "head": view.head_name,
        "slope": f"{slope:.4g}",
        "query": Word(labels[query]),
        "key": Word(labels[key]),
        "aside": words.passed_over(query, key),
        "distance": str(abs(query - key)),
        "score": digits(scaled, 2),
        "lowered": digits(float(record.scores[view.head, query, key]), 2),
    }


def _pattern(view: View) -> Numbers:
    """The pattern as the model runs, and with the same scores without the bias."""
    plain = without_bias(view.record, view.head)
    mask, head = view.record.mask, view.head_name
    title = f"{head}: with the bias, as it runs"
    layout.show_charts(
        {
            "pattern": pattern_map(view.pattern, mask, view.tokens, title),
            "pattern-plain": pattern_map(plain, mask, view.tokens, f"{head}: without the bias"),
        }
    )
    _formula(view)
    means = (digits(_mean_distance(values), 2) for values in (view.pattern, plain))
    return {"head": view.head_name, **dict(zip(("with", "without"), means, strict=True))}


def _difference(view: View) -> Numbers:
    """What the bias adds to each weight, and takes from it."""
    change = view.pattern - without_bias(view.record, view.head)
    title = f"{view.head_name}: weight with the bias − without"
    chart = signed_map(change, view.record.mask, (view.tokens, view.tokens), "difference", title)
    layout.show_chart(chart, key="pattern-difference")
    _formula(view)
    moved = float(np.abs(change).sum() / 2 / len(change))
    return {"head": view.head_name, "moved": digits(100 * moved, 1)}


def _distances(view: View) -> Numbers:
    """How far each head of the layer attends, with the bias and without."""
    record = view.record
    patterns = {
        "with the bias": record.pattern,
        "without": [without_bias(record, head) for head in range(len(record.q))],
    }
    n_heads = len(record.q)
    words.table(
        {
            "head": [f"H{head}" for head in range(n_heads)],
            "slope": [f"{slope:.4g}" for slope in map(float, head_slopes(n_heads))],
            **{
                name: [digits(_mean_distance(pattern), 2) for pattern in of]
                for name, of in patterns.items()
            },
        }
    )
    _formula(view)
    return {"layer": f"L{view.layer}"}


def _mean_distance(pattern: np.ndarray) -> float:
    """Mean distance between query and key, weighted by attention. pattern: (T, T)."""
    at = np.arange(len(pattern))
    return float((pattern * np.abs(at[:, None] - at[None, :])).sum() / len(pattern))


TAB = Tab(
    scenes={
        "slopes": _slopes,
        "bias": _bias,
        "pattern": _pattern,
        "difference": _difference,
        "distances": _distances,
    },
    wide=("pattern",),
    source=(positions.SOURCES["alibi"], "model.positions.alibi_slopes"),
)
