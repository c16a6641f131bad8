"""A mask edited by hand, and what the model makes of it."""

import hashlib
import re

import numpy as np
import streamlit as st

from viz import controls, runs, say, ui
from viz.figures.labels import token_labels
from viz.live import component
from viz.pages.masks.shared import Chosen, choose, choose_kind, mask_csv, run_under
from viz.runs import masks

NO_EDITS = NOBODY = ""
CELL = re.compile(r"(\d{1,4})-(\d{1,4})")


def draw(view: ui.View) -> None:
    """Draw the view."""
    component.preload()
    st.markdown(
        "Click a cell to hide it or to show it again; press and move to paint several. The model "
        "runs anew under your mask: its pattern on the left, what it says next on the right."
    )
    kind = choose_kind(view)
    with ui.row("mask"):
        chosen = choose(view, kind)
        position = ui.position_picker(view)
    settings, mask = _edited(view, chosen)
    controls.show_complaints()
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
            settings,
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


def _edited(view: ui.View, chosen: Chosen) -> tuple[component.Settings, np.ndarray]:
    """The edits, and the mask with those cells turned over."""
    base, n_tokens = chosen.mask, len(chosen.mask)

    def nearest(raw: object) -> tuple[str, str | None]:
        cells = [_cell(text, n_tokens) for text in str(raw).split(".")] if raw else []
        kept = ".".join(f"{query}-{key}" for query, key in dict.fromkeys(filter(None, cells)))
        n_lost = sum(cell is None for cell in cells)
        lost = "1 edited cell does" if n_lost == 1 else f"{n_lost} edited cells do"
        words = f"{lost} not exist here: cells are such as 2-0, below {n_tokens} tokens."
        return kept, words if n_lost else None

    of = _digest(chosen)
    _drop_others(of)
    edits = controls.kept("edits", NO_EDITS, nearest)
    st.session_state["edits_of"] = of if edits else NOBODY
    controls.publish("edits_of", st.session_state["edits_of"], NOBODY)
    mask = base.copy()
    for query, key in (_cell(text, n_tokens) for text in edits.split(".") if text):
        mask[query, key] = not base[query, key]
    return {"edits": edits, "edits_of": of}, mask


def _digest(chosen: Chosen) -> str:
    """A short name of what edits are made on: tokens and mask."""
    what = repr((chosen.ids, chosen.kind, chosen.sizes)).encode()
    return hashlib.blake2s(what, digest_size=4).hexdigest()


def _drop_others(of: str) -> None:
    """Let go of edits that were made on other tokens or another mask, however they came here."""
    controls.settle("edits_of", NOBODY, lambda raw: (str(raw), None))
    if st.session_state["edits_of"] in (of, NOBODY):
        return
    st.session_state["edits_of"] = NOBODY
    if st.session_state.get("edits", st.query_params.get("edits")):
        controls.complain("The edited cells were of another sentence or mask: they are let go.")
    st.session_state["edits"] = NO_EDITS


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
    say.notice(
        f"Nothing may be read by {names}{more}: these rows are zero, not NaN, and what attention "
        f"writes there is zero in every layer and head (largest |z| = {largest:g})."
    )
