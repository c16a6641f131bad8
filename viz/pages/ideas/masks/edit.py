"""A mask edited by hand, and what the model makes of it."""

import hashlib

import numpy as np

from model.analysis.mask_kinds import source_of
from model.analysis.probabilities import leading_tokens
from viz import runs
from viz.digits import equals
from viz.frame import controls, inspector, notices, scenes, state, tables, words
from viz.frame.page import Numbers
from viz.frame.said import Piece, Word
from viz.frame.settings import EDITS, EDITS_OF
from viz.frame.view import View
from viz.kit.parts.mask_editor import NextTokens, mask_editor_part
from viz.kit.wire import Settings
from viz.labels import token_labels, told_apart
from viz.live import component
from viz.pages.ideas.masks.shared import Chosen, choose, run_under
from viz.runs.kept import held

NOTHING = EDITS_OF.default
NAMED = 8  # rows without a key that are named


def draw(view: View) -> Numbers:
    """The mask to edit, and what the model makes of it."""
    with scenes.to_set():
        chosen = choose(view)
        position = controls.position(view)
    edits, mask = _edited(chosen)
    notices.show()
    base, run = run_under(view, chosen, chosen.mask), run_under(view, chosen, mask)
    tokens = run.trace.tokens
    key = f"{view.model}-{chosen.ids}-{chosen.kind}-{chosen.sizes}-{view.head_name}-{position}"
    after = _next_tokens(view, base, run, position)
    part = mask_editor_part(run.trace, key, view.site, view.head, chosen.mask, after, edits)
    component.show(held(part), on_change=state.take_over)
    _say_empty(run, mask)
    inspector.checked("under this mask", run.checking.result)
    inspector.attention(run.trace.attention[view.layer])
    inspector.source("model.attention.attention_pattern", source_of(chosen.kind))
    pattern = run.trace.attention[view.layer].pattern[view.head]
    csv_files = {
        "Edited mask": lambda: tables.tokens_csv(mask.astype(int), tokens),
        f"Pattern {view.head_name}": lambda: tables.tokens_csv(pattern, tokens),
    }
    inspector.export(view, csv_files, has_charts=False)
    return {}


def _next_tokens(view: View, base: runs.Run, run: runs.Run, position: int) -> NextTokens:
    """What comes after a token under the mask as it was, and under the edited one."""
    before, after = (x.trace.logits[position] for x in (base, run))
    leading = leading_tokens(before, after, runs.LEADING)
    names = told_apart(runs.vocabulary(view.handle), [i for i, _, _ in leading])
    return NextTokens(
        f"What comes after “{token_labels(run.trace.tokens)[position]}”",
        [(names[i], first, second) for i, first, second in leading],
    )


def _edited(chosen: Chosen) -> tuple[Settings, np.ndarray]:
    """The edits as the browser takes them, and the mask with those cells flipped.

    Edits are of one sentence and mask. Which one travels with them, through the address and the
    browser, so that a click on a map that is no longer shown changes nothing.
    """
    shown, edits = _digest(chosen), EDITS.given(n=len(chosen.mask))
    if state.value(EDITS_OF) not in (shown, NOTHING) and state.drop(edits):
        notices.add("The edited cells were of another sentence or mask: they are removed.")
    cells = state.value(edits)
    state.put((EDITS_OF, shown if cells else NOTHING))
    state.value(EDITS_OF)  # into the address, beside the edits
    mask = chosen.mask.copy()
    for query, key in cells:
        mask[query, key] = not chosen.mask[query, key]
    return {"edits": edits.text(cells), "edits_of": shown}, mask


def _digest(chosen: Chosen) -> str:
    """A short name of what edits are made on: tokens and mask."""
    what = repr((chosen.ids, chosen.kind, chosen.sizes)).encode()
    return hashlib.blake2s(what, digest_size=4).hexdigest()


def _say_empty(run: runs.Run, mask: np.ndarray) -> None:
    """Rows that may attend to no key: what the model has there."""
    rows = np.flatnonzero(~mask.any(axis=1))
    if not rows.size:
        return
    labels = token_labels(run.trace.tokens)
    named = enumerate(rows[:NAMED].tolist())
    names = [piece for place, row in named for piece in _row_name(place, row, labels[row])]
    more = f" and {len(rows) - NAMED} more" if len(rows) > NAMED else ""
    largest = max(np.abs(record.z[:, rows]).max() for record in run.trace.attention)
    words.notice(
        [
            "No key is left for ",
            *names,
            f"{more}: these rows are zero, not NaN, and what attention writes there is zero in "
            f"every layer and head (largest |z| {equals(float(largest))}).",
        ]
    )


def _row_name(place: int, row: int, label: str) -> list[Piece]:
    """The number and the token of a row without a key; `place` is which of these it is."""
    return [f"{', ' if place else ''}{row} “", Word(label), "”"]
