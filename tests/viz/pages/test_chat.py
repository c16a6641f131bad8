"""Protects chats on the pages: what is asked, what is read, what an address carries, bad ones."""

import json
import re
from pathlib import Path
from urllib.parse import parse_qsl

import pytest
from streamlit.testing.v1 import AppTest

from model.given import Chat, Turn
from model.sources.places import WHERE
from tests.model.adopted.families import CHATML, saved_with_chats
from tests.model.builders import edit_json
from tests.viz.apps import (
    address_of,
    box_of,
    button,
    captions,
    chosen,
    control,
    faultless,
    lines,
    open_page,
    tell,
)
from tests.viz.builders import live_data
from tests.viz.pages.test_any_model import OF_DECODERS
from viz import runs
from viz.frame.box import QUESTION
from viz.pages import alive

MODEL = "some-chat"
BALL, DOG = Turn("user", "the ball"), Turn("system", "a dog")


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shelf")
    saved_with_chats(folder / MODEL, max_position_embeddings=64)
    for name, template in REFUSING.items():
        saved_with_chats(folder / name, template, max_position_embeddings=64)
    return folder


@pytest.fixture(autouse=True)
def _shelved(shelf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(WHERE, str(shelf))


REFUSING = {
    "refuses": "{{ raise_exception('Roles must alternate') }}",
    "endless": "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
}


def ids_of(*turns: Turn, answer: tuple[int, ...] = ()) -> list[int]:
    """What the model of these tests is given of a chat."""
    return runs.tokenizer(runs.handle_of(MODEL, "cpu")).encode(Chat(turns, answer))


def n_tokens(app: AppTest) -> int:
    """How many tokens the page says it shows."""
    (count,) = (x.proto.body for x in app.get("html") if "hl-count" in x.proto.body)
    return int(re.findall(r">(\d+) /", count)[0])


@pytest.mark.parametrize("page", OF_DECODERS)
def test_every_page_of_a_decoder_shows_a_chat(page: str) -> None:
    app = faultless(open_page(page, model=MODEL, sentence=BALL.text, system=DOG.text))
    assert control(app, "model") == MODEL
    assert n_tokens(app) == len(ids_of(DOG, BALL))


def test_a_chat_comes_first_and_asks_until_something_is_asked() -> None:
    app = faultless(open_page("Attention", model=MODEL))
    assert n_tokens(app) == len(ids_of(Turn("user", QUESTION)))
    assert box_of(app)["settings"]["read"] == "chat"
    assert [way["name"] for way in box_of(app)["spec"]["ways"]] == ["chat", "text"]
    assert "read" not in address_of(app)
    other = faultless(open_page("Attention"))  # of a model without a template
    assert box_of(other)["spec"]["ways"] == [] and box_of(other)["settings"]["read"] == "text"


def test_an_address_carries_all_that_is_said_and_an_answer_that_belongs_to_it() -> None:
    before, answer = [["user", "red"], ["assistant", "a ball"]], ids_of(BALL)[3:6]
    query = {
        "sentence": BALL.text,
        "system": DOG.text,
        "before": json.dumps(before, separators=(",", ":")),
        "begun": "-".join(map(str, answer)),
    }
    app = faultless(open_page("Attention", model=MODEL, **query))
    turns = (DOG, *(Turn(*turn) for turn in before), BALL)
    assert n_tokens(app) == len(ids_of(*turns, answer=tuple(answer)))
    assert query.items() <= address_of(app).items()
    home = open_page("Home", model=MODEL, **query)
    opens = live_data(home, "home")["spec"]["columns"][0]["opens"]
    assert query.items() <= dict(parse_qsl(opens.removeprefix("?"))).items()
    app = faultless(chosen(app, sentence="a red ball"))
    assert "begun" not in address_of(app), "it was the answer to something else"
    app = faultless(chosen(app, read="text"))
    assert {"system", "before", "begun"}.isdisjoint(address_of(app))


def test_a_token_that_was_drawn_begins_the_answer_and_an_end_ends_the_turn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app = faultless(open_page("Home", model=MODEL, sentence=BALL.text))
    n, handle = len(ids_of(BALL)), runs.handle_of(MODEL, "cpu")
    taken = []
    monkeypatch.setattr(alive.component, "show", lambda part, **kept: taken.append(kept))
    for token in (7, max(runs.end_ids(handle))):
        app.run()
        tell(app, {"appended": [n, token]}, monkeypatch, taken[-1]["on_change"])
        n += 1
    assert address_of(app)["begun"] == "7"
    assert box_of(app)["spec"]["answer"] == runs.decode(handle, [7])
    monkeypatch.undo()


SPELLED = "a <|im_start|> b"


def test_a_special_token_that_is_spelled_is_text_until_it_is_asked_for() -> None:
    app = faultless(open_page("Tokens", model=MODEL, sentence=SPELLED, read="text"))
    n = n_tokens(app)
    assert "“<|im_start|>” is read as text." in captions(app)
    app = faultless(button(app, "Read it as the one token it names").click().run())
    assert n_tokens(app) < n and address_of(app)["read"] == "markup"
    assert "“<|im_start|>” is read as the one token it names." in captions(app)
    assert control(button(app, "Read it as text").click().run(), "read") == "text"
    chat = open_page("Tokens", model=MODEL, sentence=SPELLED)
    assert "“<|im_start|>” is read as text." in captions(chat)
    assert not any("Read it" in one.label for one in chat.button), "a chat keeps it text"


LEFT = "The chat template leaves out or rewrites what the system says in 1 of 2 turns"


def test_what_a_template_leaves_out_is_said(shelf: Path) -> None:
    saved_with_chats(shelf / "deaf", CHATML.replace("%}", "if m.role == 'user' %}", 1))
    app = faultless(open_page("Attention", model="deaf", sentence=BALL.text, system=DOG.text))
    assert any(line.startswith(LEFT) for line in lines(app, "note"))
    app = open_page("Attention", model="deaf", sentence=BALL.text)
    assert not any("leaves out" in line for line in lines(app, "note"))


def test_a_begun_answer_of_a_model_that_cannot_be_opened_leaves_the_box(shelf: Path) -> None:
    folder = saved_with_chats(shelf / "broken")
    (folder / "model.safetensors").write_bytes(b"junk")
    app = open_page("Attention", model="broken", sentence=BALL.text, begun="7-8")
    assert len(lines(app, "error")) == 1
    assert box_of(app)["spec"]["answer"] == "…"


@pytest.mark.parametrize("template", ["", 5, True, [{"name": "default", "template": 5}]])
def test_a_template_that_is_none_makes_no_chat(shelf: Path, template: object) -> None:
    folder = saved_with_chats(shelf / "none")
    (folder / "chat_template.jinja").unlink()
    edit_json(folder / "tokenizer_config.json", lambda x: x.update(chat_template=template))
    app = faultless(open_page("Attention", model="none", sentence=BALL.text))
    assert box_of(app)["settings"]["read"] == "text"


BAD = [
    ({"model": "refuses"}, "its chat template refuses this: Roles must alternate"),
    ({"model": "endless"}, "its chat template does not end within 2 seconds of computing"),
    ({"before": '[["user",""]]'}, "turn 0, of the user, is empty; write it or leave it"),
    ({"sentence": "the ball " * 99}, "and 64 fit; shorten turn 0, which has"),
    ({"begun": "99999"}, "token 99999 of the answer is not among the"),
    ({"begun": "-".join(["7"] * 60)}, "and 64 fit; begin a new answer"),
]


@pytest.mark.parametrize(("query", "line"), BAD, ids=lambda x: str(x)[:30])
def test_a_bad_chat_is_one_line_and_the_box_stays(query: dict[str, str], line: str) -> None:
    app = open_page("Attention", **{"model": MODEL, "sentence": BALL.text} | query)
    (said,) = lines(app, "error")
    assert line in said
    assert box_of(app)["settings"]["read"] == "chat"


def test_turns_that_are_none_are_let_go_in_a_line() -> None:
    app = faultless(open_page("Attention", model=MODEL, sentence=BALL.text, before="[[1]]"))
    assert n_tokens(app) == len(ids_of(BALL))
    assert any(line.startswith("Turns before [[1]] are not such as") for line in lines(app, "note"))


def test_of_two_templates_one_is_read_and_a_word_says_which(shelf: Path) -> None:
    folder = saved_with_chats(shelf / "two-templates")
    edit_json(folder / "tokenizer_config.json", lambda x: x.update(chat_template="{{ 1 }}"))
    app = faultless(open_page("Attention", model="two-templates", sentence=BALL.text))
    said = "tokenizer_config.json has a chat template too; chat_template.jinja’s is read"
    assert any(said in line for line in lines(app, "note"))
    assert n_tokens(app) == len(ids_of(BALL))


def test_what_was_written_is_kept_as_the_answer_and_a_reply_can_follow() -> None:
    app = faultless(open_page("Next token", model=MODEL, sentence=BALL.text, written="3"))
    assert box_of(app)["spec"]["answer"] == ""
    app = button(app, "Keep as answer").click().run()
    begun = [int(i) for i in address_of(app)["begun"].split("-")]
    assert n_tokens(app) == len(ids_of(BALL, answer=tuple(begun)))
    assert len(begun) <= 3
    assert box_of(app)["spec"]["answer"] == runs.decode(runs.handle_of(MODEL, "cpu"), begun)
    assert faultless(open_page("Next token")).button, "of a text there is nothing to keep"
    assert not any("Keep" in one.label for one in open_page("Next token").button)


def test_a_prompt_of_beams_has_all_its_special_tokens() -> None:
    app = faultless(open_page("Beam search", model=MODEL, sentence=BALL.text))
    (shown, *_) = (x.proto.body for x in app.get("html") if "hl-written" in x.proto.body)
    assert shown.count("&lt;|im_end|&gt;") == 1
