"""Protects the lesson on similarity: its figures and numbers are those of independent code."""

import re
from pathlib import Path

import numpy as np
import pytest

from model.sources import checkpoint
from model.verify.independent import IndependentRun
from tests.model.builders import SENTENCE, tiny_checkpoint
from tests.viz.apps import TOM, captions, chart, lines, open_page, query_of, tables_shown
from tests.viz.builders import numbers, stories, stories_trace
from viz.figures.similarity import token_names

TITLE = "Similarity"
VECTORS = {"a_x": "-2", "a_y": "1.5", "b_x": "0.7", "b_y": "4", "b_times": "2.5"}
AT = "30.65.57.90.25"


def independent() -> IndependentRun:
    return IndependentRun(stories().files, stories_trace(TOM).ids)


def test_two_vectors_are_those_of_the_independent_code() -> None:
    app = open_page(TITLE, sentence=TOM, **VECTORS)
    assert lines(app, "error") == lines(app, "note") == []
    run, drawn = independent(), chart(app, "two-vectors").data
    for trace, name in enumerate(("a", "b", "dropped")):
        expected = run.array(f"pair.{name}.{AT}")
        np.testing.assert_allclose(numbers(drawn[trace]["x"]), expected[0], atol=1e-12)
        np.testing.assert_allclose(numbers(drawn[trace]["y"]), expected[1], atol=1e-12)
    assert numbers(drawn[1]["x"]).tolist() == [0, 1.75]
    (table, *_) = tables_shown(app)
    rows = ("dot product a · b", "length of a", "length of b", "cosine", "angle, degrees")
    for name, row in zip(
        ("product", "length_a", "length_b", "cosine", "degrees"), rows, strict=True
    ):
        shown = float(table["a and 2.5 · b"][row])
        assert shown == pytest.approx(float(run.array(f"pair.{name}.{AT}")), abs=1e-4)
    assert float(table["a and 2.5 · b"][rows[0]]) == 11.5  # (−2 · 0.7 + 1.5 · 4) · 2.5
    assert float(table["a and b"][rows[0]]) == 4.6
    assert table["a and b"]["cosine"] == table["a and 2.5 · b"]["cosine"]


def test_a_vector_without_a_direction_is_said_and_drawn() -> None:
    app = open_page(TITLE, sentence=TOM, a_x="0", a_y="0")
    (line,) = lines(app, "note")
    assert line == "A vector of length 0 has no direction: there is neither cosine nor angle."
    assert tables_shown(app)[0]["a and b"]["cosine"] == "–"
    assert numbers(chart(app, "two-vectors").data[0]["x"]).tolist() == [0, 0]


@pytest.mark.parametrize("token", [3, 4])
def test_nearest_tokens_are_those_of_the_independent_code(token: int) -> None:
    app = open_page(TITLE, sentence=TOM, near_token=str(token), near_count="6")
    run, token_id = independent(), int(stories_trace(TOM).ids[token])
    vocabulary = token_names([stories().tokenizer.token_strings([i])[0] for i in range(4096)])
    for order, key in enumerate(("nearest-cosine", "nearest-dot-product")):
        (bars,) = chart(app, key).data
        at = f"{order}.{token_id}.6"
        np.testing.assert_allclose(numbers(bars["x"]), run.array(f"near.values.{at}"), rtol=1e-9)
        ids = [int(re.findall(r"<br>id (\d+)<br>", text)[0]) for text in bars["hovertext"]]
        assert ids == run.array(f"near.ids.{at}").tolist()
        labels = chart(app, key).layout["yaxis"]["ticktext"]
        assert labels == [vocabulary[i] for i in ids]
        mean = f"{float(run.array(f'near.mean_length.{at}')):.2f}"
        assert any(mean in line for line in captions(app) if "Length of this" in line)
    assert "near_count" in query_of(app)


def test_colours_are_near_colours_in_the_shipped_model() -> None:
    app = open_page(TITLE, sentence=TOM, near_token="3", near_count="5")
    labels = chart(app, "nearest-cosine").layout["yaxis"]["ticktext"]
    assert labels[0] == "red"
    assert {"blue", "green", "white", "yellow"} == set(labels[1:])


def test_a_head_s_products_and_cosines_are_those_of_its_vectors() -> None:
    app = open_page(TITLE, sentence=TOM, layer="2", head="4")
    run, mask = independent(), stories_trace(TOM).attention[2].mask_of(4)
    for name in ("products", "cosines"):
        expected = run.array(f"decoder.blocks.2.attn.unmasked_{name}[4]")
        shown = numbers(chart(app, f"similar-{name}").data[0]["z"])
        assert (np.isfinite(shown) == mask).all()
        np.testing.assert_allclose(shown[mask], expected[mask], atol=1e-4)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("blank", "one table here (tied)"),
        ("translate", "LayerNorm, which takes off the mean and divides by the deviation, comes"),
    ],
)
def test_it_holds_for_every_model_with_a_vocabulary(name: str, said: str) -> None:
    app = open_page(TITLE, sentence="Two children play with a red ball.", model=name)
    assert lines(app, "error") == []
    assert any(said in line for line in captions(app))
    (bars,) = chart(app, "nearest-cosine").data
    assert numbers(bars["x"])[0] == pytest.approx(1)
    first = chart(app, "nearest-cosine").layout["yaxis"]["ticktext"][0]
    assert first == "children", "the longest word, not a special token"


@pytest.mark.parametrize("tied", [True, False])
def test_what_is_said_of_the_table_follows_the_config(tied: bool, shelf: Path) -> None:
    tiny_checkpoint(shelf / "tiny", tied_embeddings=tied, norm="rms", norm_placement="pre")
    app = open_page(TITLE, sentence=SENTENCE)
    (line,) = [line for line in captions(app) if "unembedding" in line]
    assert ("(tied)" in line) == tied
    assert "RMSNorm" in line
    assert checkpoint.load("tiny").config.tied_embeddings == tied


def test_names_tell_tokens_with_and_without_a_space_apart() -> None:
    assert token_names([" though", "though", ".", "\\xef"]) == ["though", "…though", ".", "\\xef"]
    assert token_names(["a", "b", " "]) == ["a", "b", "␣"], "where no word carries a space"


def test_the_question_s_answer_is_a_longer_vector_of_the_same_direction() -> None:
    app = open_page(TITLE, sentence=TOM, a_x="2", a_y="1.5", b_x="2", b_y="1.5", b_times="2")
    (link,) = [e.proto.body for e in app.get("html") if "hl-question" in e.proto.body]
    assert "b_times=2" in link
    table = tables_shown(app)[0]["a and 2 · b"]
    assert float(table["dot product a · b"]) == 12.5 > 6.25
    assert float(table["cosine"]) == 1
