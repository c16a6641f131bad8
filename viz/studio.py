"""The Streamlit script: the app's name and its pages."""

import streamlit as st

from viz.frame import ASSETS, layout, navigation
from viz.pages import attention, cache, generate, lens, masks, positions, predict

PAGES: tuple[navigation.Page, ...] = (attention, positions, masks, lens, predict, generate, cache)


def main() -> None:
    """Draw the chosen page."""
    icon, logo = ASSETS / "images" / "icon.svg", ASSETS / "images" / "logo.svg"
    st.set_page_config(page_title="Headlight", page_icon=icon, layout="wide")
    st.logo(logo, size="large")
    layout.apply_style()
    navigation.run(PAGES)


if __name__ == "__main__":
    main()
