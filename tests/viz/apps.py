"""Pages as a visitor gets them, and what is read back from them."""

import html
import json
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from streamlit.testing.v1 import AppTest

from tests.viz.builders import latex_numbers, numbers

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


def chart(app: AppTest, key: str) -> Chart:
    """The chart drawn under a key."""
    (proto,) = (
        element.proto
        for element in app.get("plotly_chart")
        if element.proto.id.endswith(f"-figure-{key}")
    )
    spec = json.loads(proto.spec)
    return Chart(spec["data"], spec["layout"], proto.alt)


def lines(app: AppTest, kind: str) -> list[str]:
    """The text of all notes, or of all errors, as a person reads them."""
    bodies = [element.proto.body for element in app.get("html")]
    marked = [body for body in bodies if f'class="hl-{kind}"' in body]
    return [html.unescape(re.sub(r"<[^>]*>", "", body)) for body in marked]


def strip(app: AppTest) -> list[tuple[str, float]]:
    """Label and probability of each token in the strip; NaN for the first."""
    body = next(e.proto.body for e in app.get("html") if "hl-strip" in e.proto.body)
    found = re.findall(r'title="token \d+: (.*?)".*?<bdi>(.*?)</bdi>', body)
    return [(html.unescape(label), (latex_numbers(title) or [np.nan])[0]) for title, label in found]


def z(trace: dict) -> np.ndarray:
    """The values of a heat map."""
    return numbers(trace["z"])


def control(app: AppTest, key: str) -> object:
    """What a control is set to."""
    return app.session_state[key]


def query_of(app: AppTest) -> dict[str, list[str]]:
    """What the URL says."""
    return {name: list(np.atleast_1d(value)) for name, value in app.query_params.items()}
