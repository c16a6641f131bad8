"""The rail: where a person can go, in tracks, as links that can be copied and opened apart."""

import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import streamlit as st

from viz.frame import models, state
from viz.frame.page import Page
from viz.frame.presenting import LINK
from viz.frame.settings import SMALL_WEIGHTS
from viz.kit.wire import Data
from viz.live import component


@dataclass(frozen=True)
class Destination:
    """One entry of the rail: a page, or several of one subject, below it while one is open."""

    pages: tuple[Page, ...]
    title: str = ""  # where it is not called as its first page is

    def has(self, title: str) -> bool:
        """Whether this page is one of its own."""
        return any(title == page.title for page in self.pages)


@dataclass(frozen=True)
class Lesson:
    """An entry that leads to the first step of a lesson."""

    title: str
    address: str
    is_open: bool
    is_done: bool  # its last step is open


Entry = TypeVar("Entry", covariant=True)


@dataclass(frozen=True)
class Track(Generic[Entry]):
    """Destinations or lessons that belong together; one with an icon is one entry until opened."""

    title: str
    entries: tuple[Entry, ...] = ()
    icon: str = ""


FIND = (
    '<button type="button"><span class="hl-icon" aria-hidden="true">search</span>'
    "Search<kbd>Ctrl K</kbd></button>"
)


def show(
    tracks: Sequence[Track[Destination | Lesson]], title: str, entries: Sequence[Data] = ()
) -> None:
    """Draw the rail beside the page, a drawer on a phone, with one page or lesson open.

    `found` is what its search finds.
    """
    with st.sidebar:
        end = f"<section>{_switch()}{LINK}</section>"
        inside = "".join(_track(track, title) for track in tracks)
        st.html(f'<nav class="hl-rail" aria-label="Views">{FIND}{inside}{end}</nav>')
        component.keep_opened(entries)


def _switch() -> str:
    """The one switch for the colours of weights, the same on all pages."""
    to = f"{SMALL_WEIGHTS.name}={SMALL_WEIGHTS.text(not state.value(SMALL_WEIGHTS))}"
    on, icon = ("false", "off") if to.endswith("yes") else ("true", "on")
    return (
        f'<a href="?{to}" data-with="{to}" role="switch" aria-checked="{on}" '
        'title="Weights and probabilities are coloured by their square root">'
        f"{_mark(f'toggle_{icon}')}{SMALL_WEIGHTS.label}</a>"
    )


def _track(track: Track[Destination | Lesson], title: str) -> str:
    name = html.escape(track.title)
    links = "".join(_entry(one, n, title) for n, one in enumerate(track.entries, 1))
    if not track.icon:
        return f"<section>{f'<h2>{name}</h2>' if name else ''}{links}</section>"
    is_open = " open" if "aria-current" in links else ""
    summary = f"<summary>{_mark(track.icon)}{name}</summary>"
    return f'<details data-group="{name}"{is_open}>{summary}{links}</details>'


def _entry(entry: Destination | Lesson, number: int, title: str) -> str:
    if isinstance(entry, Destination):
        return _destination(entry, title)
    address, name = html.escape(entry.address), html.escape(entry.title)
    done = " data-done" if entry.is_done else ""
    return (
        f'<a href="{address}" data-lesson="{name}"{_current(entry.is_open)}{done}>'
        f'<span class="hl-number" aria-hidden="true">{number}</span>{name}'
        '<span class="hl-tick" title="Done" hidden>✓</span></a>'
    )


def _destination(entry: Destination, title: str) -> str:
    first, is_open = entry.pages[0], entry.has(title)
    name = entry.title or first.title
    mark = _mark(first.icon.removeprefix(":material/").removesuffix(":"))
    others = [page for page in entry.pages if name != page.title] if is_open else []
    # Where the chosen model does not suit the entry itself, another one shows all of its pages.
    why = models.why_not(first)
    below = [x for x in others if title == x.title or why or not models.why_not(x)]
    live = "".join(_live(page) for page in entry.pages)
    links = "".join(_link(x, x.title, _current(x.title == title)) for x in below)
    is_below = title in [x.title for x in below]
    current = ' aria-current="true"' if is_below else _current(is_open)
    inside = f'<div class="hl-below">{links}</div>' if below else ""
    return _link(first, f"{mark}{html.escape(name)}{live}", current) + inside


def _live(page: Page) -> str:
    """That something runs on a page, and on pointing what."""
    what = html.escape(page.under_way())
    return what and f'<small class="hl-under-way" title="{what}">running</small>'


def _link(page: Page, inside: str, current: str) -> str:
    """To a page; where another model than a person chose stands in it is marked, and says why."""
    to, why = html.escape(page.title), html.escape(models.why_not(page))
    marked = f' data-off title="{why}"' if why and models.is_ones_own() else ""
    return f'<a href="?page={to}" data-page="{to}"{current}{marked}>{inside}</a>'


def _current(is_current: bool) -> str:
    return ' aria-current="page"' if is_current else ""


def _mark(icon: str) -> str:
    return f'<span class="hl-icon" aria-hidden="true">{icon}</span>'
