"""The open step of a lesson or another tour, shown above the page, and the way to each."""

import html
import math
import re
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import parse_qsl, urlencode

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from model.lines import quoted
from model.sources.places import once_a_look
from viz.digits import digits
from viz.frame import notices, state
from viz.frame.page import Numbers, Page
from viz.frame.rail import Lesson
from viz.frame.said import Piece, Said, html_of, pieces
from viz.frame.settings import PAGE, PRESENT, SCENE, STEP, TOUR
from viz.frame.tour_files import PLACES, Step, Tour, read_all
from viz.frame.words import notice
from viz.live import component

PAGES = "pages-and-their-scenes"
NOT_FINITE = digits(math.nan)
LEAVE = '<a href="?" data-with="tour=&amp;step=" class="hl-step" title="Leave the lesson">Leave</a>'
Known = Mapping[str, Said]  # numbers of a figure that are there
_NAMED = re.compile(r"\{([^{}]*)\}")  # a number of the figure in the words of a step
# Where the window is too small for sentences and place at once; the browser scrolls.
LOOK = '<button type="button" class="hl-look">See the place</button> '


class At(NamedTuple):
    """A step of a tour, by its number from 1 on."""

    tour: Tour
    number: int

    @property
    def step(self) -> Step:
        """The step itself."""
        return self.tour.steps[self.number - 1]


def of_learn() -> tuple[Tour, ...]:
    """The tours of Learn."""
    return tuple(tour for tour in _all()[0] if tour.is_listed)


@once_a_look
def _all() -> tuple[tuple[Tour, ...], list[str]]:
    return read_all(st.session_state[PAGES])


def know(pages: Sequence[Page]) -> None:
    """All pages there are, with whose titles and scenes links are compared."""
    st.session_state[PAGES] = tuple((page.title, tuple(page.scenes)) for page in pages)


def lessons(page: str, *, has_entry: bool) -> tuple[Lesson, ...]:
    """The tours as entries of the rail: open is that whose step is on this page.

    Without a step that which begins on this page is, where that `has_entry` of its own not.
    """
    opened, tours = _reading(page), of_learn()
    tour, number = opened or (None, 0)
    if not (_open_step() or has_entry):
        tour = _beginning_on(page, tours)
    return tuple(
        Lesson(
            one.title,
            link_to(one, 1),
            is_open=one is tour,
            is_done=one is tour and number == len(one.steps),
        )
        for one in tours
    )


def _beginning_on(page: str, tours: Sequence[Tour]) -> Tour | None:
    """The first that begins on a page, but rather one that has the scene which is open there."""
    own = [one for one in tours if _pages_of(one.steps[0])[0] == page]
    scene = state.asked(SCENE)
    open_ones = (x for x in own if any(_query(s.link).get(SCENE.name) == scene for s in x.steps))
    return next(open_ones if scene else iter(own), own[0] if own else None)


def show(where: DeltaGenerator, page: str, *, in_scenes: bool) -> bool:
    """The open step, with the place it is about framed, or from another page the way back to it.

    False where no step is on this page. A page that is in scenes says itself what it is about.
    """
    for line in _all()[1]:
        notices.add(line)
    opened, here = _open_step(), _reading(page)
    if not opened or (here and in_scenes):
        return bool(here)
    with where, st.container(key="tour"):
        if here:
            tell(here, {})
        else:
            to = link_to(*opened)
            on = _arrow(to, "next", f"Go on with the lesson: {opened.step.title} →")
            st.html(_card(opened.tour.title, opened.number, len(opened.tour.steps), f"{on}{LEAVE}"))
    return bool(here)


def tell(at: At, numbers: Numbers, scenes: Sequence[str] = (), scene: str = "") -> None:
    """What a step says, with numbers in the places of their names, and a frame around its place.

    It counts the steps of the lesson that is read, where none is the `scenes` of its page. What is
    said ends before the first number that the figure could not work out: None, or not finite.
    """
    named = _NAMED.findall(f"{at.step.text}{at.step.show}{at.step.notes}")
    if numbers and (unknown := [name for name in named if name not in numbers]):
        names = ", ".join(numbers)
        line = f"Lesson {at.tour.name}, step {at.number}: no number “{quoted(unknown[0])}” here; "
        notice(f"{line}there are {names}.")
    known = {name: said for name, said in numbers.items() if said is not None and _is_known(said)}
    st.html(_panel(at, known, scenes, scene) + _spotlight(at.step.look))


def _is_known(said: Said) -> bool:
    return not any(isinstance(x, str) and NOT_FINITE in x for x in pieces(said))


def bring_into_sight(page: str) -> None:
    """Scroll to what the open step is about; called once its page is drawn."""
    if opened := _reading(page):
        component.bring_into_sight(f"{opened.tour.name} {opened.number}", PLACES[opened.step.look])


def step_of(page: Mapping[str, str], scenes: Collection[str]) -> At | None:
    """The first step that leads to a scene of a page; a lesson of the page's own comes first.

    `page` is what links to the page say by the names of settings. The scene has several names where
    it is the first: a link without a scene leads there. None where no file has such a step.
    """
    own_first = sorted(_all()[0], key=lambda tour: tour.title != page[PAGE.name])
    return _first(own_first, page, scenes)


def open_step_of(page: Mapping[str, str], scenes: Collection[str]) -> At | None:
    """What the lesson that is read says of a scene: its open step, else the first that has it."""
    at = _reading(page[PAGE.name])
    if at is None:
        return None
    is_elsewhere = _pages_of(at.step)[0] != page[PAGE.name]
    link = at.step.show if is_elsewhere else at.step.link
    return at if _leads_to(link, page, scenes) else _first([at.tour], page, scenes)


