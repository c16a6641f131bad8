"""Where parts of the kit are put on the page, and where what is chosen in them comes back."""

from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any

import streamlit as st
from streamlit.components.v2 import component

from viz.inside_streamlit import unbroken
from viz.kit.files import component_style, script
from viz.kit.part import Part
from viz.kit.wire import Data, Settings, themes_data
from viz.live import store

# x and y of a click as the axes of the figure have them, or of the handle that was dragged there.
Place = dict[str, Any]
DIFFERING = "differing-heads"  # of this visitor's browser
SMALL_WEIGHTS = "small_weights"  # a setting of viz.frame
TAKEN = "messages-taken-over"  # the last of each part

_mount = component(
    "headlight_live",
    html='<div class="hl-live" data-busy="" translate="yes"></div>',
    css=component_style(),
    js=script("live/loader.js"),
    isolate_styles=False,  # Plotly and accessibility tools need the page's own document
)
_control = component(
    "headlight_control",
    html='<div class="hl-control"></div>',
    js=script("live/loader.js"),
    css=script("kit/parts/sentence_box.css") + script("kit/parts/pickers.css"),
    isolate_styles=False,
)
_figure = component(
    "headlight_figure",
    html='<div class="hl-figure"></div>',
    js=script("live/loader.js"),
    css=script("kit/parts/figure.css"),
    isolate_styles=False,
)
_rail = component("headlight_rail", js=script("live/rail.js"), isolate_styles=False)
_tour = component("headlight_tour", js=script("live/tour.js"), isolate_styles=False)
_address = component("headlight_address", js=script("live/address.js"), isolate_styles=False)


def show(
    part: Part,
    *,
    key: str = "",
    chosen: Settings | None = None,
    on_change: Callable[[Settings], None],
    on_lost: Callable[[], None] = lambda: None,
) -> None:
    """Show a part; `on_change` gets what a person changed in it. Whoever shows it keeps its
    arrays, and what answers.

    `chosen` is what is chosen in it now, where that is not what the part was made with.
    """
    key = key or part.name

    def keep_differing() -> None:
        st.session_state[DIFFERING] = list(st.session_state[key].differing or [])

    _mount(
        key=key,
        data=_told(key, part, chosen),
        on_sent_change=_taking_over(key, on_change),
        on_lost_change=unbroken(on_lost),
        on_differing_change=unbroken(keep_differing),
    )


def show_small(
    key: str, part: Part, *, on_change: Callable[[Settings], None] = lambda _: None
) -> None:
    """Show a part that a person types or chooses in, beside any other part."""
    _control(
        key=key,
        data=_told(key, part, None),
        on_sent_change=_taking_over(key, on_change),
        on_lost_change=unbroken(lambda: None),
    )


def _taking_over(key: str, on_change: Callable[[Settings], None]) -> Callable[[], None]:
    """Hand on what a part sends, once.

    Of a part that is no longer drawn Streamlit forgets the message, and takes it for a new
    one where the browser, which still shows it, asks for one more run.
    """

    def take_over() -> None:
        if _taken().get(key) != sent(key):
            _taken()[key] = sent(key)
            on_change(sent(key)["changes"])

    return unbroken(take_over)


def _taken() -> dict[str, dict[str, Any]]:
    return st.session_state.setdefault(TAKEN, {})


def _told(key: str, part: Part, chosen: Settings | None) -> Data:
    """What a part is told, with the turn that Python has taken over; its arrays may be loaded."""
    store.share(part.by_id)  # again in each run of the page: the store may have lost them
    told = part.told if chosen is None else {**part.told, "settings": chosen}
    acked = _taken().get(key, {}).get("turn", 0)
    asks = part.answers and store.offer(part.answers)
    themes = themes_data(small_weights=st.session_state.get(SMALL_WEIGHTS, True))
    named = {"part": part.name, "key": key, "themes": themes}
    return {**told, **named, "asks": asks or False, "acked": acked}


def show_figure(key: str, part: Part, *, on_pick: Callable[[Place], None] | None = None) -> None:
    """Show a figure, which takes its height from the start; `on_pick` gets where it was clicked."""

    def take_over(changes: Settings) -> None:
        if on_pick:
            on_pick(changes["picked"])

    data, taking_over = _told(key, part, None), _taking_over(key, take_over)
    _figure(key=key, data=data, height=part.spec["height"], on_sent_change=taking_over)


def keep_opened(found: Sequence[Data]) -> None:
    """Let the browser keep open what a person opened in the rail, and search what can be found."""
    _rail(key="rail", data={"found": found})


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


def differing(run: str) -> list[tuple[str, int, float]]:
    """Heads of a run whose weights a browser computed otherwise: site, head, largest difference."""
    told = st.session_state.get(DIFFERING, [])
    return [(site, int(head), float(error)) for of, site, head, error in told if of == run]


def sent(key: str) -> dict[str, Any]:
    """The last message of a part: its turn, the changes, and what else it found out.

    A copy through and through: Streamlit compares what it keeps with what comes, and whoever took
    something out of it would be handed the same message again with every later one.
    """
    state = st.session_state.get(key)
    return deepcopy(dict((state and state.get("sent")) or {}))
