"""Protects the Lens page: what every layer would predict, in figures and in tables."""

import numpy as np
import pytest

from model.analysis.fitted_lens import Errors, FittedLens
from model.analysis.lens import logit_lens
from tests.viz.apps import (
    HOSTILE,
    TOM,
    captions,
    chart,
    charts,
    faultless,
    lines,
    open_page,
    strip,
    told,
    z,
)
from tests.viz.builders import csv_rows, numbers, stories, stories_trace
from tests.viz.figures.cases import line
from viz import runs, theme
from viz.frame import gradual
from viz.frame.view import View
from viz.pages.look_inside import lens, turned
from viz.runs import lenses
from viz.runs.kept import KEPT, Asked


def test_lens_of_a_long_sentence_shows_a_window() -> None:
    text = " ".join(22 * ["The red ball was big."])
    app = open_page("Logit lens", sentence=text, lens_start="24")
    assert len(strip(app)) == 132
    heat, _, written, _ = chart(app, "lens").data
    named = [name.rstrip("\u200b") for name in heat["x"]]
    assert named == 4 * ["The", "red", "ball", "was", "big", "."]
    lens_of_all = logit_lens(stories_trace(text), stories().model)
    assert z(heat) == pytest.approx(lens_of_all.probs[:, 24:48, 0], abs=1e-5)
    assert len(written["text"]) == 7 * 24
    said = " ".join(lines(app, "note"))
    assert "24 to 47 of 0 to 131" in said and "131, is outside" in said
    app.run()
    assert any(line.startswith("A window") for line in lines(app, "note")), "said each time"


def test_lens_tables_hold_the_whole_sentence() -> None:
    device = runs.device_names()[0]
    handle = runs.handle_of("stories", device)
    asked = Asked(lambda: runs.run(handle, HOSTILE))
    view = View(HOSTILE, handle, asked, "decoder.attn", 2, 3, theme.LIGHT)
    seen = runs.lens(handle, HOSTILE, [0])
    reading = lens.Reading(view, seen, runs.vocabulary(handle), 3, 0)
    _, *rows = csv_rows(lens._csv(reading))
    assert [int(row[4]) for row in rows] == seen.ids.ravel().tolist()
    assert [float(row[6]) for row in rows] == pytest.approx(seen.probs.ravel())
    assert [row[3] for row in rows[:11]] == [*map(str, range(1, 11)), "1"]
    cells = rows[::10]
    assert [int(row[7]) for row in cells] == (seen.rank + 1).ravel().tolist()
    assert [float(row[8]) for row in cells] == pytest.approx(seen.entropy.ravel())
    assert cells[-1][:2] == ["L5", str(len(view.run.trace.tokens) - 1)]


def made_up() -> FittedLens:
    """A lens that nobody fitted, each row with a map of its own."""
    rng, size = np.random.default_rng(1), stories().decoder.config.d_model
    maps = np.eye(size) + rng.normal(scale=0.05, size=(6, size, size))
    plain, fitted = (Errors(line(7, first), line(7, first / 9)) for first in (0.5, 0.2))
    offsets = rng.normal(size=(6, size))
    return FittedLens(maps.astype("f4"), offsets.astype("f4"), 4321, 987, plain, fitted)


def test_the_fitted_lens_reads_beside_the_logit_lens_with_the_errors_of_both() -> None:
    handle, found = runs.handle_of("stories", runs.device_names()[0]), made_up()
    KEPT.clear()
    lenses.keep(handle, found)
    app = open_page("Logit lens", lens="fitted", token="7", sentence=TOM)
    plain, moved = (logit_lens(stories_trace(TOM), stories().decoder, fitted=x)
                    for x in (None, found))  # fmt: skip
    assert not np.allclose(plain.probs[1], moved.probs[1], atol=0.01)
    assert z(chart(app, "lens").data[0]) == pytest.approx(moved.probs[..., 0], abs=1e-5)
    both = [(x["name"], numbers(x["y"]).tolist()) for x in chart(app, "rank").data[:2]]
    assert both == [
        ("logit lens", [*plain.rank[:, 7] + 1]),
        ("fitted lens", [*moved.rank[:, 7] + 1]),
    ]
    for key, kind in (("lens-kl", "kl"), ("lens-top1", "top1")):
        drawn = [numbers(x["y"]).tolist() for x in chart(app, key).data]
        assert drawn == [pytest.approx(getattr(x, kind)[:-1]) for x in (found.plain, found.fitted)]
    said = " ".join(x.value for x in app.markdown)
    assert "987 tokens that it was not fitted on" in said
    KEPT.clear()


@pytest.mark.parametrize(
    ("seconds", "said", "button"), [(20, "Fitting one", "Stop"), (0, "Not fitted yet", "Compute")]
)
def test_a_lens_that_takes_long_is_not_fitted_unasked(
    seconds: float, said: str, button: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until it is there the page has the logit lens, and what else is worked out beside it."""
    monkeypatch.setattr(turned, "SOON", 0.0)
    monkeypatch.setattr(gradual, "MOST_UNASKED", 0)  # nor are the runs with another stream
    monkeypatch.setattr(lens, "MOST_SECONDS", seconds)
    KEPT.clear()
    query = {"sentence": "One day a fox ran.", "second": "One day a dog sat."}
    app = faultless(open_page("Logit lens", lens="fitted", **query))
    assert said in " ".join(
        [*(str(getattr(x, "text", "")) for x in app.get("progress")), *told(app), *captions(app)]
    )
    assert {button, "Compute"} <= {x.label for x in app.button}
    assert "0 of 6 layers are run" in " ".join(captions(app))
    plain = logit_lens(stories_trace("One day a fox ran."), stories().decoder)
    assert z(chart(app, "lens").data[0]) == pytest.approx(plain.probs[..., 0], abs=1e-5)
    assert [x for x in charts(app) if x["key"] == "lens-kl"] == []
