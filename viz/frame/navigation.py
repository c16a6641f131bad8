"""Which page is open, and which pages apply to the chosen model.

Which page is open is a query parameter like all else in the URL. With a path for each page,
Streamlit's browser code would first look for its server below that path and log errors.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Protocol

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from model.verify.check import Check
from viz.frame import bar, controls, state, words
from viz.frame.notices import guarded
from viz.frame.offers import missing
from viz.frame.settings import PAGE
from viz.frame.view import View


class Page(Protocol):
    """A module of viz.pages. It may also have the functions `prepare` and `checks`.

    `prepare()` is called before the model runs, `checks(view)` gives what the page adds to the
    checks of the run. `NEEDS` are words of `offers.REASONS`.
    """

    render: Callable[[View], None]

    @property
    def TITLE(self) -> str:  # noqa: N802  a constant of the module
        """Its name, on its button and in the address."""
        ...

    @property
    def ICON(self) -> str:  # noqa: N802
        """The icon beside its heading."""
        ...

    @property
    def NEEDS(self) -> tuple[str, ...]:  # noqa: N802
        """What a model must offer for it."""
        ...


def run(pages: Sequence[Page]) -> None:
    """Draw the chosen one of these pages; the first where the address names none."""
    by_title = {page.TITLE: page for page in pages}
    title = state.value(PAGE.given(options=list(by_title), default=pages[0].TITLE))
    # The buttons stand above the bar but wait for the run, which says what pages apply to it.
    buttons = st.container(key="pages")
    draw = guarded(partial(_draw, by_title, title, buttons))
    page = st.Page(draw, title=f"{title} · Headlight")
    st.navigation([page], position="hidden").run()
    state.write_address(title)


def _draw(pages: Mapping[str, Page], title: str, buttons: DeltaGenerator) -> None:
    page = pages[title]
    getattr(page, "prepare", lambda: None)()
    try:
        view = bar.open_view()
    except ValueError:  # beside a model that cannot be used, all pages can be chosen
        _page_buttons(buttons, pages, title, {})
        raise
    lacking = _lacking(pages, view)
    _page_buttons(buttons, pages, title, lacking)
    if title in lacking:
        bar.show_status(view, ())
        words.notice(f"{title} does not apply to {view.model}: {_joined(lacking[title])}.")
        return
    bar.show_status(view, _checks_of(page, view))
    page.render(view)


def _lacking(pages: Mapping[str, Page], view: View) -> dict[str, list[str]]:
    """The pages that do not apply to this run, each with the reasons."""
    reasons = {title: missing(page.NEEDS, view.offers) for title, page in pages.items()}
    return {title: why for title, why in reasons.items() if why}


def _page_buttons(
    place: DeltaGenerator,
    pages: Mapping[str, Page],
    title: str,
    lacking: Mapping[str, Sequence[str]],
) -> None:
    """A button for each page that applies, and for the open one, which says itself if it does."""
    offered = [name for name in pages if name not in lacking or name == title]
    hidden = {name: why[0] for name, why in lacking.items() if name != title}
    with place:
        controls.segments(PAGE.given(options=offered, default=next(iter(pages))))
        if hidden:
            words.notice(f"Pages that do not apply to this model: {_by_reason(hidden)}.")


def _by_reason(reasons: Mapping[str, str]) -> str:
    """Names with the same reason together: Lens, Cache (it …); Predict (it …)."""
    groups: dict[str, list[str]] = {}
    for name, why in reasons.items():
        groups.setdefault(why, []).append(name)
    return "; ".join(f"{', '.join(names)} ({why})" for why, names in groups.items())


def _checks_of(page: Page, view: View) -> Sequence[Check]:
    """What a page adds to the checks of the run."""
    return getattr(page, "checks", lambda view: ())(view)


def _joined(reasons: Sequence[str]) -> str:
    return " and ".join(reasons)
