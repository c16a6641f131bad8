"""Protects the page Patching: its grids are the model's, its pairs hold, a refusal is a line."""

import re
from functools import cache
from html import unescape
from pathlib import Path
from urllib.parse import parse_qs

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model.analysis import patching
from model.analysis.branching import logits_at
from model.analysis.exact import spearman
from model.analysis.metrics import Metric, telling_tokens
from model.analysis.patching import GRIDS, Pair, begin
from tests.model.builders import SENTENCE, tiny_checkpoint
from tests.viz.apps import (
    button,
    chart,
    chosen,
    facts,
    faultless,
    finished,
    inspected,
    lines,
    open_page,
    query_of,
    tables_shown,
    z,
)
from tests.viz.builders import stories
from viz.digits import NONE, digits
from viz.frame import gradual
from viz.frame import second as asked
from viz.frame.second import Pair as Example
from viz.frame.second import pairs
from viz.pages.experiments import patching as page

GIRL = "The girl lost the ball, so"
KEYS = {name: f"patched-{name.replace('_', '-')}" for name in GRIDS}


def opened(**query: str) -> AppTest:
    """The page, finished and without an error; every check passes."""
    return faultless(finished(open_page("Patching", **query)))


@cache
def patched(first: str, second: str, kind: str = "difference") -> tuple[dict, dict, Pair]:
    """Shares of all grids, and their estimates, computed beside the page."""
    model, ids = stories().decoder, [stories().tokenizer.encode(text) for text in (first, second)]
    logits = [logits_at(model, row, -1)[0].cpu().numpy() for row in ids]
    pair = Pair(model, ids[1], ids[0], Metric(kind, len(ids[0]) - 1, *telling_tokens(*logits)))
    found = begin(pair)
    found.filling.advance(1e9)
    restored = found.kept.restored
    return (
        {name: restored(found.exact[name]) for name in GRIDS},
        {name: restored(found.estimate[name]) for name in GRIDS},
        pair,
    )


def test_every_grid_is_the_models_and_so_is_its_estimate() -> None:
    app = opened(sentence=GIRL)
    exact, estimate, pair = patched(GIRL, "The boy lost the ball, so")
    for name in GRIDS:
        (cells,) = chart(app, KEYS[name]).data
        np.testing.assert_allclose(z(cells), exact[name], atol=1e-5)
    *dots, _ = chart(app, "patching-estimate").data
    assert len(dots) == len(GRIDS)
    (table,) = tables_shown(app)
    for name in GRIDS:
        rho = table["rank correlation ρ"][page.TITLES[name]]
        assert float(rho) == pytest.approx(spearman(exact[name], estimate[name]), abs=2e-3)
    assert any("All 174 are exact. Rank correlation ρ" in line for line in lines(app, "aside"))
    shown = facts(app)
    kept = begin(pair).kept
    assert shown["logit of “she” − logit of “he”, first sentence"] == digits(kept.of_source)
    assert shown["logit of “she” − logit of “he”, second sentence"] == digits(kept.of_base)
    layer, head = np.unravel_index(np.abs(exact["z"]).argmax(), exact["z"].shape)
    assert shown["fraction recovered"] == digits(float(exact["z"][layer, head]), 3)
    assert f"L{layer} H{head}" in [heading.value for heading in app.subheader]


def test_a_cell_that_is_clicked_is_in_the_address_and_says_what_it_is() -> None:
    app = chosen(opened(sentence=GIRL), patch="attn_out.5.6")
    assert query_of(app)["patch"] == ["attn_out.5.6"]
    exact, _, _ = patched(GIRL, "The boy lost the ball, so")
    assert facts(app)["fraction recovered"] == digits(float(exact["attn_out"][5, 6]), 3)
    assert "L5 attention, position 6" in [heading.value for heading in app.subheader]
    frames = chart(app, "patched-attn-out").layout["shapes"]
    assert [(frame["x0"], frame["y0"]) for frame in frames] == [(5.5, 4.5)]


