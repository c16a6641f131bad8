"""What Search finds: pages, lessons and their steps, and terms, each with a link."""

import tomllib
from collections.abc import Iterator, Sequence
from functools import cache
from urllib.parse import parse_qsl, urlencode

from viz.frame import ASSETS, tours
from viz.frame.page import Page
from viz.frame.settings import PAGE
from viz.kit.wire import Data


def index(pages: Sequence[Page]) -> list[Data]:
    """All entries, as the browser filters them.

    A link is `page` and the `changes` it makes there, or a whole address.
    """
    return [*map(_page, pages), *_terms(), *_lessons()]


def _entry(kind: str, title: str, line: str, **more: str) -> Data:
    return {"kind": kind, "title": title, "line": line, "also": "", **more}


def _page(page: Page) -> Data:
    return _entry("page", page.title, page.line, page=page.title)


def _lessons() -> Iterator[Data]:
    for tour in tours.found():
        yield _entry("lesson", tour.title, tour.about, address=tours.link_to(tour, 1))
        for number, step in enumerate(tour.steps, 1):
            line = f"Lesson {tour.title}, step {number}"
            yield _entry("step", step.title, line, address=tours.link_to(tour, number))


@cache
def _terms() -> tuple[Data, ...]:
    text = (ASSETS / "terms.toml").read_text(encoding="utf-8")
    return tuple(_term(**term) for term in tomllib.loads(text)["term"])


def _term(name: str, also: str, means: str, link: str) -> Data:
    changes = dict(parse_qsl(link))
    page = changes.pop(PAGE.name)
    return _entry("term", name, means, also=also, page=page, changes=urlencode(changes))
