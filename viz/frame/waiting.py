"""The line that says what a page works on, at the place of the first figure that is not there."""

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from viz.frame import words
from viz.frame.shipped import called
from viz.runs.under_way import heard_by

DRAWN = "page-and-model-that-were-drawn"


class Waiting:
    """The line of one page while it is drawn.

    The style sheet has it below what is drawn by then, over what is of before, and in sight once it
    was there for a moment.
    """

    def __init__(self, title: str) -> None:
        with st.container(key="working"):
            self._place = st.empty()
        self._title, self._drawn = title, None
        self._usual, self._said, self._is_other = "", "", False

    def begin(self, model: str) -> None:
        """What is drawn from now on is of this model.

        Where that, or the page, is another one than before, all of it is on its way.
        """
        self._drawn = self._title, model
        self._is_other = st.session_state.get(DRAWN) != self._drawn
        self._usual = f"Working out {self._title} of {called(model)}" if self._is_other else ""
        self._say("")

    @contextmanager
    def until_drawn(self) -> Iterator[None]:
        """Say what is under way in here, and nothing more once all is drawn or has failed."""
        try:
            with heard_by(self._say):
                yield
            st.session_state[DRAWN] = self._drawn
        finally:
            self._usual = ""
            self._say("")

    def _say(self, what: str) -> None:
        what = what or self._usual
        if what == self._said:
            return
        self._said = what
        if what:
            self._place.html(words.working_out(f"{what}…", is_other=self._is_other))
        else:
            self._place.empty()
