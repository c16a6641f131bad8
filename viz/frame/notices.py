"""Lines to the person about what was mended, collected while controls are drawn, said after them.

A page is also drawn again when the browser merely reports something. What was just said must not
vanish then, so it is kept until a person changes something.
"""

import logging
from collections.abc import Callable
from typing import Never

import streamlit as st

from viz.frame.words import notice

WAITING, SAID = "notices-waiting", "notices-said"
FAULT = (
    "This could not be drawn: a fault of Headlight’s own, which its server’s log describes. "
    "Reload the page, or go on with another sentence, model or page."
)


def begin() -> None:
    """A new page is drawn: nothing has been said on it yet."""
    st.session_state[SAID] = []


def add(text: str) -> None:
    """Keep a line until the next figure or section, so that controls stay side by side."""
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
    """Draw something that answers a person's mistake, or a fault of ours, with a readable line."""

    def safely() -> None:
        try:
            draw()
        except ValueError as error:
            notice(str(error), kind="error")
        except Exception as error:
            logging.getLogger(__name__).error("A page failed", exc_info=error)
            say_fault(error)
        show()

    return safely


def say_fault(_: Exception) -> bool:
    """Say in one line that our own code failed; True, that Streamlit need not say it in its way."""
    notice(FAULT, kind="error")
    return True
