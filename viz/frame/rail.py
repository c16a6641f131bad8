"""The rail: every view of the app by its group, as links that can be copied and opened apart."""

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from viz.frame.page import Page
from viz.frame.presenting import LINK
from viz.live import component


@dataclass(frozen=True)
class Group:
    """Views that belong together, under one title."""

    title: str
    pages: tuple[Page, ...]


def place() -> DeltaGenerator:
    """Where the rail stands: beside the page, a drawer on a phone."""
    with st.sidebar:
        where = st.empty()
        component.keep_folded()
    return where


def show(
    where: DeltaGenerator, groups: Sequence[Group], title: str, lacking: Mapping[str, Sequence[str]]
) -> None:
    """Draw the rail with one page open; pages that do not apply to this model say why."""
    inside = "".join(_group(group, title, lacking) for group in groups)
    where.html(f'<nav class="hl-rail" aria-label="Views">{inside}{LINK}</nav>')


def _group(group: Group, title: str, lacking: Mapping[str, Sequence[str]]) -> str:
    links = "".join(_link(page, title, lacking.get(page.TITLE, ())) for page in group.pages)
    name = html.escape(group.title)
    return f'<details open data-group="{name}"><summary><h2>{name}</h2></summary>{links}</details>'


def _link(page: Page, title: str, why: Sequence[str]) -> str:
    name = html.escape(page.TITLE)
    icon = page.ICON.removeprefix(":material/").removesuffix(":")
    current = ' aria-current="page"' if title == page.TITLE else ""
    reason = html.escape(" and ".join(why))
    lacks = f' class="hl-lacking" title="Not for this model: {reason}"' if why else ""
    return (
        f'<a href="?page={name}" data-page="{name}"{current}{lacks}>'
        f'<span class="hl-icon" aria-hidden="true">{icon}</span>{name}</a>'
    )
