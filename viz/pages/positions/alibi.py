"""ALiBi: every score falls with distance, each head with its own slope."""

import numpy as np
import pandas as pd
import streamlit as st

from viz import controls, say, ui
from viz.figures.attention import strongest_pair
from viz.figures.masks import pattern_map
from viz.figures.schemes import bias_map, difference_map, slope_bars
from viz.formulas import bias_with_numbers
from viz.runs import positions

MOST_HEADS = 64


def draw(view: ui.View) -> None:
    """Draw the tab."""
    _slopes(view)
    _pattern(view)
    ui.source(positions.SOURCES["alibi"], "model.positions.alibi_slopes")
    record = view.run.trace.attention[view.layer]
    ui.export(
        view,
        "positions",
        {
            f"Bias {view.head_name}": lambda: _csv(view, record.bias[view.head]),
            f"Pattern {view.head_name}": lambda: _csv(view, record.pattern[view.head]),
        },
    )


def _csv(view: ui.View, values: np.ndarray) -> bytes:
    return ui.table_csv(values, view.tokens, view.tokens, "query \\ key")


def _slopes(view: ui.View) -> None:
    config, record = view.run.trace.config, view.run.trace.attention[view.layer]
    ui.section(
        "A slope for each head",
        "Nothing is added to the embeddings and nothing turns. To each score ALiBi adds "
        "−slope × distance: a steep head is pulled towards its neighbours, a flat one hardly. The "
        "slopes are fixed, not learnt, and geometric: for a power of two heads, each is the same "
        "share of the one before.",
    )
    n_heads = controls.number("Heads", "n_heads", 1, MOST_HEADS, config.n_heads)
    slopes = positions.slopes(n_heads)
    whose = "this model" if n_heads == config.n_heads else f"a model of {n_heads} heads"
    left, right = ui.two_up("slopes")
    with left:
        ui.show_figure(
            slope_bars(slopes, view.colors, f"Slopes of {whose}"),
            key="slopes",
            alt=f"Slopes of {whose}: {', '.join(f'{slope:.4g}' for slope in slopes)}.",
        )
        st.caption(_ratio(slopes))
        if n_heads != config.n_heads:  # those of the model are among its promises below
            say.identities((positions.slope_check(n_heads),))
    with right:
        bias = record.bias[view.head]
        ui.show_figure(
            bias_map(
                bias,
                record.mask,
                view.tokens,
                view.colors,
                f"{view.head_name} of this model: what is added to its scores",
            ),
            key="bias",
            alt=f"Bias of {view.head_name}, from {bias[record.mask].min():.3f} to 0.",
        )
    say.identities(positions.checks(view.model, view.device, view.sentence))
    ui.formula("model.positions.alibi_bias")
    _numbers(view)


def _ratio(slopes: np.ndarray) -> str:
    n_heads = len(slopes)
    below = 2 ** int(np.log2(n_heads))
    if below == n_heads:
        return f"Each slope is 2^(−8/{n_heads}) = {2 ** (-8 / n_heads):.4f} times the one before."
    return (
        f"{n_heads} is no power of two: the first {below} are those of {below} heads, each "
        f"2^(−8/{below}) = {2 ** (-8 / below):.4f} times the one before; the other "
        f"{n_heads - below} are every other slope of {2 * below} heads."
    )


def _numbers(view: ui.View) -> None:
    """One score with its numbers."""
    record, d_head = view.run.trace.attention[view.layer], view.run.trace.config.d_head
    query, key = strongest_pair(record.pattern[view.head])
    slope = float(positions.slopes(view.run.trace.config.n_heads)[view.head])
    scaled = float(record.scores[view.head, query, key] - record.bias[view.head, query, key])
    say.pair(view.tokens, query, key, f"The strongest pair of {view.head_name}:")
    ui.formula(
        "model.positions.alibi_bias",
        bias_with_numbers(scaled * d_head**0.5, d_head, slope, abs(query - key)),
    )


def _pattern(view: ui.View) -> None:
    record = view.run.trace.attention[view.layer]
    ui.section(
        "What it does to the pattern",
        f"The same queries and keys of {view.head_name}: as the model runs, and had nothing been "
        "added to their scores.",
    )
    plain = positions.without_bias(record, view.head)
    patterns = (
        ("pattern", record.pattern[view.head], "with the bias, as it runs"),
        ("pattern-plain", plain, "without the bias"),
    )
    for column, (key, values, words) in zip(ui.two_up("patterns"), patterns, strict=True):
        with column:
            ui.show_figure(
                pattern_map(
                    values, record.mask, view.tokens, view.colors, f"{view.head_name}: {words}"
                ),
                key=key,
                alt=f"Attention weights of {view.head_name} {words}; mean distance "
                f"{_reach(values):.2f} tokens.",
            )
    left, right = ui.two_up("difference")
    with left:
        difference = record.pattern[view.head] - plain
        ui.show_figure(
            difference_map(
                difference,
                record.mask,
                view.tokens,
                view.colors,
                f"{view.head_name}: weight with the bias − without",
            ),
            key="pattern-difference",
            alt=f"What the bias changes in {view.head_name}, at most "
            f"{np.abs(difference).max():.3f}.",
        )
    with right:
        _distances(view)


def _distances(view: ui.View) -> None:
    """How far each head of the layer reads, with the bias and without."""
    record = view.run.trace.attention[view.layer]
    st.caption(
        f"Mean distance in tokens between a query and what it reads, by head of L{view.layer}:"
    )
    plain = [positions.without_bias(record, head) for head in range(len(record.q))]
    table = pd.DataFrame(
        {
            "head": [f"H{head}" for head in range(len(plain))],
            "slope": [f"{slope:.4g}" for slope in positions.slopes(len(plain))],
            "with the bias": [f"{_reach(pattern):.2f}" for pattern in record.pattern],
            "without": [f"{_reach(pattern):.2f}" for pattern in plain],
        }
    )
    st.dataframe(table, hide_index=True, height="content")


def _reach(pattern: np.ndarray) -> float:
    """Mean distance of what is read, weighted by attention. pattern: (T, T)."""
    at = np.arange(len(pattern))
    return float((pattern * np.abs(at[:, None] - at[None, :])).sum() / len(pattern))
