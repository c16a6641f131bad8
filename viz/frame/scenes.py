"""Pages in scenes: one figure at a time, with a tab for each, beside the words of a lesson."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from viz.frame import controls, inspector, layout, state, tours, words
from viz.frame.page import Page
from viz.frame.settings import PAGE, SCENE
from viz.frame.view import View

TOO_SHORT = "One token is too few for this: type a sentence of two or more."
CONTROLS = "controls-of-the-scene"
MOST_TURNS = 6  # pictures before the one that a figure shows


def show(page: Page, view: View, **at: str) -> None:
    """Draw the scene of a page that is chosen, and fill its numbers into its words.

    `at` are settings by which the links of its steps are told apart, such as the scheme; a scene
    without a step of its own has that of the same scene elsewhere on the page.
    """
    state.only_for((page.title, *at.values()), SCENE)
    first, link = next(iter(page.scenes)), {PAGE.name: page.title, **at}
    names = {x: (x, "") if x == first else (x,) for x in page.scenes}
    steps = {
        x: tours.step_of(link, named) or tours.step_of({PAGE.name: page.title}, named)
        for x, named in names.items()
    }
    titles = {name: at.step.title if at else name for name, at in steps.items()}
    name = controls.segments(SCENE.given(options=list(titles), default=first, words=titles.get))
    if name in page.wide:
        beside, place = st.container(key="scene-words"), st.container(key="scene-figure")
    else:
        beside, place = layout.two_up("scene", (2, 3))
    with beside:
        text, st.session_state[CONTROLS] = st.container(), layout.slim_row("scene")
    inspector.source(*page.source)
    inspector.export(view, {})
    with place:
        if name in page.needs_two and len(view.tokens) < 2:
            words.notice(TOO_SHORT)
            numbers = {}
        else:
            numbers = page.scenes[name](view)
    if told := tours.open_step_of(link, names[name]) or steps[name]:
        with text:
            tours.tell(told, numbers, list(names), name)


def to_set() -> DeltaGenerator:
    """Where what the scene has to set stands, below its words."""
    return st.session_state[CONTROLS]


def turns(n: int) -> list[int]:
    """Which of n pictures are played before the last: few, evenly spread, from the first on."""
    last = n - 1
    count = min(MOST_TURNS, last)
    return [i * last // count for i in range(count)]
