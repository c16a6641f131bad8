"""Protects the page of translations: its numbers are the model's, and a person can steer it."""

from pathlib import Path

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from model.data.tokenizer import START_OF_TEXT
from model.sources import checkpoint
from model.sources.checkpoint import Checkpoint
from tests.model.builders import softmax, tiny_translation_checkpoint
from tests.viz.apps import (
    captions,
    chart,
    charts,
    chosen,
    control,
    facts,
    faultless,
    inspected,
    lines,
    open_page,
    query_of,
    z,
)
from tests.viz.builders import latex_numbers, live_data, numbers
from viz.frame.examples import pairs
from viz.live import store

ENGLISH, GERMAN = "A dog ran.", "Ein Hund lief."
CHARTS = ["forced", "error-rates", "alignment", "damage", "cache-parts"]


@pytest.fixture
def model(shelf: Path) -> Checkpoint:
    """The one model the app has, small and untrained."""
    return checkpoint.load(tiny_translation_checkpoint(shelf / "translate"))


def opened(**query: str) -> AppTest:
    """The page, which must have no error; every check of the run passes."""
    return faultless(open_page("Translation", **{"source": ENGLISH} | query))


def written(app: AppTest) -> list[int]:
    """The ids of the German on the page, its end included."""
    return live_data(app)["spec"]["came"]


def logits(model: Checkpoint, source: str, target: list[int]) -> np.ndarray:
    """What the model itself says after the start and each token of a target."""
    tokenizer = model.tokenizer
    given = [*tokenizer.encode(source), tokenizer.end_id]
    fed = [tokenizer.id_of(START_OF_TEXT), *target]
    with torch.inference_mode():
        return model.model(torch.tensor([given]), torch.tensor([fed]))[0].numpy()


def test_the_german_is_the_most_likely_and_its_numbers_are_the_model_s(model: Checkpoint) -> None:
    app = opened()
    ids, end_id = written(app), model.tokenizer.end_id
    probs = softmax(logits(model, ENGLISH, [i for i in ids if i != end_id]))
    assert ids == probs.argmax(axis=-1)[: len(ids)].tolist()
    spec = live_data(app)["spec"]
    sent = store.array(live_data(app)["arrays"]["logits"]["id"])
    assert sent is not None
    first, end = spec["answers"]
    for row in set(range(first, end)) - set(spec["folded"]):
        found = softmax(sent[row - first])
        np.testing.assert_allclose(found, probs[row + spec["begins"]], atol=1e-5)
    assert (spec["goal"], spec["plays"]) == ("target", False)
    assert [sent["key"] for sent in charts(app)] == [x for x in CHARTS if x not in
                                                     ("forced", "alignment")]  # fmt: skip


def test_a_chosen_token_stays_and_the_rest_is_written_from_it(model: Checkpoint) -> None:
    app = opened()
    first = written(app)
    forced = [first[0], (first[1] + 5) % 50]
    app = chosen(app, forced=tuple(forced))
    ids, end_id = written(app), model.tokenizer.end_id
    assert ids[:2] == forced
    probs = softmax(logits(model, ENGLISH, [i for i in ids if i != end_id]))
    assert ids[2:] == probs.argmax(axis=-1)[2 : len(ids)].tolist()
    assert live_data(app)["settings"]["forced"] == forced
    assert "Forget the 2 tokens that you chose" in [button.label for button in app.button]
    assert query_of(app)["forced"] == ["-".join(map(str, forced))]
    app = chosen(app, source="A cat ran.")
    assert live_data(app)["settings"]["forced"] == [], "it belonged to the other sentence"


def test_sampling_depends_on_its_seed_and_beams_have_a_tree(model: Checkpoint) -> None:
    drawn = [written(opened(mode="sampling", seed=seed)) for seed in ("1", "2")]
    assert drawn[0] != drawn[1]
    app = opened(mode="beam", beam_width="2")
    assert charts(app)[0]["key"] == "beam"
    named = {trace.get("name"): trace for trace in chart(app, "beam").data}
    n_steps = len(written(app))
    assert len(numbers(named["winner"]["x"])) == min(12, n_steps)
    cut = [line for line in lines(app, "note") if "The first 12 of" in line]
    assert len(cut) == (n_steps > 12)


