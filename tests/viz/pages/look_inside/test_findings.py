"""Protects the page Findings: what it picks is the extreme of its kind, and each line a link."""

import html
import re
from urllib.parse import parse_qsl

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model.analysis.ablation import ZERO, edits_of, every_head, sizes_of
from model.capture import capture
from model.tap import Editor
from tests.viz.apps import TOM, button, faultless, finished, lines, open_page
from tests.viz.builders import stories, stories_trace
from viz.digits import digits
from viz.frame import gradual


def opened(**query: str) -> AppTest:
    """The page, finished and without an error; every check passes."""
    return faultless(finished(open_page("Findings", **query)))


def found(app: AppTest) -> list[tuple[str, str, dict[str, str]]]:
    """Each line: its title, its words, and the address it opens."""
    (body,) = (x.proto.body for x in app.get("html") if "hl-findings" in x.proto.body)
    items = re.findall(r'<li><a href="\?([^"]*)">(.*?)</a><p>(.*?)</p></li>', body)
    return [
        (
            html.unescape(re.sub(r"<[^>]*>", "", title)),
            html.unescape(re.sub(r"<[^>]*>", "", said)),
            dict(parse_qsl(html.unescape(link))),
        )
        for link, title, said in items
    ]


def losses_without_each_head(text: str) -> tuple[float, dict[str, np.ndarray]]:
    """The mean loss, and the rise of every true next token's loss, one run for each head."""
    trace, model = stories_trace(text), stories().decoder
    ids = trace.ids.tolist()

    def losses(logits: np.ndarray) -> np.ndarray:
        rows = logits[:-1].astype(np.float64)
        totals = np.log(np.exp(rows - rows.max(-1, keepdims=True)).sum(-1)) + rows.max(-1)
        return totals - rows[np.arange(len(rows)), ids[1:]]

    before, rises = losses(trace.logits), {}
    for part in every_head(sizes_of(model, {"decoder": len(ids)})):
        edited = capture(model, ids, trace.tokens, attachments=[Editor(*edits_of([part], ZERO))])
        rises[part.text] = losses(edited.logits) - before
    return float(before.mean()), rises


def test_the_heads_are_those_that_cost_most_and_least() -> None:
    lines_found = found(opened(sentence=TOM))
    _, rises = losses_without_each_head(TOM)
    most = max(rises, key=lambda part: rises[part].mean())
    least = min(rises, key=lambda part: abs(rises[part].mean()))
    (title, said, link), (*_, last) = lines_found[0], lines_found
    assert link["off"] == most
    assert title.endswith("costs most")
    assert digits(float(rises[most].mean()), 3) in said
    labels = [token.strip() for token in stories_trace(TOM).tokens]
    assert f"“{labels[1 + int(rises[most].argmax())]}”" in said
    assert last[2]["off"] == least
    assert last[0].endswith("does least")


@pytest.mark.parametrize(
    ("query", "titles"),
    [
        ({"sentence": TOM}, ["costs most", "looks for a copy", "there after", "carries", "least"]),
        ({"sentence": "A"}, ["costs most", "No copy", "is there", "least"]),
        ({"model": "blank"}, ["costs most", "No copy", "carries most", "least"]),
        ({"model": "translate"}, ["costs most", "No copy", "carries most", "least"]),
        ({"model": "digits"}, ["costs most", "carries most", "least"]),
    ],
)
def test_there_is_a_line_for_all_that_applies_and_each_opens(
    query: dict[str, str], titles: list[str]
) -> None:
    shown = found(opened(**query))
    assert len(shown) == len(titles)
    for (title, _, link), word in zip(shown, titles, strict=True):
        assert word in title
        page = link.pop("page")
        app = open_page(page, **link)
        assert lines(app, "error") == []
        assert not [x for x in lines(app, "note") if "left out" in x]


def test_it_can_be_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gradual, "TICK_SECONDS", 0.0)
    app = open_page("Findings", sentence="The dog saw a cat in the park. " * 4)
    button(app, "Stop").click().run()
    assert any(line.startswith("Stopped: ") for line in lines(app, "note"))
    assert len(found(app)) == 3, "all that needs no further run"
