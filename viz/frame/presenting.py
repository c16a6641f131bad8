"""Present: a page for a wall. Larger, and without rail, controls and inspector."""

import streamlit as st

from viz.frame import state
from viz.frame.settings import PRESENT
from viz.kit.files import script

LINK = (
    f'<a href="?{PRESENT.name}=yes" data-with="{PRESENT.name}=yes" data-fullscreen '
    'title="Larger, for a wall; Esc leaves">'
    '<span class="hl-icon" aria-hidden="true">present_to_all</span>Present</a>'
)


def show() -> None:
    """What turns the page into one for a wall, and leads back; nothing where nobody asked for it.

    The instruments look for it.
    """
    if state.value(PRESENT):
        st.html(
            f"<style>{script('live/presenting.css')}</style>"
            f'<nav class="hl-presenting" aria-label="Presenting"><a href="?" '
            f'data-with="{PRESENT.name}=" class="hl-step">Leave (Esc)</a>'
            "<span>← → other views</span></nav>"
        )
