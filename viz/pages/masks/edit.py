"""A mask edited by hand, and what the model makes of it."""

import re

import numpy as np
import streamlit as st

from viz import runs, ui
from viz.figures.labels import token_labels
from viz.live import component
from viz.pages.masks.shared import choose, mask_csv, run_under
from viz.runs import masks

NO_EDITS = ""
CELL = re.compile(r"(\d{1,4})-(\d{1,4})")


def draw(view: ui.View) -> None:
    """Draw the view."""
    component.preload()
    st.markdown(
        "Click a cell to hide it or to show it again; press and move to paint several. The model "
        "runs anew under your mask: its pattern on the left, what it says next on the right."
    )
    controls = ui.row("mask")
    chosen = choose(view, controls)
    with controls:
        position = ui.position_picker(view)
    edits, mask = _edited(view, chosen.mask)
    ui.show_complaints()
    base, run = run_under(view, chosen, chosen.mask), run_under(view, chosen, mask)
    ui.hold("edited", run)
    tokens = run.trace.tokens
    component.show(
        component.EDITOR,
        component.editor_data(
            run.trace,
            f"{view.model}-{chosen.ids}-{chosen.kind}-{chosen.sizes}-{view.head_name}-{position}",
            (view.layer, view.head),
            chosen.mask,
            runs.next_tokens(view.model, view.device, base.trace, run.trace, position),
            f"What comes after “{token_labels(tokens)[position]}”",
            {"edits": edits},
        ),
        on_told=_take_over,
    )
    _say_empty(run, mask)
    ui.checked("under this mask", run.checks, "mask")
    ui.formula("model.attention.scaled_dot_product")
    ui.source("model.attention.attention_pattern", masks.source(chosen.kind))
    ui.export(
        view,
        "masks",
        {
            "Edited mask": lambda: mask_csv(tokens, mask),
            f"Pattern {view.head_name}": lambda: ui.table_csv(
                run.trace.attention[view.layer].pattern[view.head], tokens, tokens, "query \\ key"
            ),
        },
        camera=False,
    )


def _take_over(changes: component.Settings) -> None:
    st.session_state.update(changes)


def _edited(view: ui.View, base: np.ndarray) -> tuple[str, np.ndarray]:
    """The edits, and the mask with those cells turned over; edits are of their sentence."""
    if st.session_state.setdefault("edits_of", view.sentence) != view.sentence:
        st.session_state.update(edits=NO_EDITS, edits_of=view.sentence)
    n_tokens = len(base)

    def nearest(raw: object) -> tuple[str, str | None]:
        cells = [_cell(text, n_tokens) for text in str(raw).split(".")] if raw else []
        kept = ".".join(f"{query}-{key}" for query, key in dict.fromkeys(filter(None, cells)))
        n_lost = sum(cell is None for cell in cells)
        lost = "1 edited cell does" if n_lost == 1 else f"{n_lost} edited cells do"
        return kept, f"{lost} not exist here." if n_lost else None

    edits = ui.kept("edits", NO_EDITS, nearest)
    mask = base.copy()
    for query, key in (_cell(text, n_tokens) for text in edits.split(".") if text):
        mask[query, key] = not base[query, key]
    return edits, mask


def _cell(text: str, n_tokens: int) -> tuple[int, int] | None:
    """Query and key of 8-1, or None where there is no such cell."""
    match = CELL.fullmatch(text)
    if match is None:
        return None
    cell = (int(match[1]), int(match[2]))
    return cell if max(cell) < n_tokens else None


def _say_empty(run: runs.Run, mask: np.ndarray) -> None:
    """Rows that may read nothing: what the model has there."""
    rows = np.flatnonzero(~mask.any(axis=1))
    if not rows.size:
        return
    labels = token_labels(run.trace.tokens)
    names = ", ".join(f"{row} “{labels[row]}”" for row in rows[:8])
    more = f" and {len(rows) - 8} more" if len(rows) > 8 else ""
    largest = max(np.abs(record.z[:, rows]).max() for record in run.trace.attention)
    ui.notice(
        f"Nothing may be read by {names}{more}: these rows are zero, not NaN, and what attention "
        f"writes there is zero in every layer and head (largest |z| = {largest:g})."
    )
