"""A measurement of time that a person asks for: the button, the bar while it runs, and Stop."""

from collections.abc import Callable

import streamlit as st

from viz.frame import memory, notices
from viz.runs.measuring import Measuring

TICK_SECONDS, PAUSE_SECONDS = 0.3, 0.2  # how long to measure before the bar moves, and not to
UNSTEADY = 1.5  # spread of the times from which a page warns


def measured_when_asked(
    key: str, made_with: object, begin: Callable[[], Measuring]
) -> Measuring | None:
    """The last measurement that was made with the same, once it is over; None before and meanwhile.

    Nothing is to be drawn meanwhile: a browser at work on the same machine would be timed too.
    """
    measuring: Measuring | None = memory.remembered(key, made_with)
    is_running = measuring is not None and measuring.is_running
    draw = notices.guarded(lambda: _measure_on(key, made_with, begin))
    st.fragment(draw, run_every=PAUSE_SECONDS if is_running else None)()
    return None if is_running else measuring


def _measure_on(key: str, made_with: object, begin: Callable[[], Measuring]) -> None:
    """The button, and while it runs the bar and the next times."""
    measuring: Measuring | None = memory.remembered(key, made_with)
    running = measuring if measuring is not None and measuring.is_running else None
    pressed = _button(measuring)
    if running is not None and pressed:
        running.is_running = False
    elif pressed:
        memory.remember(key, made_with, begin())
    elif running is not None:
        st.progress(running.progress, "Measuring …")
        running.advance(TICK_SECONDS)
    if pressed or (running is not None and not running.is_running):
        notices.run_again()  # the clock of the fragment starts or stops with the whole page


def _button(measuring: Measuring | None) -> bool:
    if measuring is not None and measuring.is_running:
        return st.button("Stop", icon=":material/stop:")
    label = "Measure on this machine" if measuring is None else "Measure again"
    return st.button(label, icon=":material/timer:", type="primary")
