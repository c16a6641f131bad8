"""Attention: all heads at a glance, one head under the microscope, and the formula."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import streamlit as st

from model.analysis.heads import strongest_pair
from model.verify.check import Check
from viz import runs
from viz.figures.labels import token_labels
from viz.formulas import attention_with_sizes, weight_with_numbers
from viz.frame import inspector, layout, memory, notices, settings, state, tables, words
from viz.frame.examples import what_to_try
from viz.frame.kinds import Setting
from viz.frame.view import View
from viz.live import component
from viz.live.core.wire import Settings
from viz.live.microscope.data import OtherRun, microscope_data

TITLE = "Attention"
ICON = ":material/grid_view:"
NEEDS = ()

PLAIN = (  # settings that depend on nothing but themselves
    settings.VIEW,
    settings.STAGE,
    settings.MASS,
    settings.CHANGE,
    settings.TAU,
    settings.AGAINST,
    settings.SECOND,
    settings.HOW,
    settings.OVER,
    settings.HIDE_FIRST,
    settings.MERGE_WORDS,
)


def prepare() -> None:
    """Let the browser load the microscope while the model runs."""
    component.preload()


def checks(view: View) -> Sequence[Check]:
    """What the browser found when it recomputed the head it shows."""
    return component.browser_checks(view.run.key, view.site, view.head)


def render(view: View) -> None:
    """Draw the page."""
    layout.heading(
        ICON,
        TITLE,
        "Each head decides, for every token, how much it attends to each token it may attend to: "
        "the row's token is the query, the column's the key. Click a small map to open that head; "
        "point at a cell of its map to see the numbers behind it, click to pin it. Hatched cells "
        "are masked: the query may not attend to the key.",
    )
    what_to_try(view)
    chosen = _chosen(view)
    others = _other_runs(view, chosen)
    notices.show()
    trace, key = view.run.trace, view.run.key
    takes_text = "text" in view.offers
    data = microscope_data(trace, key, view.model, chosen, others, takes_text=takes_text)
    component.show(data, on_change=state.take_over)
    _formula(view, chosen["cell"])
    inspector.source(
        "model.attention.scaled_dot_product",
        "model.attention.attention_scores",
        "model.attention.attention_pattern",
    )
    inspector.export(view, "attention", _tables(view), has_charts=False)


def _chosen(view: View) -> Settings:
    """What is chosen inside the microscope, by the names the browser has for it."""
    n_queries, n_keys = view.pattern.shape
    group = view.group
    cell = settings.CELL.given(limits=(n_queries, n_keys))
    state.only_for(view.sentence, cell)
    bounded = (
        cell,
        settings.TOKEN.given(n=n_queries),
        settings.OTHER.given(limits=(len(group.records), group.n_heads)),
    )
    head = {"attention": view.attention, "layer": view.layer, "head": view.head}
    shown: list[Setting[Any]] = [*PLAIN, *bounded]
    return head | {setting.name: state.value(setting) for setting in shown}


def _other_runs(view: View, chosen: Settings) -> list[OtherRun]:
    """The sentence to compare with, through the same model."""
    text = chosen["second"]
    if chosen["against"] != "sentence" or not text.strip() or "text" not in view.offers:
        return []
    run = runs.run(view.handle, text)
    memory.keep_alive("second-run", run)
    if run.n_cut:
        notices.add(f"The last {run.n_cut} tokens of the second sentence are cut.")
    return [OtherRun(run.trace, run.key)]


def _tables(view: View) -> inspector.Tables:
    return {
        f"Pattern {view.head_name}": lambda: tables.table_csv(
            view.pattern, view.query_tokens, view.key_tokens, "query \\ key"
        )
    }


def _formula(view: View, cell: tuple[int, int] | None) -> None:
    """Attention in general, with this head's sizes, and one weight with its numbers."""
    record = view.record
    n_queries, d_head = record.q.shape[1:]
    n_keys = record.k.shape[1]
    inspector.formula("model.attention.scaled_dot_product")
    inspector.formula(
        "model.attention.scaled_dot_product",
        attention_with_sizes(n_queries, n_keys, d_head, record.scale),
    )
    kind = record.site.kind
    query, key = cell or strongest_pair(view.pattern, kind)
    left_out = ", first token and self left out," if kind == "self" else ""
    what = "The pinned cell of" if cell else f"The strongest pair{left_out} of"
    labels = token_labels(view.query_tokens)[query], token_labels(view.key_tokens)[key]
    words.pair(*labels, f"{what} {view.head_name}:")
    allowed = record.mask_of(view.head)[query]
    if not allowed[key]:
        st.caption("This cell is masked: its weight is exactly zero.", text_alignment="center")
        return
    product = float(record.q[view.head, query] @ record.k[record.kv_head(view.head), key])
    bias = 0.0 if record.bias is None else float(record.bias[view.head, query, key])
    seen = record.scores[view.head, query][allowed].astype(np.float64)
    inspector.formula(
        "model.attention.scaled_dot_product",
        weight_with_numbers(product, d_head, record.scale, bias, float(np.logaddexp.reduce(seen))),
    )
