"""Protects the Lens page: what every layer would predict, in figures and in tables."""

import pytest

from model.analysis.lens import logit_lens
from tests.viz.apps import HOSTILE, chart, lines, open_page, strip, z
from tests.viz.builders import csv_rows, stories, stories_trace
from viz import runs, theme
from viz.frame.view import View
from viz.pages.look_inside import lens
from viz.runs.kept import Asked


def test_lens_of_a_long_sentence_shows_a_window() -> None:
    text = " ".join(22 * ["The red ball was big."])
    app = open_page("Logit lens", sentence=text, lens_start="24")
    assert len(strip(app)) == 132
    heat, written, _ = chart(app, "lens").data
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
