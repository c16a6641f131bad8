"""Positions: what each scheme does to a model that runs, and the lesson that leads through all."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

import streamlit as st

from model.verify.check import Check
from viz import runs
from viz.frame import controls, inspector, layout, models, scenes, settings, state, words
from viz.frame.kinds import Choice
from viz.frame.page import Numbers, Page
from viz.frame.view import View
from viz.inside_streamlit import unbroken
from viz.pages.ideas.positions import added, alibi, compare, order, rotated
from viz.runs import positions
from viz.runs.kept import Asked

ALL = "compare"  # the tab of the lesson, in the address
NAMES = {ALL: "All schemes", **compare.NAMES}
Draw = Callable[[View], Numbers]


def checks(view: View) -> Sequence[Check]:
    """The properties of the scheme of the bar's model, where it is the one that is shown."""
    own = _own(view)
    is_shown = own and state.value(_scheme(view)) in (own, ALL)
    return positions.checks(view.handle, view.given) if is_shown else ()


def render(view: View) -> None:
    """Draw the page."""
    family = positions.family(view.handle.device)
    with layout.beside_heading():
        tab = controls.segments(_scheme(view))
    shown = _shown(view, tab)
    if shown is not view:
        with layout.beside_heading():
            st.button(
                f"Use {shown.handle.name} everywhere",
                on_click=unbroken(lambda: models.switch(shown.handle.name)),
                type="tertiary",
                icon=":material/arrow_upward:",
                key="use-everywhere",
            )
        inspector.checked(shown.model, shown.run.checking.result)
    if tab == ALL and not family:
        words.notice("No checkpoints positions-* found: copy them to assets/checkpoints again.")
        return
    drawn = SCENES[tab]
    page = replace(PAGE, scenes=drawn, wide=tuple(drawn), source=SOURCES[tab])
    scenes.show(page, shown, scheme=tab)
    if shown is view and tab != ALL and view.handle not in family.values():
        words.notice(
            f"This is {view.called}, {view.config.n_layers} layers × {view.config.n_heads} heads. "
            f"The other tabs run {positions.sizes(family)}."
        )


def _own(view: View) -> str | None:
    """The scheme of the bar's model; None where the weights behind it are not here to be shown."""
    return view.config.position if "weights" in view.offers else None


def _scheme(view: View) -> Choice[str]:
    """The setting: schemes that have a model here; the lesson at first, which has all of them.

    A scene that is not of the lesson is of the bar's model.
    """
    own, family = _own(view), positions.family(view.handle.device)
    scene = state.asked(settings.SCENE)
    is_own = own and (not family or (scene in SCENES[own] and scene not in SCENES[ALL]))
    # Another model is chosen to see its scheme.
    state.only_for(view.model, settings.SCHEME, then=own)
    known = (*family, own, ALL)
    return settings.SCHEME.given(
        options=[tab for tab in NAMES if tab in known],
        default=own if is_own else ALL,
        words=NAMES.get,
    )


def _shown(view: View, scheme: str) -> View:
    """What is shown of a scheme: the bar's model, or the scheme's own on the same sentence.

    It has the bar's layer and head, or the nearest there are.
    """
    if scheme in (_own(view), ALL):
        return view
    handle = positions.family(view.handle.device)[scheme]
    asked = Asked(partial(runs.run, handle, view.sentence))
    group = asked.answer.trace.group(view.attention)
    layer, head = min(view.layer, len(group.records) - 1), min(view.head, group.n_heads - 1)
    return replace(view, given=view.sentence, handle=handle, asked=asked, layer=layer, head=head)


def _said(view: View) -> tuple[str, str]:
    """What is seen, in one line; what is shown is of the family, whose names are ours."""
    line = PAGE.line
    with suppress(ValueError):  # said below the tabs
        shown = _shown(view, state.value(_scheme(view)))
        instead = "" if shown.head_name == view.head_name else f" (it has no {view.head_name})"
        if shown is not view:
            line = f"{shown.handle.name} runs here, {shown.head_name}{instead}."
    return line, ""


def _of(scheme: str, draw: Draw) -> Draw:
    """A scene of a scheme as one of the lesson, whose words say which model it is."""

    def drawn(view: View) -> Numbers:
        if scheme not in (*positions.family(view.handle.device), _own(view)):
            words.notice(f"Not found: positions-{scheme}.")
            return {}
        shown = _shown(view, scheme)
        if shown is not view:
            inspector.checked(shown.model, shown.run.checking.result)
        return {**draw(shown), "model": shown.called}

    return drawn


SCENES: dict[str, Mapping[str, Draw]] = {
    "sinusoidal": {
        "table": added.table,
        "similarity": added.similarity,
        "curves": added.curves,
        "wavelengths": rotated.wavelengths,
        "rotation": rotated.rotation_of_waves,
        "sum": added.embedding_sum,
    },
    "learned": {
        "table": added.table,
        "similarity": added.similarity,
        "end": added.past_the_end,
        "sum": added.embedding_sum,
    },
    "rope": {
        "rotation": rotated.rotation_of_scores,
        "scores": rotated.scores,
        "wavelengths": rotated.wavelengths,
    },
    "alibi": {
        "slopes": alibi.slopes,
        "bias": alibi.bias,
        "pattern": alibi.pattern,
        "distances": alibi.distances,
    },
    "none": {"order": order.draw},
}
# The lesson: scenes of single schemes, and what is seen of all of them together.
TAKEN = {"table": "sinusoidal", "rotation": "rope"}
SCENES[ALL] = {
    "order": order.draw,
    **{name: _of(scheme, SCENES[scheme][name]) for name, scheme in TAKEN.items()},
    "losses": compare.losses,
    "properties": compare.properties,
    "patterns": compare.patterns,
}
SOURCES = {
    "sinusoidal": ("model.positions.sinusoidal_encoding", "model.positions.shift_waves"),
    "learned": ("model.positions.LearnedPosition",),
    "rope": (
        "model.positions.rotate_pairs",
        "model.positions.rope_angles",
        "model.analysis.positions.rope_scores",
    ),
    "alibi": ("model.positions.alibi_bias", "model.positions.alibi_slopes"),
    "none": ("model.analysis.order.in_two_orders", "model.positions.Position"),
}
SOURCES[ALL] = tuple(names[0] for names in SOURCES.values())
PAGE = Page(
    "Positional encoding",
    ":material/waves:",
    "How does the model know the order of the words?",
    "",
    render,
    said=_said,
    needs=("decoder", "text", "residuals"),
    checks=checks,
    is_in_scenes=True,
    needs_two=("scores", "pattern", "distances", "order"),
)
