"""Which page is open, and what stands around it.

Which page is open is a query parameter like all else in the URL. With a path for each page,
Streamlit's browser code would first look for its server below that path and log errors.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from urllib.parse import parse_qsl

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from viz import runs
from viz.frame import (
    address,
    bar,
    inspector,
    layout,
    models,
    opening,
    presenting,
    rail,
    scenes,
    search,
    second,
    state,
    tours,
)
from viz.frame.notices import guarded
from viz.frame.page import Page
from viz.frame.settings import PAGE, PRESENT, SCENE, SETTINGS
from viz.frame.view import View
from viz.frame.waiting import Waiting
from viz.runs.checking import figures_first

# Where addresses of before lead today, by title and scene; "" is the first scene and any other.
MOVED: Mapping[str, Mapping[str, str]] = {
    "Order": {
        "": "page=Positional encoding&scheme=compare&scene=order"
        "&sentence=The cat chased the dog. The&token=1&other_token=4"
    },
    "Positional encoding": {"open": "scene=order", "masked": "scene=order"},
    "Why the residual?": {"": "page=Transformer block&scene=gradients"},
    "Why √d?": {
        "": "page=Attention by hand&scene=variance",
        **{
            x: f"page=Attention by hand&scene={x}"
            for x in ("query", "largest", "gradient", "model")
        },
    },
    "Scaling": {"fit": "page=Scaling&scene=own"},
    "Multi-head attention": {"cuts": "page=Multi-head attention&scene=apart"},
}


@runs.at_one_look()
def run(tracks: Sequence[rail.Track[rail.Destination]], pages: Sequence[Page]) -> None:
    """Draw one of these pages, the first where the address names none, beside the rail.

    A track without entries has the lessons.
    """
    _follow_moved()
    by_title = {page.title: page for page in pages}
    title = state.value(PAGE.given(options=list(by_title), default=next(iter(by_title))))
    tours.know(pages)
    is_ready = models.await_chosen()
    # The address is written last, and its place is always the same.
    first = st.container(key="address-first")
    has_entry = any(one.has(title) for track in tracks for one in track.entries)
    lessons = tours.lessons(title, has_entry=has_entry)
    filled = [replace(track, entries=track.entries or lessons) for track in tracks]
    opened = "" if any(lesson.is_open for lesson in lessons) else title
    rail.show(filled, opened, search.index(pages))
    draw = guarded(partial(_draw, by_title[title], pages) if is_ready else _instead)
    page = st.Page(draw, title=f"{title} · Headlight")
    st.navigation([page], position="hidden").run()
    with first:
        address.write(title)
        tours.bring_into_sight(title)


def _follow_moved() -> None:
    """Open what the address of a page or a scene leads to that stands elsewhere today."""
    scenes = MOVED.get(str(state.asked(PAGE)), {})
    to = scenes.get(str(state.asked(SCENE) or ""), scenes.get("", ""))
    state.put(*((SETTINGS[name], raw) for name, raw in parse_qsl(to)))


def _draw(page: Page, pages: Sequence[Page]) -> None:
    title = page.title
    with figures_first():
        above, body = bar.place(), st.container(key="page")
        with above:
            presenting.show()
            opening.show()
            if not page.has_bar:
                st.html(bar.NONE)
        # Its arrow keys want the keyboard, and a presenter's.
        is_on_tour = tours.show(above, title, in_scenes=page.has_scenes)
        has_caret = page.takes_caret and not is_on_tour and not state.value(PRESENT)
        with body:
            waiting = Waiting(title)
        with waiting.until_drawn():
            with body:
                view = bar.open_view(above, page, meanwhile=waiting.begin, has_caret=has_caret)
            second.let_go(view)
            st.session_state[address.RUN] = view.run.key
            badge = bar.show_map(above, view, page, pages)
            failed = _figures(page, view, body)
    inspector.show_parts(title, view, is_of_run=page.has_bar)
    more = () if failed else page.checks(view)
    inspector.finish(bar.show_badge(badge, view, more))
    if failed:  # the run stands, whatever the page could not show of it
        raise failed


def _instead() -> None:
    """What stands there while the chosen model is being opened."""
    opening.show(models.stop_chosen, is_alone=True)


def _figures(page: Page, view: View, body: DeltaGenerator) -> Exception | None:
    """All that the page itself draws; what it could not draw is given back."""
    if not page.has_scenes:
        state.leave_out(SCENE)
    inspector.place(body, opens=page.opens_inspector)
    try:
        with body:
            layout.heading(page, view)
            if page.render:
                page.render(view)
            else:
                scenes.show(page, view)
    except Exception as error:
        return error
    return None
