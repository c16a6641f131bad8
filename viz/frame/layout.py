"""What a page is made of: headings, rows and columns, figures, and the style of it all."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import plotly.graph_objects as go
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from viz.frame import state
from viz.frame.settings import IMAGE_FORMAT
from viz.theme import css_variables, palette

STYLE = Path(__file__).with_name("page.css")


def apply_style() -> None:
    """Give the page our style sheet in the colours of the browser's light or dark theme."""
    colors = css_variables(palette(st.context.theme.type))
    st.html(f"<style>{colors}\n{_style_sheet()}</style>")


@cache
def _style_sheet() -> str:
    return STYLE.read_text(encoding="utf-8")


def heading(icon: str, title: str, text: str) -> None:
    """The page's name and, in a sentence or two, what is seen here. Our own words only."""
    st.title(f"{icon} {title}", anchor=False)
    st.markdown(text)


def section(title: str, text: str) -> None:
    """A part of a page: its name and, in a sentence or two, what is seen. Our own words only."""
    st.subheader(title, anchor=False)
    st.markdown(text)


def row(key: str) -> DeltaGenerator:
    """Controls side by side."""
    return st.container(horizontal=True, vertical_alignment="bottom", key=f"row-{key}")


def two_up(key: str, widths: tuple[int, int] = (1, 1)) -> Sequence[DeltaGenerator]:
    """Two columns that stand below each other where the page is narrow."""
    with st.container(key=f"two-up-{key}"):
        return st.columns(widths)


def show_figure(figure: go.Figure, *, key: str, alt: str) -> None:
    """Draw a figure with our colours, a menu that saves it, and a text alternative.

    plotly.js has a button that uploads a chart to a cloud, on unless it is told otherwise; nothing
    may leave this machine.
    """
    config = {
        "displaylogo": False,
        "showSendToCloud": False,
        "plotlyServerURL": "",
        "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d"],
        "toImageButtonOptions": {
            "format": state.value(IMAGE_FORMAT),
            "filename": f"headlight-{key}",
            "scale": 2,
        },
    }
    st.plotly_chart(figure, theme=None, key=f"figure-{key}", config=config, alt=alt)
