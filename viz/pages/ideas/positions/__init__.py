"""Positions: what each scheme does to a model that runs, one tab per scheme, and a comparison."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

import streamlit as st

from model.verify.check import Check
from viz import runs
from viz.frame import controls, inspector, layout, models, scenes, settings, state, words
from viz.frame.kinds import Choice
from viz.frame.page import Page
from viz.frame.view import View
from viz.inside_streamlit import unbroken
from viz.pages.ideas.positions import alibi, compare, learned, none, rope, sinusoidal
from viz.runs import positions
from viz.runs.kept import Asked
from viz.runs.positions import Family

COMPARISON = "compare"
NAMES = compare.NAMES | {COMPARISON: "Compare"}
TABS = {
    "sinusoidal": sinusoidal.TAB,
    "learned": learned.TAB,
    "rope": rope.TAB,
    "alibi": alibi.TAB,
    "none": none.TAB,
    COMPARISON: compare.TAB,
}


def checks(view: View) -> Sequence[Check]:
    """The properties of the scheme of the bar's model, where it is the one that is shown."""
    family = positions.family(view.handle.device)
    own = state.value(_scheme(view, family)) in (_own(view), COMPARISON) and _own(view)
    return positions.checks(view.handle, view.sentence) if own else ()


def render(view: View) -> None:
    """Draw the page."""
    family = positions.family(view.handle.device)
    scheme = _scheme(view, family)
    shown, fault = view, None
    try:
        shown = _shown(view, family, state.value(scheme))
    except ValueError as error:  # said below the tabs: another can be chosen
        fault = error
    with layout.beside_heading():
        tab = controls.segments(scheme)
        if shown is not view:
            _offer(shown)
    if fault:
        raise fault
    _draw(tab, shown)
    if shown is not view:
        inspector.checked(shown.model, shown.run.checking.result)
    elif tab != COMPARISON and view.handle not in family.values():
        words.notice(
            f"This is {view.called}, {view.config.n_layers} layers × {view.config.n_heads} heads. "
            f"The other tabs run {positions.sizes(family)}."
        )


def _draw(tab: str, shown: View) -> None:
    """The scenes of a scheme, or of the comparison where there is something to compare."""
    if tab == COMPARISON and not positions.family(shown.handle.device):
        words.notice("No checkpoints positions-* found: copy them to assets/checkpoints again.")
        return
    parts = TABS[tab]
    page = replace(PAGE, scenes=parts.scenes, wide=parts.wide, source=parts.source)
    scenes.show(page, shown, scheme=tab)


def _own(view: View) -> str | None:
    """The scheme of the bar's model; None where the weights behind it are not here to be shown."""
    return view.config.position if "weights" in view.offers else None


def _scheme(view: View, family: Family) -> Choice[str]:
    """The setting: schemes that have a model here, the one of the bar's model at first."""
    own = _own(view)
    offered = [tab for tab in TABS if tab in family or tab in (own, COMPARISON)]
    state.only_for(view.model, settings.SCHEME)  # another model is chosen to see its scheme
    return settings.SCHEME.given(
        options=offered, default=own or offered[0], words=NAMES.__getitem__
    )


def _shown(view: View, family: Family, tab: str) -> View:
    """What the tab shows: the bar's model, or the model of another scheme on the same sentence.

    It has the bar's layer and head, or the nearest there are.
    """
    if tab in (_own(view), COMPARISON):
        return view
    handle = family[tab]
    asked = Asked(partial(runs.run, handle, view.sentence))
    group = asked.answer.trace.group(view.attention)
    layer, head = min(view.layer, len(group.records) - 1), min(view.head, group.n_heads - 1)
    return replace(view, handle=handle, asked=asked, layer=layer, head=head)


def _said(view: View) -> tuple[str, str]:
    """What is seen, in one line; what is shown is of the family, whose names are ours."""
    family, line = positions.family(view.handle.device), PAGE.line
    with suppress(ValueError):  # said below the tabs
        shown = _shown(view, family, state.value(_scheme(view, family)))
        instead = "" if shown.head_name == view.head_name else f" (it has no {view.head_name})"
        if shown is not view:
            line = f"{shown.handle.name} runs here, {shown.head_name}{instead}."
    return line, ""


def _offer(shown: View) -> None:
    """To have the model of this page on all pages; of layer and head the nearest it has."""
    st.button(
        f"Use {shown.handle.name} everywhere",
        on_click=unbroken(lambda: models.switch(shown.handle.name)),
        type="tertiary",
        icon=":material/arrow_upward:",
        key="use-everywhere",
    )


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
)
