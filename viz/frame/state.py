"""Where the values of settings are: this visitor's session, and the address, which can be copied.

The session has the say; what the address says counts for settings the session has no value of
yet. The address in the session knows the settings of all pages; the browser's gets those of the
open page and the shared ones, in one piece: each change of it is a step of the Back button.
"""

from typing import TypeVar
from urllib.parse import quote

import streamlit as st

from viz.frame import notices
from viz.frame.kinds import Number, Setting
from viz.frame.settings import SETTINGS, modern

Value = TypeVar("Value")

LONGEST_IN_ADDRESS = 8_000  # servers and browsers refuse addresses much longer


def value(setting: Setting[Value]) -> Value:
    """The value of a setting that no widget of Streamlit holds, brought to a possible one."""
    settle(setting)
    return publish(setting)


def number(setting: Number) -> float:
    """The value of a number where one is always given; see `Number.none`."""
    chosen = value(setting)
    assert chosen is not None
    return chosen


def settle(setting: Setting) -> None:
    """Give a setting its value before its widget is drawn, and say what had to be mended.

    Streamlit's own binding to the URL drops impossible values without a word, and forgets the
    widgets of other pages.
    """
    name = setting.name
    if setting.follows:
        _follow(setting)
    is_set = name in st.session_state
    raw = st.session_state[name] if is_set else _address().get(name)
    chosen, line = (setting.default, None) if raw is None else setting.nearest(raw)
    if line:
        notices.add(line)
    if not is_set or chosen != raw:
        st.session_state[name] = chosen


def _follow(setting: Setting) -> None:
    """A value that is still the last default becomes the new one."""
    last = f"default-{setting.name}"
    if last in st.session_state and st.session_state.get(setting.name) == st.session_state[last]:
        st.session_state[setting.name] = setting.default
    st.session_state[last] = setting.default


def publish(setting: Setting[Value]) -> Value:
    """Write a settled value into the address, or take it out when it is the default."""
    chosen, address = st.session_state[setting.name], _address()
    text = setting.text(chosen)
    is_too_long = len(quote(text)) > LONGEST_IN_ADDRESS
    if chosen == setting.default or is_too_long:
        address.pop(setting.name, None)
    else:
        address[setting.name] = text
    if is_too_long:
        notices.add(f"{setting.label} is too long for the address: a copied link opens without it.")
    return chosen


def put(*values: tuple[Setting, object], chosen_for: object = None) -> None:
    """Set several settings at once, from a callback or before they are drawn.

    `chosen_for` is what they belong to, for settings that are `only_for` it.
    """
    for setting, raw in values:
        st.session_state[setting.name] = raw
        if chosen_for is not None:
            st.session_state[_owner(setting)] = chosen_for


def settle_quietly(setting: Setting) -> None:
    """Bring a value to a possible one without a line: nobody asked for another."""
    if setting.name in st.session_state:
        st.session_state[setting.name], _ = setting.nearest(st.session_state[setting.name])


def drop(setting: Setting) -> bool:
    """Bring a setting back to its default; True where it was anything else."""
    raw = st.session_state.get(setting.name, _address().get(setting.name))
    put((setting, setting.default))
    return raw not in (None, setting.default, setting.text(setting.default))


def only_for(owner: object, *settings: Setting) -> None:
    """Back to their defaults when they were chosen for another owner, such as a sentence."""
    for setting in settings:
        if st.session_state.setdefault(_owner(setting), owner) != owner:
            put((setting, setting.default), chosen_for=owner)


def _owner(setting: Setting) -> str:
    return f"owner-of-{setting.name}"


def take_over(changes: dict[str, object], prefix: str = "") -> None:
    """Keep what a person changed in the browser; whether it is possible is seen when it is used.

    `prefix` is what our names begin with and the browser's do not. Without changes the browser
    only reported something: what the page had to say is said again.
    """
    if not changes:
        notices.repeat()
    for name, raw in changes.items():
        if prefix + name in SETTINGS:
            st.session_state[prefix + name] = raw


# --- the address ------------------------------------------------------------------------------


def _address() -> dict[str, str]:
    """What the address of this visit says, of all pages, in today's names."""
    if "address" not in st.session_state:
        st.session_state["address"] = modern(st.query_params.to_dict())
    return st.session_state["address"]


def write_address(page: str) -> None:
    """Let the browser's address say what the open page depends on, and nothing of other pages.

    What is not ours, such as a parameter of whoever embeds the app, stays, after what is.
    """
    address = _address()
    ours = [name for name in SETTINGS if name in address and SETTINGS[name].is_in_address_of(page)]
    others = [name for name in address if name not in SETTINGS]
    wanted = {name: address[name] for name in (*ours, *others)}
    if wanted != st.query_params.to_dict():
        st.query_params.from_dict(wanted)
