"""A page of its own for instruments: each can be put on it, given new data, and taken off.

`streamlit run tests/viz/live/stage_app.py` opens it.
"""

import streamlit as st

from tests.viz.live.instruments import INSTRUMENTS, written
from viz.live import component
from viz.live.core.wire import Settings

NOTHING = "nothing"


def keep(changes: Settings) -> None:
    """Keep what was changed in the browser."""
    st.session_state.setdefault("kept", {}).update(changes)


def draw() -> None:
    """What is chosen, with the settings kept, and how often the script ran."""
    st.session_state["runs"] = st.session_state.get("runs", 0) + 1
    chosen = st.radio("On the page", [NOTHING, *INSTRUMENTS])
    st.button("Again")
    st.text(f"run {st.session_state['runs']}")
    if chosen == NOTHING:
        return
    if chosen == "writer":
        n = st.session_state["runs"]
        data = written(n, is_running=True)
    else:
        data = INSTRUMENTS[chosen]()
    data["settings"] |= st.session_state.get("kept", {})
    component.show(data, on_change=keep)
    st.text(f"kept {sorted(st.session_state.get('kept', {}).items())}")


draw()
