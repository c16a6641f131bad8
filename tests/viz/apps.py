"""Pages as a visitor gets them, and what is read back from them."""

import html
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import numpy as np
import pytest
import streamlit as st
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Button

from model.work import Work
from tests.model.builders import GROUPED
from tests.viz.builders import numbers
from viz.frame import gradual, notices, state
from viz.live import store

# At each run AppTest asks every installed package for components, which takes longer than a page.
manifest_scanner.scan_component_manifests = cache(manifest_scanner.scan_component_manifests)

HOSTILE = "<b>\"quoted\"</b> $x$ \\ 'it' 😀"
TOM = "Tom had a red ball. Tom gave Sam the red ball."
VARIANTS = {
    "rope": {"position": "rope", **GROUPED},
    "alibi": {"position": "alibi"},
    "learned": {"position": "learned", "norm": "rms", "feedforward": "swiglu"},
    "none": {"position": "none", "norm_placement": "post"},
    "window": {"mask": "sliding_window", "window": 3},
    "prefix": {"mask": "prefix", "prefix_len": 4},
    "one-head": {"n_layers": 1, "n_heads": 1},
}
STUDIO = Path(__file__).parents[2] / "viz" / "studio.py"


@dataclass(frozen=True)
class Chart:
    """A chart as the browser gets it."""

    data: list[dict]
    layout: dict
    alt: str


def open_page(page: str, /, **query: str) -> AppTest:
    """The app as a visitor with this query gets it; it must not fail."""
    app = AppTest.from_file(str(STUDIO), default_timeout=600)
    for name, value in {"page": page, **query}.items():
        app.query_params[name] = value
    app.run()
    assert not app.exception
    return app


def chosen(app: AppTest, **settings: object) -> AppTest:
    """The page after a person typed or chose something in an instrument, such as the bar's."""
    for name, value in settings.items():
        app.session_state[name] = value
    return app.run()


def faultless(app: AppTest) -> AppTest:
    """The page, which must have no error; every check passes."""
    assert lines(app, "error") == []
    assert {row["verdict"] for row in checks_shown(app)[0]} == {"passed"}
    return app


def checks_shown(app: AppTest) -> list[list[dict[str, str]]]:
    """Every table of checks, row by row; the first is the badge's."""
    bodies = [e.proto.body for e in app.get("html") if 'class="hl-checks"' in e.proto.body]
    return [_rows(body) for body in bodies]


def tables_shown(app: AppTest) -> list[dict[str, dict[str, str]]]:
    """Tables of numbers of a run: for each column its cells, by the name of their row."""
    bodies = [e.proto.body for e in app.get("html") if 'class="hl-table"' in e.proto.body]
    found = []
    for rows in map(_rows, bodies):
        first = next(iter(rows[0]))
        found.append({name: {row[first]: row[name] for row in rows} for name in rows[0]})
    return found


def facts(app: AppTest) -> dict[str, str]:
    """Numbers that stand side by side, by what they count."""
    bodies = [e.proto.body for e in app.get("html") if 'class="hl-facts"' in e.proto.body]
    pairs = re.findall("<dt>(.*?)</dt><dd>(.*?)</dd>", "".join(bodies))
    return {html.unescape(name): html.unescape(re.sub("<[^>]*>", "", x)) for name, x in pairs}


def _rows(table: str) -> list[dict[str, str]]:
    names = re.findall(r"<th(?:\s[^>]*)?>(.*?)</th>", table)
    cells = [re.findall("<td[^>]*>(.*?)</td>", row) for row in re.findall("<tr.*?</tr>", table)[1:]]
    return [
        {
            html.unescape(re.sub("<[^>]*>", "", name)): html.unescape(re.sub("<[^>]*>", "", cell))
            for name, cell in zip(names, row, strict=True)
        }
        for row in cells
    ]


def lesson(app: AppTest) -> str:
    """What the lesson says of the figure beside it."""
    (text,) = told(app)
    return text


def told(app: AppTest) -> list[str]:
    """What lessons say on a page, without their titles."""
    bodies = [e.proto.body for e in app.get("html") if '"hl-tour"' in e.proto.body]
    return [html.unescape(re.sub("<[^>]*>", "", x.partition("</header>")[2])) for x in bodies]


def inspected(app: AppTest, part: str) -> AppTest:
    """The page with another part of its inspector open: formula, source, check or export."""
    return chosen(app, inspect=part)


def captions(app: AppTest) -> list[str]:
    """Every quiet line."""
    return [*(caption.value for caption in app.caption), *lines(app, "aside")]


def pickers_of(app: AppTest, name: str) -> list[dict]:
    """The lists of that name in the bar: one or none."""
    return [
        picker
        for element in app.get("bidi_component")
        if element.proto.component_name == "headlight_control"
        for picker in json.loads(element.proto.json)["spec"].get("pickers", [])
        if picker["name"] == name
    ]


