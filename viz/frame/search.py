"""What Search finds: pages, lessons, steps, terms, examples and trainings, each with a link."""

import tomllib
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from itertools import chain
from urllib.parse import parse_qsl, urlencode

from model.training.presets import presets, title
from viz.frame import ASSETS, state, tours
from viz.frame.examples import examples
from viz.frame.page import Page
from viz.frame.settings import PAGE, PRESENT
from viz.frame.tour_files import Tour
from viz.kit.wire import Data


def index(pages: Sequence[Page]) -> list[Data]:
    """All entries, as the browser filters them.

    A link is `page` and the `changes` it makes there, or a whole address.
    """
    lessons = _lessons(tours.of_learn(), state.value(PRESENT))
    return [*map(_page, pages), *_terms(), *lessons, *_examples(), *_trainings()]


def _entry(kind: str, title: str, line: str, **more: str) -> Data:
    return {"kind": kind, "title": title, "line": line, "also": "", "seen": "", **more}


def _page(page: Page) -> Data:
    """A page, which is also found by the terms that are seen on it."""
    terms = (f"{one['title']} {one['also']}" for one in _terms() if one["page"] == page.title)
    return _entry("page", page.title, page.line, seen=" ".join(terms), page=page.title)


@cache
def _examples() -> tuple[Data, ...]:
    """Sentences that a head shows something on."""
    return tuple(
        _entry(
            "example", one.title, one.sentence, address="?" + urlencode(
                {"page": "Attention", "model": one.model, "sentence": one.sentence,
                 "layer": one.layer, "head": one.head, "cell": one.cell}
            )
        )
        for one in examples()
    )  # fmt: skip


@cache
def _trainings() -> tuple[Data, ...]:
    """What Lab trains."""
    return tuple(
        _entry("training", name.replace("_", " "), title(path), page="Lab",
               changes=urlencode({"lab": "new", "lab_task": name}))
        for name, path in presets().items()
    )  # fmt: skip


@lru_cache(maxsize=2)
def _lessons(lessons: Sequence[Tour], is_large: bool) -> tuple[Data, ...]:
    return tuple(chain.from_iterable(_lesson(tour, is_large) for tour in lessons))


def _lesson(tour: Tour, is_large: bool) -> Iterator[Data]:
    numbers = range(1, len(tour.steps) + 1)
    to = {number: tours.address_of(tour, number, is_large=is_large) for number in numbers}
    yield _entry("lesson", tour.title, tour.about, address=to[1])
    for number, step in zip(numbers, tour.steps, strict=True):
        yield _entry("step", step.title, f"Lesson {tour.title}, step {number}", address=to[number])


@cache
def _terms() -> tuple[Data, ...]:
    text = (ASSETS / "terms.toml").read_text(encoding="utf-8")
    return tuple(_term(**term) for term in tomllib.loads(text)["term"])


def _term(name: str, also: str, means: str, link: str) -> Data:
    changes = dict(parse_qsl(link))
    page = changes.pop(PAGE.name)
    return _entry("term", name, means, also=also, page=page, changes=urlencode(changes))
