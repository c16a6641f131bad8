"""Which page is open, and which pages apply to the chosen model.

Which page is open is a query parameter like all else in the URL. With a path for each page,
Streamlit's browser code would first look for its server below that path and log errors.
"""

from collections.abc import Mapping, Sequence
from functools import partial

import streamlit as st

from model.sources.offers import missing
from model.verify.check import Check
from viz import runs
from viz.frame import address, bar, inspector, links, presenting, rail, state, tours, words
from viz.frame.notices import guarded
from viz.frame.page import Page
from viz.frame.settings import PAGE
from viz.frame.view import View
from viz.runs.checking import figures_first

Lacking = dict[str, list[str]]  # the pages that do not apply to a model, each with the reasons
LACKING, DRAWN = "pages-that-do-not-apply", "page-and-model-that-were-drawn"


def run(groups: Sequence[rail.Group]) -> None:
    """Draw the chosen page of these groups; the first where the address names none."""
    by_title = {page.TITLE: page for group in groups for page in group.pages}
    title = state.value(PAGE.given(options=list(by_title), default=next(iter(by_title))))
    # The address is written last, and its place is always the same.
    first, beside = st.container(key="address-first"), rail.place()
    before: Lacking = st.session_state.get(LACKING, {})  # when the rail was last drawn
    rail.show(beside, groups, title, before)
    draw = guarded(partial(_draw, by_title, title))
    page = st.Page(draw, title=f"{title} · Headlight")
    st.navigation([page], position="hidden").run()
    lacking: Lacking = st.session_state.get(LACKING, {})
    if lacking != before:
        rail.show(beside, groups, title, lacking)
    with first:
        address.write(title)
        tours.bring_into_sight()


@runs.at_one_look()
def _draw(pages: Mapping[str, Page], title: str) -> None:
    page = pages[title]
    with figures_first():
        presenting.show()
        above = bar.place()
        with above, st.container(key="working"):
            working = st.empty()

        def meanwhile(model: str) -> None:
            """What stands there is of another page or model until the new one is drawn."""
            if st.session_state.get(DRAWN, (title, model)) != (title, model):
                working.html(words.working_out(f"Working out {title} of {model}…"))

        is_on_tour = tours.show(above, list(pages))  # its arrow keys want the keyboard
        takes_caret = getattr(page, "TAKES_CARET", False) and not is_on_tour
        architecture = getattr(page, "ARCHITECTURE", "")
        view = bar.open_view(
            above,
            architecture,
            meanwhile=meanwhile,
            only_ours=getattr(page, "ONLY_OURS", False),
            has_caret=takes_caret,
            has_heads=not getattr(page, "SHOWS_HEADS", False),
            fills_blanks=getattr(page, "FILLS_BLANKS", False),
        )
        st.session_state[address.RUN] = view.run.key
        if not architecture:  # else it has a model of its own, of which the others know nothing
            st.session_state[LACKING] = _lacking(pages, view)
        lacking: Lacking = st.session_state.get(LACKING, {})
        badge = bar.show_tokens(above, view, is_elsewhere=getattr(page, "SHOWS_TOKENS", False))
        if title in lacking:
            words.notice(f"{title} does not apply to {view.model}: {lacking[title][0]}.")
            if view.model != runs.FIRST_MODEL:
                query = links.to(view, title, model=runs.FIRST_MODEL)
                words.ways(
                    (
                        words.Way(
                            title,
                            f"Open it with {runs.FIRST_MODEL}, which has what it needs.",
                            query=query,
                        ),
                    )
                )
        failed = None if title in lacking else _figures(page, view)
        st.session_state[DRAWN] = title, view.handle.spelled
        working.empty()
    if title in lacking:
        bar.show_badge(badge, view, ())
        return
    inspector.show_parts()
    more = () if failed else _checks_of(page, view)
    inspector.finish(bar.show_badge(badge, view, more))
    if failed:  # the run stands, whatever the page could not show of it
        raise failed


def _figures(page: Page, view: View) -> Exception | None:
    """All that the page itself draws; what it could not draw is given back."""
    above_panel = st.container(key="page")
    inspector.place(above_panel, opens=getattr(page, "OPENS_INSPECTOR", True))
    try:
        with above_panel:
            page.render(view)
    except Exception as error:
        return error
    return None


def _lacking(pages: Mapping[str, Page], view: View) -> Lacking:
    """The pages that do not apply to this run, each with the reasons."""
    of_this = {title: page for title, page in pages.items() if not hasattr(page, "ARCHITECTURE")}
    reasons = {title: missing(page.NEEDS, view.offers) for title, page in of_this.items()}
    return {title: why for title, why in reasons.items() if why}


def _checks_of(page: Page, view: View) -> Sequence[Check]:
    """What a page adds to the checks of the run."""
    return getattr(page, "checks", lambda view: ())(view)
