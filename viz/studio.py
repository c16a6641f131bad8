"""The Streamlit script: the app's name and its pages."""

import streamlit as st

from viz.frame import ASSETS, layout, navigation
from viz.frame.page import Page
from viz.frame.rail import Destination, Track
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
from viz.pages.start import home

# The lessons lead to these.
LEARN: tuple[Page, ...] = (similarity, by_hand, root, masks, several_heads, positions, block)
INSPECT = (
    Destination((attention, encoder, translation, vision)),
    Destination((heads,)),
    Destination((next_token, beam), "Sampling"),
    Destination((tokens,)),
    Destination((lens,)),
)
EXPERIMENT: tuple[Page, ...] = (contributions, ablation, patching, explanation)
MORE: tuple[Page, ...] = (
    order,
    residual,
    kernels,
    recurrence,
    cheaper,
    cache,
    cost,
    scaling,
    diagram,
    notation,
)
TRACKS: tuple[Track[Destination], ...] = (
    Track("", (Destination((home,)),)),
    Track("Learn", icon="school"),
    Track("Inspect", INSPECT),
    Track("Experiment", tuple(Destination((page,)) for page in EXPERIMENT)),
    Track("More", tuple(Destination((page,)) for page in MORE), icon="more_horiz"),
)
PAGES: tuple[Page, ...] = (
    home,
    *(page for one in INSPECT for page in one.pages),
    *EXPERIMENT,
    *LEARN,
    *MORE,
)


def main() -> None:
    """Draw the chosen page."""
    icon, logo = ASSETS / "images" / "icon.svg", ASSETS / "images" / "logo.svg"
    st.set_page_config(page_icon=icon, layout="wide")
    st.logo(logo, size="large")
    layout.apply_colors()
    navigation.run(TRACKS, PAGES)


if __name__ == "__main__":
    main()
