"""Protects the lesson on similarity: its figures and numbers are those of the vectors."""

from pathlib import Path

import numpy as np
import pytest

from model.sources import checkpoint
from tests.model.builders import SENTENCE, tiny_checkpoint
from tests.viz.apps import TOM, captions, chart, lesson, lines, open_page, query_of, tables_shown
from tests.viz.builders import numbers, stories, stories_trace
from viz.figures.similarity import token_names

TITLE = "Embeddings and similarity"
VECTORS = {"scene": "vectors", "vectors": "-2,1.5,0.7,4,2.5"}


def test_two_vectors_are_drawn_and_compared() -> None:
    app = open_page(TITLE, sentence=TOM, **VECTORS)
    assert lines(app, "error") == lines(app, "note") == []
    drawn = chart(app, "two-vectors").data
    assert numbers(drawn[1]["x"]).tolist() == [0, 1.75]
    (table, *_) = tables_shown(app)
    rows = ("dot product a · b", "length of a", "length of b", "cosine", "angle, degrees")
    a, b = np.array([-2, 1.5]), 2.5 * np.array([0.7, 4])
    lengths = np.linalg.norm(a), np.linalg.norm(b)
    cosine = a @ b / np.prod(lengths)
    expected = (a @ b, *lengths, cosine, np.degrees(np.arccos(cosine)))
    shown = [float(table["a and 2.5 · b"][row]) for row in rows]
    assert shown == pytest.approx(expected, abs=1e-4)
    assert float(table["a and b"][rows[0]]) == 4.6
    assert f"goes from 4.60 to 11.50, while the cosine stays at {cosine:.2f}" in lesson(app)


def test_a_vector_without_a_direction_is_said_and_drawn() -> None:
    app = open_page(TITLE, sentence=TOM, scene="vectors", vectors="0,0,1.5,2.5,1.5")
    assert "the cosine is none, since a vector of length 0 has no direction" in lesson(app)
    assert tables_shown(app)[0]["a and b"]["cosine"] == "–"
    assert numbers(chart(app, "two-vectors").data[0]["x"]).tolist() == [0, 0]


@pytest.mark.parametrize("token", [3, 4])
def test_nearest_tokens_are_those_of_the_embedding(token: int) -> None:
    app = open_page(TITLE, sentence=TOM, token=str(token), near_count="6")
    token_id = int(stories_trace(TOM).ids[token])
    table = np.asarray(stories().files.weights["embed.weight"], np.float64)
    names = token_names([stories().tokenizer.token_strings([i])[0] for i in range(4096)])
    by_dot = table @ table[token_id]
    lengths = np.linalg.norm(table, axis=1)
    by_cosine = by_dot / lengths / lengths[token_id]
    for key, values in (("nearest-cosine", by_cosine), ("nearest-dot-product", by_dot)):
        (bars,) = chart(app, key).data
        best = np.argsort(-values)[:6]
        np.testing.assert_allclose(np.sort(numbers(bars["x"])), np.sort(values[best]), rtol=1e-6)
        ids = [int(token_id) for token_id, _ in bars["customdata"]]
        assert set(ids) == set(best.tolist())
        assert chart(app, key).layout["yaxis"]["ticktext"] == [names[i] for i in ids]
    assert "near_count" in query_of(app)
    longer = lengths[np.argsort(-by_dot)[:6]].mean()
    assert f"by dot product {longer:.2f}; that of “" in lesson(app)
    assert f"is {lengths[token_id]:.2f} long, and all 4,096 are {lengths.mean():.2f}" in (
        lesson(app)
    )


def test_a_head_s_products_and_cosines_are_those_of_its_vectors() -> None:
    app = open_page(TITLE, sentence=TOM, layer="2", head="4", scene="head")
    record = stories_trace(TOM).attention[2]
    mask, products = record.mask_of(4), record.q[4] @ record.k[4].T
    lengths = [np.linalg.norm(x, axis=1) for x in (record.q[4], record.k[4])]
    for name, expected in (("products", products), ("cosines", products / np.outer(*lengths))):
        shown = numbers(chart(app, f"similar-{name}").data[0]["z"])
        assert (np.isfinite(shown) == mask).all()
        np.testing.assert_allclose(shown[mask], expected[mask], atol=1e-4)
    largest = np.where(mask, products, -np.inf).max()
    keys = f"run from {lengths[1].min():.2f} to {lengths[1].max():.2f}"
    assert f": {largest:.1f}. Where" in lesson(app) and keys in lesson(app)


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


def test_lengths_of_one_key_are_not_compared() -> None:
    assert "lengths decide" in lesson(open_page(TITLE, sentence=TOM, scene="head"))
    assert "lengths decide" not in lesson(open_page(TITLE, sentence="Tom", scene="head"))
