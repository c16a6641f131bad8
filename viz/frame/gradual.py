"""Figures of a long computation: drawn as far as it has come, stopped and gone on with."""

from collections.abc import Callable
from typing import Protocol

import streamlit as st

from viz.frame import notices, words

TICK_SECONDS, PAUSE_SECONDS = 0.25, 0.1  # how long to compute before the figures fill, and not to


class Gradual(Protocol):
    """A computation that is done in pieces."""

    is_running: bool

    @property
    def is_done(self) -> bool:
        """Whether everything is there."""
        ...

    @property
    def progress(self) -> float:
        """How much of it is there, 0 to 1."""
        ...

    def advance(self, seconds: float) -> None:
        """Compute a piece, and further ones while there is time."""
        ...


def draw(
    work: Gradual, figures: Callable[[], object], doing: Callable[[], str], left: Callable[[], str]
) -> None:
    """The figures with a piece more each time; `doing` and `left` say how far they have come."""
    step = notices.guarded(lambda: _fill_in(work, figures, doing, left))
    st.fragment(step, run_every=PAUSE_SECONDS if work.is_running else None)()


def _fill_in(
    work: Gradual, figures: Callable[[], object], doing: Callable[[], str], left: Callable[[], str]
) -> None:
    if work.is_running:
        work.advance(TICK_SECONDS)
    figures()
    pressed = False
    if not work.is_done:
        with st.container(horizontal=True, vertical_alignment="center", key="gradual"):
            if work.is_running:
                st.progress(work.progress, doing())
            else:
                words.notice(left())
            pressed = _button(work.is_running)
    if pressed:
        work.is_running = not work.is_running
    if pressed or work.is_done:
        notices.run_again()  # the clock of the fragment starts or stops with the whole page


def _button(is_running: bool) -> bool:
    if is_running:
        return st.button("Stop", icon=":material/stop:", key="gradual-stop")
    return st.button("Compute", icon=":material/play_arrow:", type="primary", key="gradual-go")
