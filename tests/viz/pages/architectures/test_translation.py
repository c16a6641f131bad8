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
    chart,
    charts,
    chosen,
    control,
    faultless,
    lines,
    open_page,
    query_of,
    z,
)
from tests.viz.builders import live_data, numbers
from viz.frame.examples import pairs

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
