"""Protects the page Encoder: what is hidden is, its numbers are the model's, and it says so."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model.analysis.blanks import predicted_in_turn
from model.analysis.probabilities import next_token_losses
from model.capture import capture
from model.data.tokenizer import MASK
from model.sources import checkpoint
from model.sources.checkpoint import Checkpoint
from tests.model.analysis.test_blanks import encoder_checkpoint
from tests.model.builders import SENTENCE, softmax, tiny_checkpoint, tiny_encoder, tiny_tokenizer
from tests.viz.apps import (
    chart,
    facts,
    faultless,
    lines,
    open_page,
    query_of,
)
from tests.viz.builders import csv_rows, live_data, numbers
from viz.digits import digits
from viz.frame.blanks import first_blank
from viz.frame.examples import examples
from viz.live import store
from viz.pages.architectures import encoder


@pytest.fixture
def model(shelf: Path) -> Checkpoint:
    """An encoder, small and untrained, beside a decoder of the same tokens."""
    tiny_checkpoint(shelf / "stories", max_seq_len=64)
    return encoder_checkpoint(shelf / "blank")


def opened(**query: str) -> AppTest:
    """The page, which must have no error; every check passes."""
    return faultless(open_page("Masked language model", **{"sentence": SENTENCE} | query))


def logits_of(model: Checkpoint, blanks: list[int], *, is_causal: bool = False) -> np.ndarray:
    """What the model says of the sentence with tokens hidden, (T, V)."""
    ids, hiding = model.tokenizer.encode(SENTENCE), model.tokenizer.id_of(MASK)
    given = [hiding if place in blanks else i for place, i in enumerate(ids)]
    mask = np.tri(len(ids), dtype=bool) if is_causal else None
    return capture(model.model, given, model.tokenizer.token_strings(given), mask).logits


@pytest.fixture
def tables(monkeypatch: pytest.MonkeyPatch) -> dict[str, Callable[[], bytes]]:
    """What the page opened last offers as CSV."""
    kept: dict[str, Callable[[], bytes]] = {}
    monkeypatch.setattr(encoder.inspector, "export", lambda view, found: kept.update(found))
    return kept


def rows(make: Callable[[], bytes]) -> list[dict[str, str]]:
    """The rows of a table by their heads."""
    head, *found = csv_rows(make())
    return [dict(zip(head, row, strict=True)) for row in found]


def arrays(app: AppTest) -> dict[str, np.ndarray]:
    """What the browser may load of the page's part."""
    found = {name: store.array(it["id"]) for name, it in live_data(app)["arrays"].items()}
    return {name: array for name, array in found.items() if array is not None}


@pytest.mark.parametrize("is_causal", [False, True])
def test_each_blank_has_what_the_model_predicts_there(
    model: Checkpoint, is_causal: bool, tables: dict[str, Callable[[], bytes]]
) -> None:
    app = opened(blanks="2,7", blank="2", causal="yes" if is_causal else "no")
    spec = live_data(app)["spec"]
    logits = logits_of(model, [2, 7], is_causal=is_causal)
    probs = softmax(logits.astype(np.float64))
    ids = model.tokenizer.encode(SENTENCE)
    assert [(row, i) for row, _, i in spec["hidden"]] == [(2, ids[2]), (7, ids[7])]
    assert (spec["asked"], spec["plays"]) == (2, False)
    assert [i for i, label in enumerate(spec["labels"]) if label == MASK] == [2, 7]
    np.testing.assert_allclose(arrays(app)["logits"], logits, rtol=1e-4, atol=1e-5)
    for row in rows(tables["Blanks"]):
        place = int(row["place"])
        assert float(row["prob"]) == pytest.approx(probs[place, ids[place]], abs=1e-6)
        assert float(row["nats"]) == pytest.approx(-np.log(probs[place, ids[place]]), abs=1e-5)
        assert int(row["rank"]) == int((probs[place] > probs[place, ids[place]]).sum())
        assert float(row["best_prob"]) == pytest.approx(probs[place].max(), abs=1e-6)
        best = model.tokenizer.token_strings([int(probs[place].argmax())])[0]
        assert row["best"].removeprefix("…") == best.strip()


def test_both_contexts_and_the_mask_are_compared(model: Checkpoint, shelf: Path) -> None:
    app = opened()
    ids = np.array(model.tokenizer.encode(SENTENCE))
    decoder = checkpoint.load(shelf / "stories", "cpu")
    n = len(ids)
    own, other = (numbers(trace["y"]) for trace in chart(app, "both-sides").data)
    hiding = model.tokenizer.id_of(MASK)
    expected = predicted_in_turn(model.model, ids.tolist(), hiding, n=n).losses
    np.testing.assert_allclose(own, expected, rtol=1e-4)
    before = next_token_losses(decoder.trace(SENTENCE).trace.logits[:n], ids)
    np.testing.assert_allclose(other, before, rtol=1e-4)
    free, masked = (numbers(trace["y"]) for trace in chart(app, "under-the-mask").data)
    np.testing.assert_array_equal(free, own)
    assert (masked[:-1] != own[:-1]).all()
    shown = facts(app)
    assert shown[f"pseudo-perplexity of blank, {n} tokens"] == digits(float(np.exp(own.mean())), 2)
    gained = float(other.sum() - own[1:].sum())
    assert shown["stories minus blank"] == f"{digits(gained, 2)} nats"
    assert any("can be negative for that reason alone" in body for body in lines(app, "aside"))


