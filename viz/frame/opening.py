"""A model that takes seconds to open: a strip says how far it is, and lets a person stop it.

The page goes on with the model it has. Where it has none, as when it is opened by an address, the
strip stands in its place.
"""

import html
import logging
import math
from collections.abc import Callable
from pathlib import Path

import streamlit as st

from model.files import MEGABYTE
from model.progress import STEPS, Stage
from model.sources import places
from viz.digits import duration
from viz.frame import notices
from viz.inside_streamlit import unbroken
from viz.runs.opening import Opening, begin

COMING = "opening-model"
PATIENCE = 0.2  # seconds that a page waits for a model before it says how far it is
TICK = 0.5  # seconds


def coming() -> Opening | None:
    """What this visitor waits for, or could not have."""
    return st.session_state.get(COMING)


def start(place: Path, device: str, *, keeps_copy: bool) -> Opening:
    """Open a model for this visitor, who waits for no other any longer; see `begin`."""
    new = begin(place, device, keeps_copy=keeps_copy)  # first: it may be the one left
    if (now := coming()) and now is not new:
        notices.add(f"{now.place.name} was not opened, but {place.name} in its place.")
    leave()
    st.session_state[COMING] = new
    return new


def stop() -> None:
    """Wait for nothing any longer, and say so: a person wanted that."""
    if now := coming():
        notices.add(f"{now.place.name} was not opened.")
    leave()


def leave() -> None:
    """Wait for nothing any longer."""
    if now := st.session_state.pop(COMING, None):
        now.leave()


def listed(now: Opening) -> str:
    """The name of a model once it is over, which is then in the list.

    ValueError for one that could not be opened, or be put into the list.
    """
    leave()
    if error := now.error:
        raise ValueError(said_of(error)) from None
    if now.n_of_copy:
        notices.add(
            f"So that {now.place.name} opens faster next time, a converted copy of "
            f"{size(now.n_of_copy)} is written into {places.copies()}. The badge removes it."
        )
    return places.remember(now.place)


def said_of(error: BaseException) -> str:
    """Why a model could not be opened; what is no mistake of a person goes to the log."""
    if isinstance(error, ValueError):
        return str(error)
    logging.getLogger(__name__).error("A model could not be opened", exc_info=error)
    return notices.FAULT


def show(on_stop: Callable[[], None] = stop, *, is_alone: bool = False) -> None:
    """The strip, while a model is being opened; in the place of the page where it is alone."""
    now = coming()
    if now is None:
        return
    if now.is_over:  # since the page was begun
        notices.run_again()

    def tick() -> None:
        if coming() is not now or now.is_over:
            notices.run_again()
        with st.container(key="opening-alone" if is_alone else "opening", horizontal=True):
            st.html(line(now))
            icon = ":material/stop:"
            st.button("Stop", icon=icon, key="opening-stop", on_click=unbroken(on_stop))

    st.fragment(notices.guarded(tick), run_every=TICK)()


def line(now: Opening) -> str:
    """What is being opened, and how far it is."""
    stage = now.stage
    name, words = html.escape(now.place.name), html.escape(stage.words)
    bar = f'<progress value="{stage.progress:.3f}" aria-label="Opening {name}"></progress>'
    return (
        f'<div class="hl-opening" data-busy><p><b translate="no">{name}</b> '
        f"{size(now.n_bytes)}</p>{bar}"
        f'<p>{stage.step + 1} of {len(STEPS)}: <span role="status">{words}</span></p>'
        f"<p>{html.escape(_more(stage))}</p></div>"
    )


def _more(stage: Stage) -> str:
    """The pieces of a step, and how long it takes yet, as far as both are known."""
    left = "" if math.isnan(stage.seconds_left) else f"about {duration(stage.seconds_left)} more"
    return ", ".join(x for x in (stage.pieces, left) if x)


def size(n_bytes: int) -> str:
    """How much that is."""
    return f"{n_bytes / MEGABYTE:,.0f} MB" if n_bytes >= MEGABYTE else "under 1 MB"
