"""Where instruments are put on the page, and where what they send comes back.

Data is built beside each instrument's JavaScript, in `viz.live.microscope.data` and its like.
"""

import math
from collections.abc import Callable
from typing import Any

import streamlit as st
from streamlit.components.v2 import component

from model.trace import Site
from model.verify.check import Check
from viz.live.core.wire import Data, Settings, palette_data
from viz.live.files import FIRST_MODULES, MODULES, component_style, script
from viz.live.microscope.data import ALLOWED_ERROR, MICROSCOPE
from viz.theme import DARK, LIGHT

_mount = component(
    "headlight_live",
    html='<div class="hl-live" data-drawn=""></div>',
    css=component_style(),
    js=script("loader.js"),
    isolate_styles=False,  # Plotly and accessibility tools need the page's own document
)
_preload = component("headlight_preload", js=script("preload.js"))


def show(
    data: Data,
    *,
    on_change: Callable[[Settings], None],
    on_lost: Callable[[], None] = lambda: None,
) -> None:
    """Show an instrument; `on_change` gets the settings a person changed there.

    It is called with no settings when the browser only reported something, such as its check.
    """
    key = data["instrument"]
    _mount(
        key=key,
        data={
            **data,
            "acked": sent(key).get("turn", 0),
            "themes": {"light": palette_data(LIGHT), "dark": palette_data(DARK)},
        },
        on_sent_change=lambda: on_change(sent(key)["changes"]),
        on_lost_change=on_lost,
        on_tick_change=lambda: None,  # to be run again is all a tick wants
    )


def preload() -> None:
    """Let the browser load the instruments while Python still computes; shows nothing."""
    with st.container(key="preload"):
        later = [name for name in MODULES if name not in FIRST_MODULES]
        _preload(key="preload-live", data={"first": FIRST_MODULES, "later": later})


def sent(key: str) -> dict[str, Any]:
    """The last message of an instrument: its turn, the changes, and what else it found out."""
    state = st.session_state.get(key)
    return dict((state and state.get("sent")) or {})


def browser_checks(key: str, site: Site, head: int) -> tuple[Check, ...]:
    """The check the browser made of a head, if it is the one it showed last."""
    checked = sent(MICROSCOPE).get("checked") or {}
    place = (checked.get("key"), checked.get("site"), checked.get("head"))
    if place != (key, site.address, head):
        return ()
    error = checked.get("error")
    kind = "cross-attention " if site.kind == "cross" else ""
    name = f"{kind}L{site.layer} H{head} recomputed in the browser = the trace"
    return (Check(name, math.nan if error is None else float(error), ALLOWED_ERROR),)
