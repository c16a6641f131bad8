"""A page of its own for instruments: each can be put on it, given new data, and taken off.

`streamlit run tests/viz/live/stage_app.py` opens it.
"""

import streamlit as st

from tests.viz.builders import stories_trace
from tests.viz.live.instruments import INSTRUMENTS, TEXT, written
from viz.kit.parts.heads import heads_part
from viz.kit.wire import Settings
from viz.live import component

NOTHING, PART = "nothing", "part"


def keep(changes: Settings) -> None:
    """Keep what was changed in the browser."""
    st.session_state.setdefault("kept", {}).update(changes)


def kept() -> Settings:
    """What was changed in the browser."""
    return st.session_state.get("kept", {})


def draw() -> None:
    """What is chosen, with the settings kept, and how often the script ran."""
    st.session_state["runs"] = st.session_state.get("runs", 0) + 1
    chosen = st.radio("On the page", [NOTHING, PART, *INSTRUMENTS])
    st.button("Again")
    st.text(f"run {st.session_state['runs']}")
    if chosen == NOTHING:
        return
    if chosen == PART:
        part = heads_part(stories_trace(TEXT))
        st.session_state["held"] = part  # as the app keeps what it shows
        component.show_part(PART, part, {**part.state, **kept()}, on_change=keep)
        return
    if chosen == "writer":
        n = st.session_state["runs"]
        data = written(n, is_running=True)
    else:
        data = INSTRUMENTS[chosen]()
    data["settings"] |= kept()
    component.show(data, on_change=keep)
    st.text(f"kept {sorted(kept().items())}")


draw()
