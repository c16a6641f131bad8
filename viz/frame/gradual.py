"""Long work: begun, drawn as far as it has come, stopped and gone on with."""

from collections.abc import Callable
from typing import NamedTuple, TypeVar

import numpy as np
import streamlit as st

from model.analysis.exact import Filling
from model.work import Work
from viz import runs
from viz.digits import duration, or_none
from viz.frame import controls, memory, notices, state, words
from viz.frame.view import View

TICK_SECONDS, PAUSE_SECONDS = 0.25, 0.1  # how long to compute before the figures fill, and not to
# Cells × tokens × weights up to which exact values begin by themselves: some 20 seconds of a core.
MOST_UNASKED = 4e12
Kept = TypeVar("Kept")
Asked = TypeVar("Asked", bound=Work)


class Button(NamedTuple):
    """What begins a work: its label, at first and again, and its icon."""

    first: str
    again: str
    icon: str


def kept(key: str, made_with: object, begin: Callable[[], Kept]) -> Kept:
    """What was made with the same, begun where there is none."""
    value: Kept | None = memory.remembered(key, made_with)
    if value is None:
        value = begin()
        memory.remember(key, made_with, value)
    return value


def draw(
    work: Work,
    figures: Callable[[], object],
    said: Callable[[], str],
    key: str = "gradual",
    *,
    is_above: bool = False,
) -> None:
    """The figures, with a piece more each time, and how far it has come: below, or above them.

    A page that is opened, or clicked on, is drawn with what is there: nobody waits for a piece.
    """
    before: set[str] | None = None

    def both() -> None:
        if is_above:
            _bar(work, said(), key)
        figures()
        if not is_above:
            _bar(work, said(), key)

    def step() -> None:
        nonlocal before
        if before is not None:
            if state.unsettled() - before:
                notices.run_again()  # a click in a fragment runs the fragment alone
            work.advance(TICK_SECONDS)
        both()
        before = state.unsettled()
        if not work.is_running:
            notices.run_again()  # the clock of the fragment stops with the whole page

    if work.is_running:
        st.fragment(notices.guarded(step), run_every=PAUSE_SECONDS)()
        return
    with st.container():
        both()


def fill(filling: Filling, figures: Callable[[], object], key: str = "gradual") -> None:
    """The same of figures whose cells are estimated before they are exact."""
    draw(filling, figures, lambda: said_of(filling, filling.is_running), key)


def when_asked(
    key: str,
    made_with: object,
    begin: Callable[[], Asked],
    button: Button,
    said: Callable[[Asked], str],
    figures: Callable[[Asked], object] = lambda work: None,
) -> Asked | None:
    """The last work that was made with the same, once it is over; None before and meanwhile.

    A button begins it, each time from the start; `figures` are of what has come so far.
    """

    def begun() -> None:
        work = begin()
        work.advance(0)  # what cannot be done is said here
        memory.remember(key, made_with, work)

    if memory.pressed(key):
        notices.guarded(begun)()
    work: Asked | None = memory.remembered(key, made_with)
    if work is not None and work.is_running:
        draw(work, lambda: figures(work), lambda: said(work), key)
        return None
    if work is not None:
        figures(work)
    label = button.first if work is None else button.again
    controls.button(key, "begin", label, button.icon, primary=True)
    return work


def _bar(work: Work, said: str, key: str) -> None:
    """How far it has come; of work that is over and of which nothing is said, nothing."""
    if work.is_done and not said:
        return

    def run(goes_on: bool) -> None:
        work.is_running = goes_on

    with st.container(horizontal=True, vertical_alignment="center", key=f"how-far-{key}"):
        if work.is_running:
            st.progress(work.progress, said)
            st.button(
                "Stop", icon=":material/stop:", key=f"{key}-stop", on_click=run, args=(False,)
            )
            return
        words.how_far(said)
        if not work.is_done:
            icon = ":material/play_arrow:"
            st.button(
                "Compute", icon=icon, type="primary", key=f"{key}-go", on_click=run, args=(True,)
            )


def begins_unasked(view: View, n_cells: int) -> bool:
    """Whether so many runs of what is on screen are few enough to begin by themselves."""
    n_tokens = sum(len(stream) for stream in view.run.trace.streams)
    model = runs.runnable(view.handle).model
    return n_cells * n_tokens * sum(x.numel() for x in model.parameters()) <= MOST_UNASKED


def said_of(filling: Filling, is_running: bool, mark: str = "Dotted") -> str:
    """How far exact values have come, and once they are there how well they were estimated.

    mark: how estimates look.
    """
    n, left = len(filling.exact), filling.seconds_left
    if filling.is_done:
        rho = or_none(filling.correlation, 3)
        return f"All {n:,} are exact. Rank correlation ρ of estimate and exact: {rho}."
    first = f"{mark}: estimates by gradient"
    if np.isnan(filling.estimate).all():
        first = "Too long a text to estimate"
    exact = f"{first}; {filling.n_done:,} of {n:,} exact"
    if not is_running:
        return f"{exact}. A click computes one."
    if np.isnan(left):
        return f"{exact}."
    return f"{exact}, about {duration(left)} left."