def test_a_text_that_is_fed_in_has_the_model_s_losses(model: Checkpoint) -> None:
    app = opened(target=GERMAN)
    ids = model.tokenizer.encode(GERMAN)
    probs = softmax(logits(model, ENGLISH, ids))
    losses = -np.log(probs[range(len(ids)), ids])
    bars = chart(app, "forced").data[0]
    assert numbers(bars["y"]) == pytest.approx(losses, abs=1e-4)
    own = probs.argmax(axis=-1)[: len(ids)]
    assert [bool(text) for text in bars["text"]] == (own != ids).tolist()
    per_word = facts(app)["loss per word, fed in"]
    assert per_word == f"{losses.sum() / 4:.3f} nats", "four words"
    sums = z(chart(app, "damage").data[0]).sum(axis=1)
    end = -np.log(probs[-1, model.tokenizer.end_id])
    assert sums[0] == pytest.approx(losses.sum() + end, abs=1e-3)
    assert sums[1] == pytest.approx(sums[0], abs=1e-3), "the encoder's output shuffled"


def test_an_example_brings_its_german_and_its_alignment(model: Checkpoint) -> None:
    pair = pairs()[2]
    app = opened(source=pair.source)
    assert control(app, "target") == pair.target
    assert [sent["key"] for sent in charts(app)] == CHARTS
    figure = chart(app, "alignment")
    words = z(figure.data[0])
    assert words.shape == (8, 8)
    assert words.sum(axis=1).max() <= 1 + 1e-6, "the end of the English is left out"
    frames = {
        (round(shape["x0"] + 0.44), round(shape["y0"] + 0.44))
        for shape in figure.layout["shapes"]
        if shape["type"] == "rect"
    }
    assert frames == set(pair.links)
    rates = z(chart(app, "error-rates").data[0])
    assert rates.shape == (2, 4)
    assert ((rates >= 0) & (rates <= 1)).all()


def test_both_parts_of_the_cache_are_counted(model: Checkpoint) -> None:
    app = opened()
    cross, own = (numbers(trace["y"]) for trace in chart(app, "cache-parts").data)
    per_token = 2 * 2 * 3 * 10 * 4  # k and v, layers, heads, d_head, bytes
    assert own.tolist() == [per_token * n for n in range(len(own))]
    n_source = len(model.tokenizer.encode(ENGLISH)) + 1
    assert set(cross[1:]) == {per_token * n_source}
    found = captions(inspected(app, "check"))
    assert sum("Check passed" in line for line in found) >= 2
    assert not any("FAILED" in line for line in lines(app, "error"))


def test_the_formula_has_the_numbers_of_the_chosen_head(model: Checkpoint) -> None:
    """Of its largest weight."""
    app = inspected(opened(attention="decoder.cross_attn", layer="1", head="2"), "formula")
    ids = [i for i in written(app) if i != model.tokenizer.end_id]
    trace = model.trace(ENGLISH).trace
    assert trace.ids[1:].tolist() == ids
    record = trace.group("decoder.cross_attn").records[1]
    filled = next(x.value for x in app.latex if "w =" in x.value)
    assert latex_numbers(filled)[-1] == pytest.approx(record.pattern[2].max(), abs=1e-4)
    assert any(r"M W_K" in x.value for x in app.latex)


@pytest.mark.parametrize(
    ("query", "kind", "text"),
    [
        ({"source": "A dog ran. " * 9}, "note", "the last 30 are cut"),
        ({"source": GERMAN}, "note", "looks like German"),
        ({"target": "Ein Hund lief. " * 9}, "note", "the others are cut"),
        ({"forced": "1-999"}, "note", "Chosen tokens: 1 of 2 cannot be used"),
    ],
    ids=["long", "german", "long-german", "unknown-token"],
)
def test_what_cannot_be_used_gets_one_line_and_a_page(
    query: dict[str, str], kind: str, text: str, model: Checkpoint
) -> None:
    app = opened(**query)
    found = [line for line in lines(app, kind) if text in line]
    assert len(found) == 1
    assert len(written(app)) >= 1
    assert "cache-parts" in [sent["key"] for sent in charts(app)]
