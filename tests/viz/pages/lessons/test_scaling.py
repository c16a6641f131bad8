"""Protects the lesson on scaling: what it draws and prints is of the law that is chosen."""

import pytest

from model.analysis.scaling import LAWS
from tests.viz.apps import TOM, chart, lesson, lines, open_page, tables_shown
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
    app = open_page(TITLE, sentence=TOM, scene="equal", scaling_compute="24", scaling_law="printed")
    assert "By Chinchilla 3, as printed, 1.0 × 10²⁴ operations pay for" in lesson(app)
    assert operations(23.76) == "5.8 × 10²³"  # Gopher: 5.76e23, Hoffmann et al. 2022, table 3


def test_a_compute_gives_published_sizes() -> None:
    app = open_page(TITLE, sentence=TOM, scaling_compute="23.8")
    # N grows as C to the 0.73 by Kaplan and about the half by Chinchilla: 2^0.73 and 2^0.27.
    assert "1.66 times the parameters and 1.21 times the text by Kaplan" in lesson(app)
    table = tables_shown(open_page(TITLE, sentence=TOM, scaling_compute="23.8", scene="why"))[0]
    # Hoffmann et al. 2022, fig. 2 and 3, at 5.76e23; this is 10^23.8 = 6.31e23.
    assert float(table["parameters"]["Chinchilla 1"].split()[0]) == pytest.approx(67 * 1.046, 0.01)
    assert float(table["parameters"]["Chinchilla 2"].split()[0]) == pytest.approx(63 * 1.046, 0.01)
    refitted = float(table["tokens per parameter"]["Chinchilla 3, refitted"])
    assert 15 < refitted < 25  # Besiroglu et al. 2024: about 20
    assert float(table["tokens per parameter"]["Kaplan"]) < 1 < refitted
    assert table["loss, nats"]["Chinchilla 1"] == "–"


def test_counting_embeddings_changes_the_exponent_of_our_own_runs() -> None:
    held = {counted: scaling.fitted(counted).law for counted in ("without", "all")}
    assert held["without"].exponent > held["all"].exponent + 0.05
