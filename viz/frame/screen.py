"""What the browser found when it read the page's figures back, and the checks that makes.

It tells Python of failures alone: what holds is said in the browser, and runs no page again.
"""

import math
from collections.abc import Mapping
from zlib import crc32

import streamlit as st

from model.verify.check import Check
from viz.frame import numbers
from viz.live import component
from viz.live.chart.data import TOKENS as ALONG_AXIS
from viz.live.chart.data import Origin, Place
from viz.live.core.wire import ALLOWED_ERROR, Data
from viz.runs import Compared, Run

# What the browser calls the tokens above the page, and the numbers in its lines and tables.
TOKENS, NUMBERS = "tokens", "numbers"
STALE = "earlier run"  # and what is left on the page of one
DRAWN, FOUND = "figures-drawn", "figures-found-wrong"


def origin(
    run: Compared,
    places: Mapping[tuple[int, str], str],
    size: float = 0.0,
    *,
    tokens: str = "",
    first_token: int = 0,
) -> Origin:
    """Where the run's independent one has what a figure shows; empty where there is none.

    `places` are addresses by the number of a trace and its x, y or z; see `Place`. Differences that
    may be nothing but rounding have the `size` of what they are differences of. `tokens` names the
    axes that its tokens stand along, as "xy", from the `first_token` on: those of the trace that is
    named first.
    """
    if run.independent is None:
        return ()
    first = next((trace for trace, _ in places), 0)
    along = f"{ALONG_AXIS}[{first_token}:]" if first_token else ALONG_AXIS
    return [
        *(Place(trace, name, run.key, address, size) for (trace, name), address in places.items()),
        *(Place(first, f"ticks.{axis}", run.key, along) for axis in tokens),
    ]


def begin() -> None:
    """A page begins: no figure is drawn yet, and no number printed."""
    st.session_state[DRAWN] = {}
    numbers.begin()


def drew(figure: Data) -> None:
    """A figure was drawn that the browser compares with an independent run."""
    st.session_state.setdefault(DRAWN, {})[figure["key"]] = figure["token"]


def show(run: Run) -> None:
    """Where the browser says how many values it has read back, of the page and the tokens above."""
    key = "" if run.independent is None else run.key
    printed = numbers.printed()
    token = f"{crc32(repr(printed).encode()):08x}" if printed else ""
    st.session_state.setdefault(DRAWN, {}).update({TOKENS: key, STALE: key, NUMBERS: token})
    component.show_screen(key, token, _take_over)


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