def test_back_the_other_way_the_second_sentences_values_are_put_into_the_first() -> None:
    app = opened(sentence=GIRL, restore="second")
    exact, _, _ = patched("The boy lost the ball, so", GIRL)
    (cells,) = chart(app, "patched-resid-pre").data
    np.testing.assert_allclose(z(cells), exact["resid_pre"], atol=1e-5)
    assert chart(app, "patched-resid-pre").layout["xaxis"]["ticktext"][1] == "girl"


OF_STORIES = [pair for pair in pairs() if pair.model == "stories"]
OF_BLANK = [pair for pair in pairs() if pair.model == "blank"]
OF_TRANSLATE = [pair for pair in pairs() if pair.model == "translate"]


@pytest.mark.parametrize("example", OF_BLANK, ids=lambda example: example.title)
def test_what_stands_in_a_blank_turns_with_a_word_and_moves_to_it(example: Example) -> None:
    app = opened(model="blank", sentence=example.clean, blanks=str(example.blank))
    assert chosen_text(app) == example.corrupt
    stream = z(chart(app, "patched-resid-pre").data[0])
    assert stream[0].argmax() == example.subject
    assert stream[0, example.subject] >= 0.9
    moves = int(re.search(r"before L(\d)", example.shows)[1])
    most = stream.argmax(axis=1).tolist()
    assert most == [example.subject] * moves + [example.blank] * (6 - moves)
    own, other = (value for name, value in facts(app).items() if "sentence" in name)
    assert float(own) > 0 > float(other.replace("−", "-")), "the sign of the difference turns"


def test_every_pair_is_offered_with_its_model_its_texts_and_its_blank() -> None:
    app = open_page("Patching", sentence="One day a dog ran")
    (ways,) = (x.proto.body for x in app.get("html") if "hl-way" in x.proto.body)
    links = [parse_qs(unescape(x)) for x in re.findall(r'href="\?([^"]*)"', ways)]
    assert [(x["model"], x["second"]) for x in links] == [
        ([one.model], [one.corrupt]) for one in pairs()
    ]
    blanks = [x["blanks"] for x in links if x["model"] == ["blank"]]
    assert blanks == [[str(example.blank)] for example in OF_BLANK]
    example = OF_BLANK[0]
    link = next(x for x in links if x["second"] == [example.corrupt])
    assert link["sentence"] == [example.clean]


@pytest.mark.parametrize("example", OF_TRANSLATE, ids=lambda example: example.title)
def test_a_word_of_the_source_turns_the_translation_and_brings_it_back(example: Example) -> None:
    app = opened(model="translate", source=example.clean)
    assert chosen_text(app) == example.corrupt
    stream = z(chart(app, "patched-resid-pre").data[0])
    assert stream[0].argmax() == example.subject
    assert stream[0, example.subject] >= 0.9
    if "moves" in example.shows:
        assert stream[-1].argmax() != example.subject
    own, other = (value for name, value in facts(app).items() if "sentence" in name)
    assert float(own) > 0 > float(other.replace("−", "-")), "the sign of the difference turns"


def chosen_text(app: AppTest) -> str:
    """What stands in the second box."""
    return next(box.value for box in app.text_input if box.label == "Second sentence")


def test_a_class_is_asked_for_of_a_picture() -> None:
    app = faultless(open_page("Patching", model="digits", digit="0", other_digit="1"))
    stream = z(chart(app, "patched-resid-pre").data[0])
    assert stream.shape == (6, 50)
    assert stream[0, 0] == 0, "the class token is the same in both"


@pytest.mark.parametrize("example", OF_STORIES, ids=lambda example: example.title)
def test_each_pair_turns_the_answer_and_its_subject_brings_it_back(example: Example) -> None:
    tokenizer, model = stories().tokenizer, stories().decoder
    first, second = tokenizer.encode(example.clean), tokenizer.encode(example.corrupt)
    assert len(first) == len(second)
    tops = [int(logits_at(model, ids, -1)[0].argmax()) for ids in (first, second)]
    assert tops[0] != tops[1]
    if example not in (OF_STORIES[0], OF_STORIES[-1]) and "L3 H4" not in example.shows:
        return
    exact, _, pair = patched(example.clean, example.corrupt)
    kept = begin(pair).kept
    assert kept.of_source > 0 > kept.of_base, "the sign of the difference turns"
    stream = exact["resid_pre"]
    assert stream[0].argmax() == example.subject
    assert stream[0, example.subject] >= 0.6
    assert stream[5, len(first) - 1] >= 0.5, "at the end it has moved to the last token"
    if "L3 H4" in example.shows:
        assert np.unravel_index(exact["z"].argmax(), exact["z"].shape) == (3, 4)
        assert exact["z"][3, 4] >= 0.9


