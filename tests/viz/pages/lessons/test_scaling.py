"""Protects the lesson on scaling: what it draws and prints is what independent code gives."""

import json

import numpy as np
import pytest

from model.verify.independent import IndependentRun
from tests.viz.apps import TOM, charts, lines, open_page, tables_shown
from tests.viz.builders import numbers, stories, stories_trace
from viz.runs import scaling

TITLE = "Scaling"


def _independent() -> IndependentRun:
    return IndependentRun(stories().files, stories_trace(TOM).ids)


@pytest.mark.parametrize("law", ["kaplan", "printed", "refitted"])
@pytest.mark.parametrize("counted", ["without", "all"])
def test_what_is_drawn_is_what_the_independent_code_gives(law: str, counted: str) -> None:
    app = open_page(
        TITLE,
        sentence=TOM,
        scaling_law=law,
        scaling_counted=counted,
        scaling_compute="21.5",
        scaling_times="-2",
    )
    assert lines(app, "error") == []
    run, n_compared = _independent(), 0
    for sent in charts(app):
        data = json.loads(sent["spec"])["data"]
        for place in sent["origin"]:
            found = data[place["trace"]][place["property"]]
            if place["property"] == "text":  # a name, and after it the number
                found = [text.rpartition(", ")[2] for text in found]
            drawn = numbers(found).astype(float)
            expected = run.array(place["address"])
            np.testing.assert_allclose(drawn, expected, rtol=1e-6, err_msg=place["address"])
            n_compared += 1
    sizes, n_runs = len(scaling.stored().widths), len(scaling.stored().runs)
    assert n_compared == (5 + 3) + 6 + (3 * sizes + 1) + 2 * n_runs


def test_a_compute_gives_published_sizes() -> None:
    app = open_page(TITLE, sentence=TOM, scaling_compute="23.8")
    table = tables_shown(app)[0]
    # Hoffmann et al. 2022, fig. 2 and 3, at 5.76e23; this is 10^23.8 = 6.31e23.
    assert float(table["parameters"]["Approach 1"].split()[0]) == pytest.approx(67 * 1.046, 0.01)
    assert float(table["parameters"]["Approach 2"].split()[0]) == pytest.approx(63 * 1.046, 0.01)
    refitted = float(table["tokens per parameter"]["Approach 3, refitted"])
    assert 15 < refitted < 25  # Besiroglu et al. 2024: about 20
    assert float(table["tokens per parameter"]["Kaplan"]) < 1 < refitted
    assert table["loss, nats"]["Approach 1"] == "–"


def test_counting_embeddings_changes_the_exponent_of_our_own_runs() -> None:
    held = {counted: scaling.fitted(counted).law for counted in ("without", "all")}
    assert held["without"].exponent > held["all"].exponent + 0.05


def test_every_printed_number_has_an_independent_one() -> None:
    app = open_page(TITLE, sentence=TOM, scaling_times="1", scaling_counted="all")
    assert lines(app, "error") == []
    run = _independent()
    places = {address for _, _, address in app.session_state["numbers-printed"]}
    of_lesson = {address for address in places if address.startswith("scaling.")}
    assert len(of_lesson) > 80
    for address in of_lesson:
        assert np.isfinite(run.array(address)).all(), address
