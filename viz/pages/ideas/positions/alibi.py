"""ALiBi: every score falls with distance, each head with its own slope."""

from collections.abc import Iterable

import numpy as np

from model.analysis.heads import strongest_pair
from model.analysis.order import without_bias
from model.analysis.positions import check_slopes, head_slopes
from viz.digits import digits
from viz.figures.schemes import slope_bars
from viz.figures.token_maps import pattern_map, signed_map
from viz.formulas import alibi, bias_with_numbers
from viz.frame import controls, inspector, layout, verdicts, words
from viz.frame.settings import SLOPE_HEADS
from viz.frame.view import View
from viz.labels import token_labels
from viz.runs import positions


def draw(view: View) -> None:
    """Draw the tab."""
    _slopes(view)
    _pattern(view)
    inspector.source(positions.SOURCES["alibi"], "model.positions.alibi_slopes")
    inspector.export(view, {})


def _slopes(view: View) -> None:
    config, record = view.config, view.record
    row = layout.section(
        "A slope for each head",
        "To each score ALiBi adds −slope × distance.",
        "Nothing is added to the embeddings and nothing is rotated. A steep head is pulled towards "
        "its neighbours, a flat one hardly. The slopes are fixed, not learnt, and geometric: for a "
        "power of two heads, each is the same share of the one before.",
    )
    with row, layout.slim_row("slopes"):
        n_heads = controls.number(SLOPE_HEADS.given(default=config.n_heads))
    slopes = head_slopes(n_heads)
    is_own = n_heads == config.n_heads
    whose = "this model" if is_own else f"a model of {n_heads} head{'s' * (n_heads > 1)}"
    left, right = layout.two_up("slopes")
    with left:
        layout.show_chart(slope_bars(slopes, f"Slopes of {whose}"), key="slopes")
        words.caption(_ratio(slopes))
        if not is_own:  # those of the model are among its properties below
            verdicts.properties((check_slopes(slopes),))
    with right:
        bias = record.added[view.head]
        title = f"{view.head_name} of this model: what is added to its scores"
        chart = signed_map(bias, record.mask, (view.tokens, view.tokens), "bias", title)
        layout.show_chart(chart, key="bias")
    verdicts.properties(positions.checks(view.handle, view.sentence))
    written = alibi(config.n_heads)
    inspector.formula("model.positions.alibi_bias", written.latex, written.reference)
    _numbers(view)


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


def _numbers(view: View) -> None:
    """One score with its numbers."""
    record, d_head = view.record, view.config.d_head
    query, key = strongest_pair(view.pattern)
    slope = float(head_slopes(view.config.n_heads)[view.head])
    scaled = float(record.scores[view.head, query, key] - record.added[view.head, query, key])
    labels, aside = token_labels(view.tokens), words.passed_over(query, key)
    words.pair(
        labels[query],
        labels[key],
        f"The strongest pair of {view.head_name}{aside}:",
    )
    inspector.formula(
        "model.positions.alibi_bias",
        bias_with_numbers(scaled * d_head**0.5, d_head, slope, abs(query - key)),
    )


def _pattern(view: View) -> None:
    record = view.record
    layout.section(
        "What it does to the pattern",
        f"{view.head_name} as the model runs, and with the same scores without the bias.",
    )
    plain = without_bias(record, view.head)
    patterns = (
        ("pattern", view.pattern, "with the bias, as it runs"),
        ("pattern-plain", plain, "without the bias"),
    )
    for column, (key, values, what) in zip(layout.two_up("patterns"), patterns, strict=True):
        with column:
            chart = pattern_map(values, record.mask, view.tokens, f"{view.head_name}: {what}")
            layout.show_chart(chart, key=key)
    left, right = layout.two_up("difference")
    with left:
        title, both = (
            f"{view.head_name}: weight with the bias − without",
            (view.tokens, view.tokens),
        )
        chart = signed_map(view.pattern - plain, record.mask, both, "difference", title)
        layout.show_chart(chart, key="pattern-difference")
    with right:
        _distances(view)


def _distances(view: View) -> None:
    """How far each head of the layer attends, with the bias and without."""
    record = view.record
    words.caption(
        f"Mean distance in tokens between a query and what it attends to, by head of L{view.layer}:"
    )
    plain = [without_bias(record, head) for head in range(len(record.q))]

    def mean_distances(patterns: Iterable[np.ndarray]) -> list[str]:
        return [digits(_mean_distance(pattern), 2) for pattern in patterns]

    words.table(
        {
            "head": [f"H{head}" for head in range(len(plain))],
            "slope": [f"{slope:.4g}" for slope in map(float, head_slopes(len(plain)))],
            "with the bias": mean_distances(record.pattern),
            "without": mean_distances(plain),
        }
    )


def _mean_distance(pattern: np.ndarray) -> float:
    """Mean distance between query and key, weighted by attention. pattern: (T, T)."""
    at = np.arange(len(pattern))
    return float((pattern * np.abs(at[:, None] - at[None, :])).sum() / len(pattern))
