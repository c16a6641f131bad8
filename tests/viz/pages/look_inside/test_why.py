"""Protects Why there? on Attention: the cell is sent, and what cannot be said is a line."""

import csv
from collections.abc import Callable

import numpy as np
import pytest

from model.analysis.why.reasons import reasons
from model.analysis.why.row import OneSide, Scores, by_side
from model.analysis.why.sentence import sentence
from model.analysis.why.sides import Sides
from model.analysis.why.tables import kind_rows, word_rows, writer_rows
from model.trace import Site
from tests.viz.apps import TOM, finished, lines, open_page, query_of, tell
from tests.viz.builders import live_data, stories, stories_trace
from viz.frame import inspector
from viz.live import store as offered
from viz.pages.look_inside import why
from viz.runs import whys

SITE = Site("decoder", "self", 3)


def test_nothing_is_worked_out_before_somebody_asks() -> None:
    app = open_page("Attention", sentence=TOM, layer="3", head="2", cell="9-4")
    assert live_data(app)["part"] == "attention"


def test_the_pinned_cell_is_told_with_what_was_taken_away(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = {"sentence": TOM, "layer": "3", "head": "2", "cell": "9-4", "why": "yes"}
    app = finished(open_page("Attention", **asked, why_taken="kind:match", why_other="2"))
    cell = reasons(stories_trace(TOM), stories().model, SITE).cell(2, 9, 4, 2)
    data = live_data(app, "why")
    assert data["says"] == sentence(cell)
    assert data["settings"] == {"taken": "kind:match", "other": 2}
    sent = {"kinds": cell.apart, "words": cell.words, "keys": cell.writers[1]}
    for name, row in sent.items():
        found = offered.array(data["arrays"][name]["id"])
        np.testing.assert_allclose(found, row.terms, rtol=1e-6, atol=1e-6)
    tell(app, {"layer": 0, "head": 1, "cell": [4, 3]}, monkeypatch, why._take_over)
    assert (query_of(app)["layer"], query_of(app)["cell"]) == (["0"], ["4-3"])


def test_while_it_is_open_its_tables_can_be_saved(monkeypatch: pytest.MonkeyPatch) -> None:
    files: dict[str, Callable[[], bytes]] = {}
    monkeypatch.setattr(inspector, "export", lambda view, made, **rest: files.update(made))
    asked = {"sentence": TOM, "layer": "3", "head": "2", "cell": "9-4"}
    open_page("Attention", **asked)
    assert [*files] == ["Pattern L3 H2"]
    finished(open_page("Attention", **asked, why="yes", why_other="2"))
    cell = reasons(stories_trace(TOM), stories().model, SITE).cell(2, 9, 4, 2)
    rows = {"kinds": kind_rows(cell), "words": word_rows(cell), "writers": writer_rows(cell)}
    for name, expected in rows.items():
        text = files[f"Why L3 H2 9-4 {name}"]().decode("utf-8-sig")
        found = [*csv.DictReader(text.splitlines())]
        numbers = [float(row.pop("score")) for row in found]
        np.testing.assert_allclose(numbers, [row["score"] for row in expected], rtol=1e-5)
        for row, own in zip(found, expected, strict=True):
            for column in row.keys() - {"weight_without"}:
                assert row[column] == ("" if own[column] is None else str(own[column]))


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"cell": "0-0"}, "query 0 may attend to one key alone"),
        ({"cell": "2-5"}, "query 2 may not attend to key 5, which comes later"),
        ({"sentence": 70 * "word ", "cell": "9-4"}, "why a head looks is worked out for up to 64"),
        ({"cell": "9-4", "why_other": "4"}, "key 4 is compared with itself"),
    ],
)
def test_what_cannot_be_said_is_one_line(query: dict[str, str], said: str) -> None:
    app = open_page("Attention", **{"sentence": TOM, "why": "yes"} | query)
    (line,) = (line for line in lines(app, "note") if line.startswith("Why there?"))
    assert said in line


def test_what_turns_out_wrong_later_is_one_line_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Words add up to the score, writers do not."""

    def missing(sides: Sides, of: Scores) -> tuple[OneSide, OneSide]:
        return by_side(sides._replace(q=1.01 * sides.q), of)

    monkeypatch.setattr("model.analysis.why.reasons.by_side", missing)
    monkeypatch.setattr(whys, "SOON", 0)
    asked = {"sentence": TOM, "layer": "3", "head": "2", "cell": "9-4", "why": "yes"}
    app = finished(open_page("Attention", **asked))
    (line,) = (line for line in lines(app, "note") if line.startswith("Why there?"))
    assert "off what ran" in line
    assert live_data(app)["part"] == "attention"


def test_without_a_pinned_cell_it_is_the_strongest_pair() -> None:
    app = open_page("Attention", sentence=TOM, layer="3", head="2", why="yes")
    query, key = live_data(app, "why")["at"]
    pattern = stories_trace(TOM).attention[3].pattern[2]
    assert pattern[query, key] > 0.5
    assert lines(app, "note") == []
