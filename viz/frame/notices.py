"""Lines to the person about what was mended, collected while controls are drawn, said after them.

A page is also drawn again when the browser merely reports something. What was just said must not
vanish then, so it is kept until a person changes something.
"""

from collections.abc import Callable
from typing import Never

import streamlit as st

from viz.frame.words import notice

WAITING, SAID = "notices-waiting", "notices-said"


def begin() -> None:
    """A new page is drawn: nothing has been said on it yet."""
    st.session_state[SAID] = []


def add(text: str) -> None:
    """Keep a line until `show`, so that controls stay side by side in their row."""
    st.session_state.setdefault(WAITING, []).append(text)


def show() -> None:
    """Say, each once, the lines that wait."""
    for text in dict.fromkeys(st.session_state.pop(WAITING, [])):
        st.session_state.setdefault(SAID, []).append(text)
        notice(text)


def repeat() -> None:
    """Say again what this page said: it is drawn again though nobody asked for anything."""
    st.session_state.setdefault(WAITING, []).extend(st.session_state.get(SAID, []))


def run_again() -> Never:
    """Draw the whole page again though nobody asked for anything: what it said is said again."""
    repeat()
    st.rerun()


def guarded(draw: Callable[[], None]) -> Callable[[], None]:
    """Draw something that answers a person's mistake with one readable line."""

    def safely() -> None:
        try:
            draw()
        except ValueError as error:
            notice(str(error), kind="error")
        show()

    return safely
