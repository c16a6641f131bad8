"""The Streamlit script: the app's name and its pages."""

import streamlit as st

from viz.frame import ASSETS, layout, navigation
from viz.frame.page import Page
from viz.frame.rail import Group
from viz.pages.architectures import diagram, encoder, translation, vision
from viz.pages.experiments import ablation, contributions, explanation, patching
from viz.pages.generate import beam, cache, next_token
from viz.pages.ideas import cost, masks, positions
from viz.pages.lessons import (
    block,
    by_hand,
    cheaper,
    kernels,
    notation,
    order,
    recurrence,
    residual,
    root,
    scaling,
    several_heads,
    similarity,
)
from viz.pages.look_inside import attention, heads, lens, tokens
from viz.pages.start import home, tours

GROUPS = (
    Group("Start", (home, tours)),
    Group("Look inside", (tokens, attention, heads, lens)),
    Group("Generate", (next_token, beam, cache)),
    Group("Experiments", (contributions, ablation, patching, explanation)),
    Group("Ideas", (positions, masks, cost)),
    Group(
        "Lessons",
        (
            similarity,
            kernels,
            by_hand,
            root,
            several_heads,
            block,
            residual,
            order,
            cheaper,
            recurrence,
            scaling,
            notation,
        ),
    ),
    Group("Architectures", (diagram, encoder, translation, vision)),
)
PAGES: tuple[Page, ...] = tuple(page for group in GROUPS for page in group.pages)


def main() -> None:
    """Draw the chosen page."""
    icon, logo = ASSETS / "images" / "icon.svg", ASSETS / "images" / "logo.svg"
    st.set_page_config(page_icon=icon, layout="wide")
    st.logo(logo, size="large")
    layout.apply_colors()
    navigation.run(GROUPS)


if __name__ == "__main__":
    main()
