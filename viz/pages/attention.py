"""Attention: all heads at a glance, one head large, and the formula with its numbers."""

import numpy as np
import streamlit as st

from viz import ui
from viz.figures.attention import head_map, overview, strongest_pair
from viz.figures.labels import token_labels
from viz.formulas import attention_with_sizes, weight_with_numbers

TITLE = "Attention"
ICON = ":material/grid_view:"


def render() -> None:
    """Draw the page."""
    view = ui.open_page()
    ui.heading(
        ICON,
        TITLE,
        "Each head decides, for every token, how much to read from itself and those before it. "
        "The stronger the colour, the more the token in the row reads from the one in the column. "
        "Hatched cells are masked: they may not be read. Click a small map to open it.",
    )
    ui.what_to_look_for(view)
    with st.container(key="two-up"):
        left, right = st.columns([5, 6])
        with left:
            _all_heads(view)
        with right:
            _one_head(view)
    _formula(view)
    ui.source(
        "model.attention.scaled_dot_product",
        "model.attention.attention_scores",
        "model.attention.attention_pattern",
    )
    pattern = view.run.trace.attention[view.layer].pattern[view.head]
    ui.export(
        view,
        "attention",
        {
            f"Pattern {view.head_name}": lambda: ui.table_csv(
                pattern, view.tokens, view.tokens, "query \\ key"
            )
        },
    )


def _all_heads(view: ui.View) -> None:
    records = view.run.trace.attention
    patterns = np.stack([record.pattern for record in records])
    figure = overview(
        patterns,
        records[0].mask,
        view.tokens,
        view.colors,
        layer=view.layer,
        head=view.head,
    )
    ui.show_figure(
        figure,
        key="overview",
        alt=f"Attention of all {len(records)} layers and {patterns.shape[1]} heads as small maps; "
        f"{view.head_name} is framed.",
        on_select=_open_clicked_head,
    )


def _open_clicked_head() -> None:
    points = st.session_state["figure-overview"].selection.points
    if points:
        layer, head = points[0]["customdata"]
        st.session_state.update(layer=layer, head=head)


def _one_head(view: ui.View) -> None:
    record = view.run.trace.attention[view.layer]
    pattern = record.pattern[view.head]
    query, key = strongest_pair(pattern)
    labels = token_labels(view.tokens)
    ui.show_figure(
        head_map(
            pattern,
            record.mask,
            record.query_tokens,
            record.key_tokens,
            view.colors,
            name=view.head_name,
        ),
        key="head",
        alt=f"Attention weights of {view.head_name}, {len(labels)} by {len(labels)} tokens. "
        f"Strongest pair: {labels[query]} reads {labels[key]} with weight "
        f"{pattern[query, key]:.3f}.",
    )


def _formula(view: ui.View) -> None:
    record = view.run.trace.attention[view.layer]
    n_heads, n_queries, d_head = record.q.shape
    query, key = strongest_pair(record.pattern[view.head])
    group = n_heads // len(record.k)
    product = float(record.q[view.head, query] @ record.k[view.head // group, key])
    bias = 0.0 if record.bias is None else float(record.bias[view.head, query, key])
    seen = record.scores[view.head, query][record.mask[query]].astype(np.float64)
    ui.formula("model.attention.scaled_dot_product")
    ui.formula(
        "model.attention.scaled_dot_product",
        attention_with_sizes(n_queries, record.k.shape[1], d_head),
    )
    ui.pair(
        view.tokens,
        query,
        key,
        f"The strongest pair of {view.head_name}, first token and self left out:",
    )
    ui.formula(
        "model.attention.scaled_dot_product",
        weight_with_numbers(product, d_head, bias, float(np.logaddexp.reduce(seen))),
    )
