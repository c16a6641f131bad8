"""The Streamlit script: navigation over the pages."""

import streamlit as st

from viz import ui
from viz.pages import attention, cache, generate, lens, masks, positions, predict

PAGES = {page.TITLE: page for page in (attention, positions, masks, lens, predict, generate, cache)}


def main() -> None:
    """Draw the chosen page.

    Which page is open is a query parameter like all else in the URL. With a path for each page,
    Streamlit's browser code would first look for its server below that path and log errors.
    """
    icon, logo = ui.ASSETS / "images" / "icon.svg", ui.ASSETS / "images" / "logo.svg"
    st.set_page_config(page_title="Headlight", page_icon=icon, layout="wide")
    st.logo(logo, size="large")
    ui.style()
    title = ui.page_picker(list(PAGES))
    page = st.Page(ui.guarded(PAGES[title].render), title=f"{title} · Headlight")
    st.navigation([page], position="hidden").run()


main()