def box_of(app: AppTest) -> dict[str, Any]:
    """What the sentence box is sent."""
    sent = (json.loads(x.proto.json) for x in app.get("bidi_component") if x.proto.json)
    return next(one for one in sent if one.get("part") == "sentence_box")


def offered_of(app: AppTest, name: str) -> list[str]:
    """The options of a list in the bar, as on screen; none where there is no such list."""
    return [option["text"] for x in pickers_of(app, name) for option in x["options"]]


def picked(app: AppTest, name: str) -> str:
    """What a list in the bar shows as chosen."""
    sent = [json.loads(x.proto.json) for x in app.get("bidi_component") if x.proto.json]
    return next(one["settings"][name] for one in sent if name in one.get("settings", {}))


def chart(app: AppTest, key: str) -> Chart:
    """The chart drawn under a key."""
    (sent,) = (sent for sent in charts(app) if sent["key"] == key)
    figure = json.loads(sent["figure"])
    return Chart(figure["data"], figure["layout"], sent["alt"])


def charts(app: AppTest) -> list[dict]:
    """What the browser is sent of each chart."""
    sent = [
        json.loads(element.proto.json)
        for element in app.get("bidi_component")
        if element.proto.component_name == "headlight_figure"
    ]
    return [told["spec"] | {"key": told["key"].removeprefix("figure-")} for told in sent]


def lines(app: AppTest, kind: str) -> list[str]:
    """The text of all notes, or of all errors, as a person reads them."""
    bodies = [element.proto.body for element in app.get("html")]
    marked = [body for body in bodies if f'class="hl-{kind}"' in body]
    return [html.unescape(re.sub(r"<[^>]*>", "", body)) for body in marked]


def the_map(app: AppTest) -> dict:
    """What the browser is sent of the map above the page, and the probabilities of its tokens."""
    sent = [
        json.loads(element.proto.json)
        for element in app.get("bidi_component")
        if element.proto.component_name == "headlight_control"
    ]
    (told,) = (data for data in sent if data.get("part") == "strip")
    return told["spec"] | {"given": store.array(told["arrays"]["given"]["id"])}


def strip(app: AppTest) -> list[tuple[str, float]]:
    """Label and probability of each token in the map; NaN for the first."""
    found = the_map(app)
    return list(zip(found["tokens"][0]["labels"], found["given"].tolist(), strict=True))


def z(trace: dict) -> np.ndarray:
    """The values of a heat map."""
    return numbers(trace["z"])


def control(app: AppTest, key: str) -> object:
    """What a control is set to."""
    return app.session_state[key]


def address_of(app: AppTest) -> dict[str, str]:
    """What the page has the browser's address say."""
    written = [
        json.loads(element.proto.json)
        for element in app.get("bidi_component")
        if element.proto.component_name == "headlight_address"
    ]
    query = max(written, key=lambda data: data["turn"])["query"]
    return dict(parse_qsl(query, keep_blank_values=True))


def go(app: AppTest, page: str) -> None:
    """Open another page, as a link of the rail does."""
    app.session_state["page"] = page
    app.run()
    assert not app.exception


def query_of(app: AppTest) -> dict[str, list[str]]:
    """What the URL says."""
    return {name: [value] for name, value in address_of(app).items()}


def button(app: AppTest, label: str) -> Button:
    """The one button of this label."""
    (found,) = (button for button in app.button if button.label == label)
    return found


def tell(
    app: AppTest,
    changes: dict[str, object],
    monkeypatch: pytest.MonkeyPatch,
    take_over: Callable[[dict[str, object]], None] = state.take_over,
) -> None:
    """Run the page again as after the browser told of changes."""
    session = {notices.SAID: list(app.session_state[notices.SAID])}
    with monkeypatch.context() as patch:
        patch.setattr(st, "session_state", session)
        take_over(changes)
    for name, value in session.items():
        app.session_state[name] = value
    app.run()
    assert not app.exception


def _advance(work: object) -> None:
    """Go on with what is kept, as the clock of its figures does in a browser."""
    for one in (getattr(work, "filling", None), work):
        if getattr(one, "is_running", False):
            one.advance(60.0)


def whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on what fills in is there at once."""
    draw = gradual.draw

    def drawn(work: Work, *rest: object, **more: object) -> None:
        work.advance(60.0)
        draw(work, *rest, **more)

    monkeypatch.setattr(gradual, "draw", drawn)


def finished(app: AppTest) -> AppTest:
    """The page once all that fills in is there."""
    for _ in range(200):
        if not any(button.label == "Stop" for button in app.button):
            return app
        for name, kept in app.session_state.items():
            if name.startswith("remembered-"):
                _advance(kept[1])
        app.run()
    raise AssertionError("it never ends")
