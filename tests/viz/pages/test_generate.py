"""Protects the Generate page: its texts are the model's, and its buttons do what they say."""

import html
import re

import pytest

from model.decoding.beam import beam_search
from model.decoding.filters import Sampling
from model.decoding.sampling import generate
from tests.viz.apps import TOM, chart, lines, open_page
from tests.viz.builders import latex_numbers, live_data, stories, stories_trace
from viz.figures.labels import token_labels, visible


@pytest.mark.parametrize("text", ["Tom had a red", "שלום 😀 <b>$x$</b>"], ids=ascii)
def test_generated_text_is_what_the_model_samples(text: str) -> None:
    app = open_page("Generate", sentence=text, seed="7", new_tokens="9", temperature="1.2")
    while "Start" in app.button[0].label or "Resume" in app.button[0].label:
        if app.button[2].disabled and len(live_data(app)["steps"]):
            break
        app.button[1].click().run()
    data = live_data(app)
    loaded, trace = stories(), stories_trace(text)
    drawn_with, end_id = Sampling(temperature=1.2, top_p=0.95, seed=7), loaded.tokenizer.end_id
    ids = trace.ids.tolist()
    steps = list(generate(loaded.model, ids, drawn_with, max_new_tokens=9, end_id=end_id))
    assert [step["token_id"] for step in data["steps"]] == [step.token_id for step in steps]
    tokens = [*trace.tokens, *loaded.tokenizer.token_strings([s.token_id for s in steps])]
    assert data["labels"] == token_labels(tokens)
    expected = loaded.tokenizer.decode([s.token_id for s in steps if s.token_id != end_id])
    body = next(e.proto.body for e in app.get("html") if "hl-written" in e.proto.body)
    prompt, written = re.findall(r"<span>(.*?)</span><mark>(.*?)</mark>", body, re.DOTALL)[0]
    assert html.unescape(written) == expected
    assert html.unescape(prompt) == text


def test_greedy_takes_the_most_likely_and_stop_keeps_the_text() -> None:
    app = open_page("Generate", sentence=TOM, mode="greedy", new_tokens="5")
    app.button[1].click().run()
    app.button[1].click().run()
    steps = live_data(app)["steps"]
    assert [step["rank"] for step in steps] == [0, 0]
    app.button[2].click().run()
    assert live_data(app)["steps"] == steps, "nothing generated is lost"
    assert app.button[0].label == "Start again"
    assert app.button[2].disabled


@pytest.mark.parametrize("width", [1, 3])
def test_beam_tree_is_the_model_s(width: int) -> None:
    app = open_page("Generate", sentence=TOM, mode="beam", beam_width=str(width), alpha="0.7")
    trace = stories_trace(TOM)
    steps = list(
        beam_search(
            stories().model,
            trace.ids.tolist(),
            beam_width=width,
            max_new_tokens=8,
            length_penalty=0.7,
            end_id=stories().tokenizer.end_id,
        )
    )
    pruned, kept, winner = chart(app, "beam").data[3:]
    n_candidates = sum(len(step.candidates) for step in steps)
    assert len(pruned["x"]) + len(kept["x"]) + len(winner["x"]) == n_candidates
    best = steps[-1].winner
    tokens = stories().tokenizer.token_strings(list(best.ids))
    assert [html.unescape(x).rstrip("…") for x in winner["text"]] == [
        visible(token)[:12].rstrip("…") for token in tokens
    ]
    assert latex_numbers(app.latex[-1].value)[-1] == pytest.approx(best.score, abs=6e-5)
    texts = [e.proto.body for e in app.get("html") if 'class="hl-written"' in e.proto.body]
    assert len(texts) == 2
    assert (texts[0] == texts[1]) or width > 1, "width 1 is greedy"


def test_no_room_to_write_on_is_one_line() -> None:
    app = open_page("Generate", sentence=300 * "word ")
    for _ in range(2):  # and pressing again is no worse
        app.button[1 if not app.button[1].disabled else 0].click().run()
        assert not app.exception
        (line,) = [*lines(app, "error"), *lines(app, "note")][-1:]
        assert "256" in line


def test_a_full_prompt_can_slide() -> None:
    app = open_page("Generate", sentence=250 * " word", full="slide", mode="greedy")
    room = stories().config.max_seq_len - len(live_data(app)["labels"])
    app.text_input(key="sentence").set_value((250 + room) * " word").run()
    app.button[1].click().run()
    assert lines(app, "error") == []
    assert len(live_data(app)["steps"]) == 1


def test_a_full_context_says_so_and_offers_to_slide() -> None:
    app = open_page("Generate", sentence=250 * " word", new_tokens="9", mode="greedy")
    room = stories().config.max_seq_len - len(live_data(app)["labels"])
    for _ in range(room):
        app.button[1].click().run()
    assert app.button[2].disabled
    assert any("256" in line and "slide" in line for line in lines(app, "note"))
