"""The browser's address: written after each run, and taken over when a person goes elsewhere."""

import secrets
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from viz.frame import state
from viz.live import component

WHOLE = "page"
WENT = "messages-of-where-a-person-went"
RUN = "key-of-the-run"
SESSION = "session-of-the-address"
ENTRIES = "entries-of-the-history"  # a count: of the runs of a busy session some are never seen


def write(page: str, part: str = WHOLE) -> None:
    """Have the browser's address say what the open page depends on.

    A fragment writes it for itself, as a part of its own: it cannot draw outside of itself.
    """
    address = state.address_of(page)
    turn = st.session_state["turn"] = st.session_state.get("turn", 0) + 1
    went = st.session_state.get(WENT, 0)
    entries = st.session_state[ENTRIES] = st.session_state.get(ENTRIES, 0) + state.steps(address)
    run = f"{page} {st.session_state.get(RUN, '')}" if part == WHOLE else ""
    data = {
        "session": st.session_state.setdefault(SESSION, secrets.token_hex(8)),
        "turn": turn,
        "query": urlencode(address),
        "entries": entries,
        "before": urlencode(state.visit().before),
        "went": went,
        "run": run,
        "is_whole": part == WHOLE,
    }
    with st.container(key="address-page" if part == WHOLE else "address-part"):
        component.keep_address(f"address-of-{part}", data, on_went=_go)


def _go(to: Mapping[str, Any]) -> None:
    if to.get("n") == st.session_state.get(WENT, 0):
        return  # said again before the answer came
    st.session_state[WENT] = to.get("n", 0)
    changes = to.get("changes") or ""
    state.go(to.get("page"), to.get("query"), changes=changes, is_new=bool(to.get("is_new")))