def test_the_mask_says_what_it_costs_the_blanks(model: Checkpoint) -> None:
    assert not any("hidden" in name for name in facts(opened(blanks="2,7")))
    shown = facts(opened(blanks="2,7", causal="yes"))
    ids = model.tokenizer.encode(SENTENCE)
    for name, is_causal in (("no mask", False), ("causal mask", True)):
        probs = softmax(logits_of(model, [2, 7], is_causal=is_causal).astype(np.float64))
        loss = float(-np.log(probs[[2, 7], [ids[2], ids[7]]]).mean())
        assert shown[f"mean of the hidden tokens, {name}"] == f"{digits(loss, 3)} nats"


def test_every_token_hidden_and_none_hidden_both_work(model: Checkpoint) -> None:
    n = len(model.tokenizer.encode(SENTENCE))
    app = opened(blanks=",".join(map(str, range(n))))
    spec = live_data(app)["spec"]
    assert len(spec["hidden"]) == n
    assert set(spec["labels"]) == {MASK}
    assert any("Every token is hidden" in body for body in lines(app, "aside"))
    app = opened(blanks="none")
    assert live_data(app)["spec"]["hidden"] == []
    assert any("Nothing is hidden" in body for body in lines(app, "aside"))


def test_a_blank_is_chosen_for_who_chose_none(model: Checkpoint) -> None:
    """The longest whole word of the first half that is not the first; else the middle."""
    assert first_blank(("The", " animal", " didn", "'t", " cross", " the", " street", ".")) == (1,)
    assert first_blank(("a", " un", "kind", " cat", " sat", " on", " it")) == (3,)
    assert first_blank(("x",)) == (0,)
    assert first_blank(("x", "y", "z")) == (1,)
    sent = live_data(opened())
    assert sent["settings"]["blanks"] == [len(SENTENCE) // 2]
    assert "blanks" not in query_of(opened())


def test_the_page_begins_with_a_word_that_is_found_and_offers_a_harder_one(
    tables: dict[str, Callable[[], bytes]],
) -> None:
    """With the shipped weights, on the first example: the model's own first guess."""
    app = faultless(open_page("Masked language model"))
    (row,) = rows(tables["Blanks"])
    assert (row["label"], row["rank"]) == ("ball", "0")
    (offered,) = [body for body in lines(app, "findings") if "harder word" in body]
    assert "Sam" in offered
    app = opened(sentence=examples()[1].sentence, blanks="1")
    (row,) = rows(tables["Blanks"])
    assert row["label"] == "animal" and int(row["rank"]) > 0
    assert not any("harder word" in body for body in lines(app, "findings"))


@pytest.mark.parametrize(("query", "expected"), [({"blanks": "2,7"}, [2, 7]), ({}, [])])
def test_on_another_page_what_was_hidden_stays_hidden(
    model: Checkpoint, query: dict[str, str], expected: list[int]
) -> None:
    app = open_page("Attention", sentence=SENTENCE, model="blank", **query)
    labels = live_data(app)["streams"]["encoder"]["labels"]
    assert [i for i, label in enumerate(labels) if label == MASK] == expected


def test_a_long_text_says_how_far_it_is_hidden_in_turn(
    model: Checkpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("viz.runs.blanks.MOST_IN_TURN", 5)
    app = opened()
    n = len(model.tokenizer.encode(SENTENCE))
    said = f"The sentence has {n} tokens: the first 5 are hidden in turn."
    assert any(said in body for body in lines(app, "aside"))
    assert [len(numbers(trace["y"])) for trace in chart(app, "both-sides").data] == [5, 4]


def test_without_a_decoder_of_the_same_tokens_one_line_says_so(shelf: Path) -> None:
    encoder_checkpoint(shelf / "blank")
    app = opened()
    line = "No stories with the same tokens is here to compare this sentence with."
    assert lines(app, "note").count(line) == 1
    assert len(chart(app, "under-the-mask").data) == 2


def test_an_encoder_without_a_token_to_hide_with_says_so(shelf: Path) -> None:
    tokenizer = tiny_tokenizer()
    model = tiny_encoder(vocab_size=tokenizer.vocab_size, max_seq_len=64)
    checkpoint.save(shelf / "bare", model, tokenizer)
    (line,) = lines(open_page("Masked language model", sentence=SENTENCE), "error")
    assert MASK in line
