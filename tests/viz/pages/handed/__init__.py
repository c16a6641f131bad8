"""What pages hand on, held against what is worked out beside them: a table for each room.

    TABLE = {
        at("Attention by hand", scene="model", layer="2", head="4"): lambda: {
            "root-as-it-is z": head(stories_trace(TOM), 2, 4),
            "root-not-divided z": ...,
        },
    }

An address, and by key what is to be read there: an array of a chart ("tile-output 1 y" is of its
second mark), words that stand among others ("formulas"; all kinds are in TEXTS), or one of what has
names ("fact: bytes"; in NAMED). What a lesson says is stored, see `stored`, its numbers to two
digits: where these are not enough to tell them apart, a row has its words.
`test_every_page` opens each address once.
"""

import html
import re
from collections.abc import Callable, Iterable, Mapping
from itertools import chain

import numpy as np
from streamlit.testing.v1 import AppTest

from model.trace import Trace
from tests.viz.apps import captions, chart, facts, inspected, lines, tables_shown, told
from tests.viz.builders import live_data, numbers

Address = tuple[str, tuple[tuple[str, str], ...]]  # a page, and its query
Read = Mapping[str, object]
Table = Mapping[Address, Callable[[], Read]]

TEXTS: dict[str, Callable[[AppTest], Iterable[str]]] = {
    "says": told,
    "hints": lambda app: lines(app, "hint"),
    "promises": lambda app: lines(app, "good"),
    "captions": captions,
    "checks": lambda app: captions(inspected(app, "check")),
    "formulas": lambda app: [x.value.replace(r"\allowbreak", "") for x in app.latex],
    "links": lambda app: map(html.unescape, re.findall('(?:href|data-with)="(.*?)"', _html(app))),
    "anywhere": lambda app: [html.unescape(re.sub("<[^>]*>", "", _html(app)))],
}
NAMED: dict[str, Callable[[AppTest], Mapping[str, object]]] = {
    "fact": facts,
    "column": lambda app: dict(chain(*(table.items() for table in tables_shown(app)))),
    "sent": live_data,
}
CLOSE = 1e-5  # of the largest number, and 1e-4 of each: other sums than those of the page


def at(page: str, /, **query: str) -> Address:
    """The address of a page; its sentence is TOM unless it has another."""
    return page, tuple(query.items())


def seen(values: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """As a map shows them: nothing where the mask is closed."""
    return np.where(mask, values, np.nan)


def head(trace: Trace, layer: int, number: int) -> np.ndarray:
    """The map of one head."""
    record = trace.attention[layer]
    return seen(record.pattern[number], record.mask_of(number))


def assert_handed_on(app: AppTest, expected: Read) -> None:
    """All that is expected is there."""
    for key, value in expected.items():
        shown = _read(app, key)
        if key in TEXTS:
            texts = [value] if isinstance(value, str) else value
            assert [text for text in texts if text not in shown] == [], (key, shown)
        elif isinstance(value, np.ndarray):
            atol = CLOSE * max(1.0, np.nanmax(np.abs(value), initial=0.0))
            np.testing.assert_allclose(shown, value, rtol=1e-4, atol=atol, err_msg=key)
        elif isinstance(value, dict):
            assert {name: shown[name] for name in value} == value, key
        else:
            assert shown == value, key


def _read(app: AppTest, key: str) -> object:
    if key in TEXTS:
        return "\n".join(TEXTS[key](app))
    kind, _, name = key.partition(": ")
    if name:
        return NAMED[kind](app)[name]
    of, *mark, path = key.split(" ")
    found = chart(app, of).data[int(mark[0]) if mark else 0]
    for part in path.split("."):  # as in marker.color
        found = found[part]
    return found if path in ("text", "customdata") else numbers(found)


def _html(app: AppTest) -> str:
    return "".join(element.proto.body for element in app.get("html"))


def text_of(app: AppTest) -> str:
    """All that stands on a page, what is behind its question marks too."""
    headings = [text for x in app.markdown for text in (x.value, x.proto.help)]
    texts = [text for kind in ("anywhere", "captions", "formulas") for text in TEXTS[kind](app)]
    return " ".join([*headings, *texts])


def in_words(case: tuple) -> str:
    """An address, and what belongs to it, for a list of tests."""
    (page, query), *rest = case
    return " ".join([page, *(f"{x}={y[:20]}" for x, y in query), str(rest[0])[:60]])
