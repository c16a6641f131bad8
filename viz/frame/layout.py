"""What a page is made of: headings, rows and columns, figures, and the style of it all."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import plotly.graph_objects as go
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from viz.charts.chart import Chart, Row
from viz.charts.figure import figure as figure_of
from viz.charts.figure import too_large
from viz.charts.sent import sent
from viz.charts.table import picked as picked_of
from viz.charts.words import words as words_of
from viz.frame import inspector, notices, state, words
from viz.frame.page import Page
from viz.frame.settings import IMAGE_FORMAT, SMALL_WEIGHTS
from viz.frame.view import View
from viz.kit.parts.figure import figure_part
from viz.live import component
from viz.theme import Palette, css_variables, palette

HEADING = "row-of-the-heading"
BESIDE = 470  # pixels
MOST_PLAYED = 1_000_000  # letters of all pictures before a figure; with more it stands still


def colors() -> Palette:
    """The colours of the browser's light or dark theme, with the law of weights that is chosen."""
    return palette(st.context.theme.type, small_weights=state.value(SMALL_WEIGHTS))


def apply_colors() -> None:
    """Give the page's style sheet the colours of the browser's light or dark theme."""
    st.html(f"<style>{css_variables(palette(st.context.theme.type))}</style>")


def heading(page: Page, view: View) -> None:
    """The page's name and, in one line, what is seen; more behind a "?". Our own words only."""
    line, more = page.said(view) if page.said else (page.line, page.more)
    row = st.container(horizontal=True, vertical_alignment="center", key="heading")
    with row:
        st.title(f"{page.icon} {page.headline or page.title}", anchor=False, width="content")
        st.markdown(line, help=more or None, width="content")
    st.session_state[HEADING] = row


def beside_heading() -> DeltaGenerator:
    """Where what a person chooses a view with stands: in the row of the page's name."""
    return st.session_state[HEADING]


def section(title: str, line: str, more: str = "") -> DeltaGenerator:
    """A part of a page: its name and, in one line, what is seen; more behind a "?". Our own words.

    Controls of the part may stand beside them: in the container that is given back.
    """
    notices.show()
    inspector.enter(title)
    key = "section-" + "-".join(re.findall(r"\w+", title.lower()))
    row = st.container(horizontal=True, vertical_alignment="center", key=key)
    with row:
        st.subheader(title, anchor=False, width="content")
        st.markdown(line, help=more or None, width="content")
    return row


def row(key: str) -> DeltaGenerator:
    """Controls side by side."""
    return st.container(horizontal=True, vertical_alignment="bottom", key=f"row-{key}")


def cells(key: str) -> DeltaGenerator:
    """Buttons side by side, whose widths the style sheet has before they are there."""
    return st.container(horizontal=True, width="content", key=f"cells-{key}")


def cell(key: str) -> DeltaGenerator:
    """The place of one button among `cells`; one that takes another's place lies upon it.

    Streamlit draws the new one before the old one goes: beside it, they would push the rest away.
    """
    return st.container(key=f"cell-{key}")


def slim_row(key: str) -> DeltaGenerator:
    """Controls side by side, each beside its label: as low as one of them."""
    return st.container(horizontal=True, vertical_alignment="center", key=f"slim-{key}")


def two_up(key: str, widths: tuple[int, int] = (1, 1)) -> Sequence[DeltaGenerator]:
    """Two columns that stand below each other where the page is narrow."""
    notices.show()
    with st.container(key=f"two-up-{key}"):
        return st.columns(widths)


def unsqueezed(key: str, *, to_end: bool = False) -> DeltaGenerator:
    """The place of a chart that scrolls on a phone, where its words would lie on each other.

    It begins at its right end where that is what it leads to.
    """
    return st.container(key=f"narrow-chart{'-end' * to_end}-{key}")


def show_figure(
    figure: go.Figure,
    *,
    key: str,
    alt: str,
    on_pick: Callable[[component.Place], None] | None = None,
    plays: Sequence[go.Figure] = (),
) -> None:
    """Draw a figure that is no chart, with a menu that saves it, and a text alternative.

    The same key is drawn again in its place. `on_pick` gets x and y of what a person clicks. Where
    it is opened `plays` are shown before it, one after the other.
    """
    pictures = [str(one.to_json()) for one in (*plays, figure)]
    _show(key, pictures, int(figure.layout["height"]), alt, on_pick)


def show_chart(
    chart: Chart | Row,
    *,
    key: str,
    on_pick: Callable[[int, int], None] | None = None,
    plays: Sequence[Chart | Row] = (),
) -> None:
    """Draw a chart, say it in words and offer its numbers; the same key is drawn in its place.

    `on_pick` gets row and column of what a person clicks. Of a chart that is too large the line is
    drawn that it has instead. Where it is opened `plays` are shown before it, one after the other.
    """
    if line := too_large(chart):
        words.notice(line)
        return

    def place(picked: component.Place) -> None:
        assert on_pick is not None and isinstance(chart, Chart)
        on_pick(*picked_of(chart, picked))

    drawn = [figure_of(one, colors()) for one in (*plays, chart)]
    on_place = place if on_pick else None
    height = drawn[-1]["layout"]["height"]
    _show(key, [sent(one) for one in drawn], height, words_of(chart), on_place)
    inspector.offer(key, chart)


def show_charts(charts: Mapping[str, Chart], **plays: Sequence[Chart]) -> None:
    """Draw two charts side by side, by their keys; maps leave room for words on the screen.

    `plays` are shown before the one of their key, as in `show_chart`.
    """
    columns = two_up(next(iter(charts)))
    for column, (key, chart) in zip(columns, charts.items(), strict=True):
        with column:
            chart = replace(chart, height=BESIDE) if chart.cells else chart
            show_chart(chart, key=key, plays=plays.get(key, ()))


def _show(
    key: str,
    pictures: Sequence[str],
    height: int,
    alt: str,
    on_pick: Callable[[component.Place], None] | None,
) -> None:
    notices.show()
    *plays, figure = pictures
    part = figure_part(
        figure,
        height,
        name=key,
        alt=alt,
        image_format=state.value(IMAGE_FORMAT),
        is_clickable=on_pick is not None,
        plays=plays if sum(map(len, plays)) <= MOST_PLAYED else (),
    )
    component.show_figure(f"figure-{key}", part, on_pick=on_pick)
