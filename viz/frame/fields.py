"""Controls for the fields of a recipe; what a person set otherwise stands in one setting."""

import json
from collections.abc import Mapping
from typing import Any

import streamlit as st

from model.lines import one_line
from model.training.recipe import Entry
from viz.frame import state
from viz.frame.kinds import Text
from viz.inside_streamlit import unbroken

LARGEST = 2**53 - 1  # of a number that a browser holds exactly


def field(setting: Text, entry: Entry, usual: Mapping[str, Any]) -> None:
    """A control for one field, which is set to what it is.

    A change goes into the setting as KEY=VALUE, a line each; what is as `usual` again leaves it.
    """
    key = f"{setting.name}-{entry.key}"
    st.session_state[key] = entry.value
    about: dict[str, Any] = {
        "key": key,
        "on_change": unbroken(_take_over),
        "args": (setting, entry.key, usual.get(entry.key)),
        "help": entry.about or None,
    }
    if not can_be_set(entry):
        st.session_state[key] = str(entry.value)
        st.text_input(entry.key, key=key, disabled=True)
    elif entry.among:
        st.selectbox(entry.key, entry.among, **about)
    elif isinstance(entry.value, bool):
        st.toggle(entry.key, **about)
    elif isinstance(entry.value, str):
        st.text_input(entry.key, **about)
    elif isinstance(entry.value, float):
        st.number_input(entry.key, format="%g", **about)
    else:
        st.number_input(entry.key, step=1, placeholder="as usual", **about)


def can_be_set(entry: Entry) -> bool:
    """Whether a control can hold the value, which an address may have set to anything."""
    value = entry.value
    if entry.among or isinstance(value, str):
        return isinstance(value, str) and (not entry.among or value in entry.among)
    return value is None or (isinstance(value, int | float) and abs(value) <= LARGEST)


def _take_over(setting: Text, name: str, usual: object) -> None:
    put(setting, name, st.session_state[f"{setting.name}-{name}"], usual)


def put(setting: Text, name: str, value: object, usual: object) -> None:
    """Set one field to a value from the next run on; what is as `usual` leaves the setting."""
    changes = dict(line.split("=", 1) for line in state.value(setting).splitlines() if "=" in line)
    changes.pop(name, None)
    if value not in (usual, None):
        changes[name] = one_line(json.dumps(value, ensure_ascii=False))
    state.put((setting, "\n".join(f"{name}={value}" for name, value in changes.items())))
