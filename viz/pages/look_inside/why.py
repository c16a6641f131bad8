"""Why there?, below a head on Attention: one score as the sum of what query and key hold."""

from collections.abc import Callable
from functools import partial

from model.analysis.heads import strongest_pair
from model.analysis.why.reasons import Cell
from model.analysis.why.sentence import kind_in_short
from model.analysis.why.tables import TOKENS, Rows, kind_rows, word_rows, writer_rows
from model.analysis.why.telling import Telling
from viz.frame import controls, gradual, state, tables, words
from viz.frame.inspector import Tables
from viz.frame.settings import WHY, WHY_OTHER, WHY_TAKEN
from viz.frame.view import View
from viz.kit.parts.why import why_part
from viz.kit.wire import Settings
from viz.live import component
from viz.runs.kept import held
from viz.runs.whys import telling

TOLD, KEY = "why-there", "why-part"  # of this visitor; `why` is a setting
OPENING = ("attention", "layer", "head", "cell")  # what another head is opened by


def draw(view: View, pinned: tuple[int, int] | None) -> Tables:
    """Closed until somebody asks; of the pinned cell, or of the head's strongest pair.

    What can be saved of it is returned: once all of it is there, its tables.
    """
    if not controls.flag(WHY):
        return {}
    query, key = pinned or strongest_pair(view.pattern, view.site.kind)
    asked = (view.run.key, view.site, view.head, query, key)
    state.only_for(asked, WHY_TAKEN, WHY_OTHER)
    other = state.value(WHY_OTHER.given(high=len(view.key_tokens) - 1))
    at = (view.head, query, key, None if other is None else int(other))
    try:
        work = gradual.kept(
            TOLD, (*asked, other), lambda: telling(view.handle, view.run, view.site, *at)
        )
    except ValueError as error:
        _refuse(error)
        return {}
    gradual.draw(work, partial(_figure, view, work), lambda: _said(work), TOLD, is_above=True)
    return _tables(view, work.cell) if work.is_done and not work.refusal else {}


def _tables(view: View, cell: Cell) -> Tables:
    name = f"Why {view.head_name} {cell.of.query}-{cell.key}"
    rows = {"kinds": kind_rows, "words": word_rows, "writers": writer_rows}
    return {f"{name} {what}": partial(_csv, made, cell) for what, made in rows.items()}


def _csv(made: Callable[[Cell], Rows], cell: Cell) -> bytes:
    table = tables.frame(made(cell))
    numbers = table.columns.intersection(TOKENS)
    return tables.frame_csv(table.astype(dict.fromkeys(numbers, "Int64")))


def _figure(view: View, work: Telling) -> None:
    """All of the cell, once it is there."""
    if work.refusal:
        _refuse(work.refusal)
    if work.refusal or not work.is_done:
        return
    cell = work.cell
    chosen: Settings = {"taken": state.value(WHY_TAKEN), "other": cell.other}
    key = f"{view.run.key} {view.site.address} {cell.of.head} {cell.of.query} {cell.key}"
    part = held(why_part(cell, chosen, key=key, can_open=True))
    component.show(part, key=KEY, on_change=_take_over)


def _refuse(why: object) -> None:
    words.notice(f"Why there? {why}.")


def _take_over(changes: Settings) -> None:
    """What was chosen in the part, or a head that is opened from there."""
    if opening := {name: x for name, x in changes.items() if name in OPENING}:
        state.take_over(opening)
    else:
        state.take_over(changes, prefix="why_")


def _said(work: Telling) -> str:
    """What kind of look it is, at once, and how far the rest has come."""
    if work.is_done:
        return ""
    rest = "reading the words it holds" if work.is_running else "its words are not read yet"
    return f"{kind_in_short(work.cell)}; {rest}."
