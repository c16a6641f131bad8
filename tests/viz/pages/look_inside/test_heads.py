"""Protects the page Heads: its points, its words and its counts are those of the measures."""

import html
import json
import re
from pathlib import Path
from urllib.parse import parse_qsl

import numpy as np
import pytest

from model.analysis.circuits import copying_scores
from model.sources import checkpoint
from model.survey.samples import Asked
from model.survey.stored import STORED, read_survey
from model.survey.work import Job, survey
from tests.model.builders import SENTENCE, edit_json, tiny_checkpoint
from tests.viz.apps import (
    VARIANTS,
    captions,
    chart,
    facts,
    inspected,
    lines,
    open_page,
    query_of,
    tables_shown,
)
from tests.viz.builders import csv_rows, numbers, stories
from viz import theme
from viz.figures.heads import Measured, head_scatter
from viz.pages.look_inside.heads import table
from viz.pages.look_inside.heads.measures import MEASURES
from viz.pages.look_inside.heads.reading import Reading

PAGE = "Heads"


def stored() -> dict:
    """The survey of stories, as its file has it."""
    folder = stories().folder
    return json.loads((folder / STORED).read_text(encoding="utf-8"))


def test_the_points_are_the_surveys() -> None:
    app = open_page(PAGE, across="near", up="previous", colour_by="broad", layer="L1", head="H6")
    (points,) = chart(app, "heads").data
    measures = stored()["groups"]["decoder.attn"]["measures"]
    for axis, name in (("x", "near"), ("y", "previous")):
        assert numbers(points[axis]) == pytest.approx(np.ravel(measures[name]["values"]))
    assert numbers(points["marker"]["color"]) == pytest.approx(
        np.ravel(measures["broad"]["values"])
    )
    value = measures["near"]["values"][1][6]
    assert facts(app)["near"].startswith(f"{value:.3f}"[:4])
    assert any("200,116 tokens of held-out text" in line for line in captions(app))
    assert "L1\u00a0H6" in chart(app, "heads").alt


def test_counts_are_those_of_the_file() -> None:
    app = open_page(PAGE)
    measures = stored()["groups"]["decoder.attn"]["measures"]
    counts, every_head = tables_shown(app)[-2:]
    assert len(every_head["words"]) == 48
    words = {"previous": "previous token", "near": "nearby", "kept": "by position"}
    words["copying"] = "copies"
    for name, bound in (("previous", 1 / 3), ("near", 0.5), ("kept", 0.5), ("copying", 0.5)):
        n = int((np.array(measures[name]["values"], float) >= bound).sum())
        assert counts["heads"][words[name]] == f"{n} of 48"
    n = int((np.array(measures["copying"]["values"]) <= -0.5).sum())
    assert counts["heads"]["suppresses"] == f"{n} of 48"
    none = sum(said == "no single role" for said in every_head["words"].values())
    assert counts["heads"]["no single role"] == f"{none} of 48"
    (claims,) = (e.proto.body for e in app.get("html") if "hl-claims" in e.proto.body)
    assert "Not tested: no parse of the text is here" in claims
    assert "Some heads track the previous token</dt><dd>" in claims


def test_the_sentence_that_wakes_a_head_leads_to_its_arrow() -> None:
    app = open_page(PAGE, layer="L0", head="H4")
    found = stored()["groups"]["decoder.attn"]["strongest"][0][4]
    text = " ".join(element.proto.body for element in app.get("html"))
    assert "hl-quote" in text
    address = query_in(text, "Open on this sentence")
    assert address["sentence"] == found["text"]
    assert address["cell"] == f"{found['query']}-{found['key']}"
    assert (address["page"], address["layer"], address["head"]) == ("Attention", "0", "4")


def query_in(text: str, title: str) -> dict[str, str]:
    """The address of a way on."""
    found = re.search(rf'href="\?([^"]*)"><b>{title}', text)
    assert found is not None
    return dict(parse_qsl(html.unescape(found[1])))


def test_on_a_sentence_the_points_are_there_for_another_model(shelf: Path) -> None:
    tiny_checkpoint(shelf / "rope", **VARIANTS["rope"])
    app = open_page(
        PAGE,
        sentence=SENTENCE,
        measured_on="survey",
        across="kept",
        up="moved",
        colour_by="copying",
    )
    assert lines(app, "error") == []
    (line,) = lines(app, "note")
    assert "python -m model survey --checkpoint rope --text-file TEXT" in line
    loaded = checkpoint.load("rope", "cpu")
    (points,) = chart(app, "heads").data
    n_heads = loaded.config.n_layers * loaded.config.n_heads
    assert len(numbers(points["x"])) == len(numbers(points["y"])) == n_heads
    scores = copying_scores(loaded.model)
    assert scores is not None
    assert numbers(points["marker"]["color"]) == pytest.approx(scores.ravel(), abs=1e-6)


def test_a_broken_survey_is_said_and_the_sentence_is_shown(shelf: Path) -> None:
    folder, text = tiny_checkpoint(shelf / "tiny"), shelf.parent / "a.txt"
    text.write_text(SENTENCE)
    survey(Job(folder, "cpu", Asked(texts=(text,)), folder / STORED), 1)
    edit_json(folder / STORED, lambda fields: fields.update(weights="0" * 64))
    app = open_page(PAGE, sentence=SENTENCE)
    (line,) = lines(app, "note")
    assert "is of the weights 000000000000" in line
    assert "Measured on this sentence, 21 queries." in captions(app)
    assert len(numbers(chart(app, "heads").data[0]["x"])) == 6


def test_a_measure_that_is_not_there_is_said() -> None:
    app = open_page(PAGE, sentence="Hello.", measured_on="sentence", across="next")
    assert any("Across next does not exist here" in line for line in lines(app, "note"))
    assert "across" not in query_of(app)


def test_the_export_has_every_measure_and_the_formulas_are_of_those_shown() -> None:
    app = open_page(PAGE, across="moved", up="kept", colour_by="prefix", inspect="formula")
    shown = " ".join(formula.value for formula in inspected(app, "formula").latex)
    for name in ("moved", "kept", "prefix"):
        assert MEASURES[name].latex in shown
    found = stored()["groups"]["decoder.attn"]
    read = read_survey(stories().folder)
    assert read is not None
    reading = Reading(
        "",
        read.measured("decoder.attn"),
        read.groups["decoder.attn"].strongest,
    )
    rows = csv_rows(table.csv(reading))
    header, first = rows[0], rows[1]
    assert len(rows) == 49
    assert {MEASURES[name].name for name in found["measures"]} <= set(header)
    place = header.index(MEASURES["kept"].name)
    assert float(first[place]) == pytest.approx(found["measures"]["kept"]["values"][0][0], rel=1e-5)


def test_heads_that_are_nearly_alike_have_an_axis_with_short_numbers() -> None:
    alike = Measured("broad", np.array([0.99999992, 0.99999998, 1.0]))
    apart = Measured("apart", np.array([0.2, 0.4, 0.3]))
    figure = head_scatter(["a", "b", "c"], alike, apart, apart, 0, theme.LIGHT)
    low, high = figure.layout.xaxis.range
    assert low < 0.992 and high > 1.008
    assert list(figure.layout.yaxis.range) == pytest.approx([0.188, 0.412])
