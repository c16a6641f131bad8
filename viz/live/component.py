"""Where instruments are put on the page, and where what they send comes back.

Data is built beside each instrument's JavaScript, in `viz.live.microscope.data` and its like.
"""

import math
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import streamlit as st
from streamlit.components.v2 import component

from model.trace import Site
from model.verify.check import Check
from viz.live.callbacks import unbroken
from viz.live.core.wire import ALLOWED_ERROR, Data, Settings, palette_data
from viz.live.files import component_style, script
from viz.live.home.data import HOME
from viz.live.microscope.data import MICROSCOPE
from viz.live.translation.data import TRANSLATION
from viz.theme import DARK, LIGHT

SCREEN = "screen"
MOST_NAMED = 120  # letters of an address that the browser names
# x and y of a click as the axes of the figure have them, or of the handle that was dragged there.
Place = dict[str, Any]

_mount = component(
    "headlight_live",
    html='<div class="hl-live" data-drawn=""></div>',
    css=component_style(),
    js=script("loader.js"),
    isolate_styles=False,  # Plotly and accessibility tools need the page's own document
)
_control = component(
    "headlight_control",
    html='<div class="hl-control"></div>',
    js=script("loader.js"),
    css=script("sentence_box/sentence_box.css") + script("pickers/pickers.css"),
    isolate_styles=False,
)
_chart = component(
    "headlight_chart",
    html='<div class="hl-figure"></div>',
    js=script("loader.js"),
    css=script("chart/chart.css"),
    isolate_styles=False,
)
_screen = component(
    "headlight_screen",
    html='<div class="hl-control hl-screen"></div>',
    js=script("loader.js"),
    isolate_styles=False,
)
_rail = component("headlight_rail", js=script("rail.js"), isolate_styles=False)
_tour = component("headlight_tour", js=script("tour.js"), isolate_styles=False)
_address = component("headlight_address", js=script("address.js"), isolate_styles=False)


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
        data=_in_conversation(key, data),
        on_sent_change=unbroken(lambda: on_change(sent(key)["changes"])),
        on_lost_change=unbroken(on_lost),
        on_tick_change=lambda: None,  # to be run again is all a tick wants
    )


def show_control(key: str, data: Data, *, on_change: Callable[[Settings], None]) -> None:
    """Show what a person types or chooses in; several stand beside any other instrument."""
    take_over = unbroken(lambda: on_change(sent(key)["changes"]))
    _control(key=key, data=_in_conversation(key, data), on_sent_change=take_over)


def _in_conversation(key: str, data: Data) -> Data:
    """What an instrument is sent, with the turn Python has taken over and both themes."""
    themes = {"light": palette_data(LIGHT), "dark": palette_data(DARK)}
    return {**data, "acked": sent(key).get("turn", 0), "themes": themes}


def show_chart(key: str, data: Data, *, on_pick: Callable[[Place], None] | None = None) -> None:
    """Show a figure, which takes its height from the start; `on_pick` gets where it was clicked."""

    def take_over() -> None:
        picked = st.session_state[key].picked
        if on_pick and picked:
            on_pick(dict(picked))

    _chart(key=key, data=data, height=data["height"], on_picked_change=unbroken(take_over))


def show_screen(run: str, numbers: str, on_found: Callable[[list[Data]], None]) -> None:
    """Show the verdict on what is on screen; `on_found` gets the figures that failed, if others.

    `run` is the key of the page's run, or empty where there is no independent one; `numbers` tells
    those in lines and tables from others, empty where there are none.
    """

    def take_over() -> None:
        on_found(list(st.session_state[SCREEN].found or []))

    data = {"instrument": SCREEN, "key": SCREEN, "run": run, "numbers": numbers}
    data |= {"allowed_error": ALLOWED_ERROR}
    _screen(key=SCREEN, data=data, on_found_change=unbroken(take_over))


def keep_folded() -> None:
    """Let the browser keep folded what a person folded in the rail; shows nothing."""
    _rail(key="rail")


def bring_into_sight(step: str, places: str) -> None:
    """Scroll to the first of some places, a selector, once for each step; shows nothing."""
    _tour(key="sight", data={"step": step, "places": places})


def keep_address(key: str, data: Data, *, on_went: Callable[[dict[str, Any]], None]) -> None:
    """Give the browser its address; `on_went` gets where a person went by a link or by Back.

    That is `page`, a view to open with all else as it is, or `query`, a whole address, or nothing
    where the page must only be drawn again.
    """

    def take_over() -> None:
        on_went(dict(st.session_state[key].went or {}))

    _address(key=key, data=data, on_went_change=unbroken(take_over))


def sent(key: str) -> dict[str, Any]:
    """The last message of an instrument: its turn, the changes, and what else it found out.

    A copy through and through: Streamlit compares what it keeps with what comes, and whoever took
    something out of it would be handed the same message again with every later one.
    """
    state = st.session_state.get(key)
    return deepcopy(dict((state and state.get("sent")) or {}))


def browser_checks(key: str, site: Site, head: int, is_independent: bool) -> tuple[Check, ...]:
    """The check the browser made of a head, if it is the one it showed last.

    `is_independent` says that it compared with an independent run where it could.
    """
    kind = "cross-attention " if site.kind == "cross" else ""
    how = "on screen = an independent run" if is_independent else "recomputed = the trace"
    name = f"{kind}L{site.layer} H{head} {how}"
    return _checked(MICROSCOPE, {"key": key, "site": site.address, "head": head}, name)


def home_checks(key: str, head_name: str, is_independent: bool) -> tuple[Check, ...]:
    """The check the browser made of what Home shows, if that is of this key."""
    how = "an independent run" if is_independent else "recomputed in the browser"
    name = f"{head_name} and next tokens on screen = {how}"
    return _checked(HOME, {"key": key}, name)


def translation_checks(key: str, name: str) -> tuple[Check, ...]:
    """The check the browser made of a translation, if that is of this key."""
    text = f"words, {name} and candidates on screen = an independent run"
    return _checked(TRANSLATION, {"key": key}, text)


def _checked(instrument: str, place: Place, name: str) -> tuple[Check, ...]:
    """What an instrument reported as `checked`, if it was of this place."""
    checked = sent(instrument).get("checked") or {}
    if any(checked.get(part) != value for part, value in place.items()):
        return ()
    error = checked.get("error")
    address = checked.get("address")
    where = f", off at {str(address)[:MOST_NAMED]}" if address else ""
    return (Check(name + where, math.nan if error is None else float(error), ALLOWED_ERROR),)
