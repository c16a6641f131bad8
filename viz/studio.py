"""The Streamlit script: the app's name and its pages."""

import streamlit as st

from viz.frame import ASSETS, layout, navigation
from viz.frame.page import Page
from viz.frame.rail import Destination, Track
from viz.pages import lab
from viz.pages.architectures import diagram, encoder, translation, vision
from viz.pages.experiments import ablation, circuit, contributions, explanation, patching
from viz.pages.generate import beam, cache, next_token
from viz.pages.ideas import cost, masks, positions
from viz.pages.lessons import (
    block,
    by_hand,
    cheaper,
    kernels,
    notation,
    recurrence,
    scaling,
    several_heads,
    similarity,
)
from viz.pages.look_inside import attention, heads, lens, tokens
from viz.pages.start import home

# The lessons lead to these.
LEARN = tuple(
    module.PAGE for module in (similarity, by_hand, masks, several_heads, positions, block)
)
INSPECT = (
    Destination((attention.PAGE, encoder.PAGE, translation.PAGE, vision.PAGE)),
    Destination((heads.PAGE,)),
    Destination((next_token.PAGE, beam.PAGE), "Sampling"),
    Destination((tokens.PAGE,)),
    Destination((lens.PAGE,)),
)
EXPERIMENT = tuple(
    module.PAGE for module in (circuit, contributions, ablation, patching, explanation)
)
MORE = tuple(
    module.PAGE
    for module in (
        kernels,
        recurrence,
        cheaper,
        cache,
        cost,
        scaling,
        diagram,
        notation,
    )
)
TRACKS: tuple[Track[Destination], ...] = (
    Track("", (Destination((home.PAGE,)),)),
    Track("Learn", icon="school"),
    Track("Inspect", INSPECT),
    Track("Experiment", tuple(Destination((page,)) for page in EXPERIMENT)),
    Track("Train", (Destination((lab.PAGE,)),)),
    Track("More", tuple(Destination((page,)) for page in MORE), icon="more_horiz"),
)
PAGES: tuple[Page, ...] = (
    home.PAGE,
    *(page for one in INSPECT for page in one.pages),
    *EXPERIMENT,
    lab.PAGE,
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
