"""Protects the lesson on scaling: what it draws and prints is of the law that is chosen."""

import pytest

from model.analysis.scaling import LAWS
from tests.viz.apps import TOM, chart, lines, open_page
from tests.viz.builders import numbers
from viz.frame.settings import SCALING_LAW
from viz.pages.lessons.scaling import operations
from viz.runs import scaling

TITLE = "Scaling"


@pytest.mark.parametrize("counted", ["without", "all"])
def test_our_own_runs_are_drawn(counted: str) -> None:
    app = open_page(TITLE, sentence=TOM, scene="own", scaling_counted=counted)
    assert lines(app, "error") == []
    losses = [run.loss for run in scaling.stored().runs]
    drawn = [numbers(line["y"]) for line in chart(app, "scaling-own").data]
    assert all(any(loss in values for values in drawn) for loss in losses)


def test_a_law_has_one_name_and_a_compute_is_written_as_a_power() -> None:
    assert {x: SCALING_LAW.words(x) for x in SCALING_LAW.options} == {
        x: LAWS[x].name for x in SCALING_LAW.options
    }
    assert operations(23.76) == "5.8 × 10²³"  # Gopher: 5.76e23, Hoffmann et al. 2022, table 3


def test_counting_embeddings_changes_the_exponent_of_our_own_runs() -> None:
    held = {counted: scaling.fitted(counted).law for counted in ("without", "all")}
    assert held["without"].exponent > held["all"].exponent + 0.05
