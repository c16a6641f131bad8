"""What the browser found when it read the page's figures back, and the checks that makes.

It tells Python of failures alone: what holds is said in the browser, and runs no page again.
"""

import math
from collections.abc import Mapping

import streamlit as st

from model.verify.check import Check
from viz.live import component
from viz.live.chart.data import Origin, Place
from viz.live.core.wire import ALLOWED_ERROR, Data
from viz.runs import Run

TOKENS = "tokens"  # what the browser calls those above the page
DRAWN, FOUND = "figures-drawn", "figures-found-wrong"


def origin(run: Run, places: Mapping[tuple[int, str], str]) -> Origin:
    """Where the run's independent one has what a figure shows; empty where there is none.

    `places` are addresses by the number of a trace and its x, y or z.
    """
    if run.independent is None:
        return ()
    return [Place(trace, name, run.key, address) for (trace, name), address in places.items()]


def begin() -> None:
    """A page begins: no figure is drawn yet."""
    st.session_state[DRAWN] = {}


def drew(figure: Data) -> None:
    """A figure was drawn that the browser compares with an independent run."""
    st.session_state.setdefault(DRAWN, {})[figure["key"]] = figure["token"]


def show(run: Run) -> None:
    """Where the browser says how many values it has read back, of the page and the tokens above."""
    key = "" if run.independent is None else run.key
    st.session_state.setdefault(DRAWN, {})[TOKENS] = key
    component.show_screen(key, _take_over)


def checks() -> tuple[Check, ...]:
    """A failed check for each figure that is drawn and was found wrong as it is."""
    drawn = st.session_state.get(DRAWN, {})
    return tuple(
        Check(
            f"figure “{item['figure']}” on screen = an independent run, off at {item['address']}",
            math.nan if item["error"] is None else float(item["error"]),
            ALLOWED_ERROR,
        )
        for item in st.session_state.get(FOUND, [])
        if drawn.get(item["figure"]) == item["token"]
    )


def _take_over(failures: list[Data]) -> None:
    st.session_state[FOUND] = failures