def _first(tours: Sequence[Tour], page: Mapping[str, str], scenes: Collection[str]) -> At | None:
    steps = (At(tour, i + 1) for tour in tours for i in range(len(tour.steps)))
    return next((at for at in steps if _leads_to(at.step.link, page, scenes)), None)


def _leads_to(link: str, page: Mapping[str, str], scenes: Collection[str]) -> bool:
    query = _query(link)
    return query.items() >= page.items() and query.get(SCENE.name, "") in scenes


def _open_step() -> At | None:
    """The step that is open."""
    tours = {tour.name: tour for tour in _all()[0]}
    name = state.value(TOUR.given(options=["", *tours]))
    if not name:
        return None
    return At(tours[name], int(state.number(STEP.given(high=len(tours[name].steps)))))


def _reading(page: str) -> At | None:
    """The open step, where it or its answer is of this page."""
    opened = _open_step()
    return opened if opened and page in _pages_of(opened.step) else None


def link_to(tour: Tour, number: int) -> str:
    """The address of a step, from the question mark on, as large as this one is shown."""
    return address_of(tour, number, is_large=state.value(PRESENT))


def address_of(tour: Tour, number: int, link: str = "", *, is_large: bool) -> str:
    """The address of a step, or of another link that belongs to it; steps count from 1."""
    where = {TOUR.name: tour.name, STEP.name: number}
    larger = {PRESENT.name: PRESENT.text(True)} if is_large else {}
    return _address(link or tour.steps[number - 1].link, **where, **larger)


def _address(link: str, **more: object) -> str:
    """The address a link leads to, from the question mark on."""
    query = dict(parse_qsl(link.removeprefix("?"), keep_blank_values=True))
    return "?" + urlencode({**query, **more})


def _pages_of(step: Step) -> list[str]:
    """Where it leads, and where its answer is shown."""
    return [_query(link).get(PAGE.name, "") for link in (step.link, step.show)]


def _query(link: str) -> dict[str, str]:
    return dict(parse_qsl(link.removeprefix("?")))


def _panel(at: At, numbers: Known, scenes: Sequence[str], scene: str) -> str:
    step, page = at.step, _pages_of(at.step)[0]
    read = _reading(page)
    if read and read.tour is at.tour:
        read = at
    question = f"<p><b>{html.escape(step.question)}</b>" if step.question else ""
    if step.question and (show := _filled(step.show, numbers)):
        to = address_of(*read, show, is_large=state.value(PRESENT)) if read else _address(show)
        # What a figure worked out holds of its model and sentence: they stay.
        stays = f' data-with="{html.escape(to[1:])}"' if numbers or not read else ""
        question += f' <a href="{html.escape(to)}"{stays}>Show me</a>'
    question += "</p>" if step.question else ""
    notes = (
        f"<details><summary>Notes for the presenter</summary>{html_of(_told(step.notes, numbers))}"
        "</details>"
        if step.notes
        else ""
    )
    look = "" if step.look == "page" else LOOK
    body = f"<p>{html_of(_told(step.text, numbers))}</p>{look}{question}{notes}"
    head = f"<h2>{html.escape(step.title)}</h2>"
    if read:
        tour, number = read
        last = len(tour.steps)
        back = _arrow(link_to(tour, number - 1), "back", "← Back") if number > 1 else ""
        on = _arrow(link_to(tour, number + 1), "next", "Next →") if number < last else _next(tour)
        return _card(tour.title, number, last, f"{head}{back}{on}{LEAVE}", body)
    number = scenes.index(scene) + 1
    back = _to_scene(scenes[number - 2], "back", "← Back") if number > 1 else ""
    on = _to_scene(scenes[number], "next", "Next →") if number < len(scenes) else ""
    return _card(page, number, len(scenes), f"{head}{back}{on}", body)


def _told(text: str, numbers: Known) -> list[Piece]:
    """A text with what `{name}` stands for in it, up to a sentence that has another name."""
    told: list[Piece] = []
    for sentence in re.split(r"(?<=[.?!] )(?=[A-Z“{])", text):
        parts = _NAMED.split(sentence)
        if not numbers.keys() >= {*parts[1::2]}:
            break
        for i, part in enumerate(parts):
            told += pieces(numbers[part]) if i % 2 else [part]
    return told


def _filled(link: str, numbers: Known) -> str:
    """A link with numbers in it."""
    return "".join(map(str, _told(link, numbers)))


def _card(title: str, number: int, last: int, head: str, body: str = "") -> str:
    title = html.escape(title)
    return (
        f'<section class="hl-tour" translate="yes" aria-label="Lesson: {title}">'
        f'<header><progress max="{last}" value="{number}"></progress>'
        f"<small>{title} · {number} of {last}</small>{head}</header>{body}</section>"
    )


def _next(tour: Tour) -> str:
    """A link to the lesson after this one; nothing after the last."""
    tours = of_learn()
    after = tours[tours.index(tour) + 1 :] if tour in tours else ()
    return _arrow(link_to(after[0], 1), "next", f"Next: {after[0].title} →") if after else ""


def _to_scene(scene: str, way: str, words: str) -> str:
    """A link to another scene of the page, all else as it is."""
    change = urlencode({SCENE.name: scene})
    return _arrow(f"?{change}", way, words, f' data-with="{change}"')


def _arrow(link: str, way: str, words: str, more: str = "") -> str:
    href = html.escape(link)
    return f'<a href="{href}" data-step="{way}"{more} class="hl-step">{html.escape(words)}</a>'


def _spotlight(look: str) -> str:
    """A frame around the place a step is about."""
    if look == "page":
        return ""
    frame = "outline: 3px solid var(--page-accent); outline-offset: 1px; border-radius: 0.4rem;"
    return f"<style>:is({PLACES[look]}) {{ {frame} }}</style>"
