"""Heads: what every head does, measured on a sentence or a whole text, and the counts."""

from collections.abc import Mapping, Sequence

import streamlit as st

from model.analysis.measures import MEASURES
from model.analysis.why.rule import Rules
from viz.figures.heads import Measured, head_scatter
from viz.formulas import Formula
from viz.frame import controls, folder, gradual, inspector, layout, memory, settings, state, words
from viz.frame.page import Page
from viz.frame.view import View
from viz.pages.look_inside.heads import counts, strongest, table
from viz.pages.look_inside.heads.reading import (
    REPEATS,
    SENTENCE,
    SURVEY,
    TEXT,
    NoSurvey,
    Reading,
    is_copying_kept,
    of_input,
    of_repeats,
    of_text,
    surveyed,
    with_copying,
)
from viz.runs import heads, whys

PATH, SURVEYING, RULES = "text-path", "surveying", "rules"  # of this visitor
FIRST_AXES = {  # before a person chooses, the first of these that there is
    "across": ("distance", "largest"),
    "up": ("copying", "kept", "moved"),
    "colour_by": ("entropy", "broad"),
}
ON_REPEATS = {"across": ("previous",), "up": ("induction",), "colour_by": ("copying", "entropy")}


def render(view: View) -> None:
    """Draw the page: the table first, without the copying score as long as it is worked out."""
    with layout.beside_heading():
        chosen = _measured_on(view)
    reading = (_of_text(view) if chosen == TEXT else None) or _reading(view, chosen)
    top = table.places()
    if "copying" not in reading.measures:
        if not is_copying_kept(view):
            table.draw_first(top, view, reading)
        reading = with_copying(view, reading)
    names = [name for name in MEASURES if reading.has(name)]
    if not names:
        words.notice("A token alone has nothing to choose from: no head can be measured on it.")
        return
    firsts = ON_REPEATS if chosen == REPEATS else FIRST_AXES
    axes, rules = _axes(names, firsts), _rules(view, reading)
    table.draw(top, view, reading, axes, rules)
    left, right = layout.two_up("heads")
    with left:
        _scatter(view, reading, axes)
    with right:
        strongest.draw(view, reading, axes, rules)
    counts.draw(reading)
    _inspect(view, reading, axes, rules)


def _measured_on(view: View) -> str:
    """What the numbers are of, as a person chose; where no survey is stored, this input."""
    usual = SENTENCE if isinstance(surveyed(view), NoSurvey) else SURVEY
    is_text = "text" in view.offers and len(view.run.trace.streams) == 1
    made = (REPEATS,) if "decoder" in view.offers else ()
    own = (TEXT,) if is_text and folder.is_local() else ()
    options = (SURVEY, SENTENCE, *made, *own)
    return controls.segments(settings.MEASURED_ON.given(options=options, default=usual))


def _of_text(view: View) -> Reading | None:
    """The numbers of a text file of a person's own; None while there are none yet."""
    with st.form("text-file", border=False), layout.slim_row("text-file"):
        path = st.text_input("Path of a text file", key=PATH, placeholder="~/texts/mine.txt")
        is_wanted = st.form_submit_button("Measure", type="primary")
    if is_wanted:
        memory.remember(SURVEYING, view.handle, None)
        memory.remember(SURVEYING, view.handle, heads.survey_of(view.handle, path))
    work: heads.Surveying | None = memory.remembered(SURVEYING, view.handle)
    if work is None:
        words.caption(
            f"Type where a text file of yours lies: every head is measured on its first "
            f"{heads.MOST:,} tokens. Until then other numbers stand here."
        )
        return None
    if not work.is_done:
        n = len(work.samples)
        gradual.draw(
            work, lambda: None, lambda: f"{work.n_done} of {n} windows of the text are measured."
        )
    return None if work.is_running or not work.n_done else of_text(view, work)


def _reading(view: View, chosen: str) -> Reading:
    """The numbers of what was chosen; of the survey where that cannot be read, this input's."""
    if chosen == REPEATS:
        return of_repeats(view)
    found = of_input(view) if chosen == SENTENCE else surveyed(view)
    if isinstance(found, Reading):
        return found
    if chosen == SURVEY:
        words.notice(found)
    return of_input(view)


def _rules(view: View, reading: Reading) -> Rules | str:
    """The looks of all heads as far as they are counted, or why they are not."""
    corpus, group = reading.corpus, view.attention
    try:
        return gradual.kept(
            RULES,
            (view.handle, group, corpus.key),
            lambda: whys.rules(view.handle, group, corpus.traces()),
        )
    except ValueError as error:
        return f"Why its heads look where they look is not counted: {error}."


def _axes(names: Sequence[str], firsts: Mapping[str, Sequence[str]]) -> tuple[str, str, str]:
    """The measures across, up and as colour, of those that there are."""
    chosen = []
    with layout.slim_row("axes"):
        for setting in (settings.ACROSS, settings.UP, settings.COLOUR_BY):
            default = next((x for x in firsts[setting.name] if x in names), names[0])
            given = setting.given(
                options=names, default=default, words=lambda name: MEASURES[name].name
            )
            chosen.append(controls.select(given, width=240))
    across, up, colour = chosen
    return across, up, colour


def _scatter(view: View, reading: Reading, axes: tuple[str, str, str]) -> None:
    across, up, colour = (
        Measured(MEASURES[name].name, reading.values(name), MEASURES[name].is_signed)
        for name in axes
    )
    chosen = view.layer * reading.n_heads + view.head

    def look_at(_: int, number: int) -> None:
        layer, head = divmod(number, reading.n_heads)
        state.put((settings.LAYER, layer), (settings.HEAD, head))

    chart = head_scatter(reading.names, across, up, colour, chosen)
    layout.show_chart(chart, key="heads", on_pick=look_at)


def _inspect(view: View, reading: Reading, axes: tuple[str, str, str], rules: Rules | str) -> None:
    for name in dict.fromkeys(axes):
        about = MEASURES[name]
        inspector.formula(about.source, Formula(about.latex, about.reference))
        inspector.note(f"{about.name}: {about.means}. I are the queries that have a choice.")
    inspector.source(*dict.fromkeys(MEASURES[name].source for name in axes))
    csv = {"Heads": lambda: table.csv(reading, rules), **inspector.pattern_table(view)}
    inspector.export(view, csv)


PAGE = Page(
    "Heads",
    ":material/hub:",
    "What does each head do? Sort by a measure; a head leads to its map.",
    "Each head is measured on this input, on many others that the model was not trained on, or "
    "on random tokens said twice. A head gets the words that its numbers support; it is never "
    "named by hand. The axes and the colour can be any of the measures; the inspector has their "
    "formulas.",
    render,
    needs=("projections",),
    opens_inspector=False,
)