def test_the_same_sentence_twice_and_no_second_one_say_so() -> None:
    app = open_page("Patching", sentence=GIRL, second=GIRL)
    assert lines(app, "note") == [
        "Both sentences give the same number, but for rounding: there is nothing to recover. "
        "Change the second sentence."
    ]
    app = open_page("Patching", sentence=GIRL, second=" ")
    assert lines(app, "note") == [f"{asked.ASKS} {page.PROMISE}"]


def test_estimates_are_there_at_once_and_a_click_makes_one_exact(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(gradual, "MOST_UNASKED", 6)  # a long sentence waits to be asked
    exact, estimate, _ = patched(GIRL, "The boy lost the ball, so")
    app = open_page("Patching", sentence=GIRL)
    assert [found.label for found in app.button].count("Compute") == 1
    line = next(said for said in lines(app, "aside") if said.startswith("Dotted: estimates by"))
    assert re.search(r"; \d+ of 174 exact\. A click computes one\.$", line)
    assert chart(app, "patched-attn-out").layout["yaxis"]["autorange"] == "reversed"
    cells, dots = chart(app, "patched-attn-out").data
    np.testing.assert_allclose(z(cells)[1:], estimate["attn_out"][1:], atol=1e-5)
    at = ("L5", cells["x"][6])
    assert at in zip(dots["y"], dots["x"], strict=True)
    assert cells["customdata"][5][6][1] == "estimate"
    assert facts(app)["fraction recovered"] == NONE
    app = chosen(app, patch="attn_out.5.6")
    assert facts(app)["fraction recovered"] == digits(float(exact["attn_out"][5, 6]), 3)
    cells, dots = chart(app, "patched-attn-out").data
    assert z(cells)[5, 6] == pytest.approx(exact["attn_out"][5, 6], abs=1e-5)
    assert cells["customdata"][5][6][1] == "exact"
    assert at not in zip(dots["y"], dots["x"], strict=True)
    assert "about" not in line
    button(app, "Compute").click().run()
    assert button(app, "Stop")
    finished(app)
    assert len(chart(app, "patched-attn-out").data) == 1


def test_other_models_and_one_token_hold(shelf: Path) -> None:
    tiny_checkpoint(shelf / "stories")
    app = finished(open_page("Patching", sentence=SENTENCE, second=SENTENCE.replace("t", "a")))
    assert lines(app, "error") == []
    assert lines(open_page("Patching", sentence="a"), "error") == []


def test_the_checks_are_in_the_inspector_and_a_fault_turns_them_red(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app = inspected(opened(sentence=GIRL), "check")
    shares = z(chart(app, KEYS["z"]).data[0])
    layer, head = np.unravel_index(shares.argmax(), shares.shape)
    (answer,) = (line for line in lines(app, "note") if line.startswith("Most of the answer"))
    assert z(chart(app, KEYS["resid_pre"]).data[0]).argmax(axis=1).tolist() == [1] * 5 + [6]
    assert "recovered before L0 to L4 at “boy”, before L5 at “so”. " in answer
    assert f"L{layer} H{head} alone recovers most: {digits(shares.max(), 2)} of it." in answer
    assert any("patching what both inputs share changes nothing" in x.value for x in app.caption)
    right = patching.run_both

    def wrong(pair: Pair) -> object:
        found = right(pair)
        values = found.source
        values["decoder.blocks.0.resid_pre"] = values["decoder.blocks.0.resid_pre"].flip(-1)
        return found

    monkeypatch.setattr(patching, "run_both", wrong)
    app = finished(open_page("Patching", sentence=GIRL))
    assert any(
        line.startswith("Check FAILED: before the first layer") for line in lines(app, "error")
    )
