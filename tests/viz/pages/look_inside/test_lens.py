"""Protects the Lens page: what every layer would predict, in figures and in tables."""

import html

import pytest

from model.analysis.lens import logit_lens
from tests.model.builders import softmax
from tests.viz.apps import HOSTILE, TOM, captions, chart, inspected, lines, open_page, strip, z
from tests.viz.builders import csv_rows, latex_numbers, numbers, stories, stories_trace
from viz import runs, theme
from viz.frame.view import View
from viz.labels import token_labels
from viz.pages.look_inside import lens
from viz.runs.kept import Asked


def test_lens_page_shows_what_every_layer_says() -> None:
    app = open_page("Logit lens", sentence=TOM, layer="L1", token="7")
    trace, vocabulary = stories_trace(TOM), stories().tokenizer
    lens = logit_lens(trace, stories().model)
    heat, written, _ = chart(app, "lens").data
    assert z(heat) == pytest.approx(lens.probs[..., 0], abs=1e-6)
    assert z(heat)[-1] == pytest.approx(softmax(trace.logits).max(axis=-1), abs=1e-5)
    said = [vocabulary.token_strings([i])[0] for i in trace.logits.argmax(axis=-1)]
    labels = [token_labels([*pair])[1] for pair in zip(trace.tokens, said, strict=True)]
    assert [html.unescape(x) for x in written["text"][-len(said) :]] == [
        f"<b>{x}</b>" for x in labels
    ]
    rank, _ = chart(app, "rank").data
    assert numbers(rank["y"]) == pytest.approx(lens.rank[:, 7] + 1)
    (bars,) = chart(app, "most-likely").data
    assert numbers(bars["x"]) == pytest.approx(lens.probs[2, 7], abs=1e-6)
    *_, probability, entropy, place = latex_numbers(app.latex[-1].value)
    assert probability == pytest.approx(lens.probs[2, 7, 0], abs=6e-5)
    assert entropy == pytest.approx(lens.entropy[2, 7], abs=6e-5)
    assert place == lens.rank[2, 7] + 1
    assert labels[7] in chart(app, "rank").alt
    (line,) = (line for line in captions(inspected(app, "check")) if "Check" in line)
    assert (
        f"Check passed: the last row's logits are the model's own, max error {lens.error:.1e}"
        in line
    )
    app = open_page("Logit lens", sentence=TOM, lens_color="entropy")
    assert z(chart(app, "lens").data[0]) == pytest.approx(lens.entropy, abs=1e-5)


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
