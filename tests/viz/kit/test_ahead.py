"""Protects what is drawn before the page runs: a typed text, once, unless Python has said more."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.viz.builders import stories_trace
from tests.viz.harness import as_sent, rest
from viz.kit.part import Part, answer
from viz.kit.parts.sentence_box import Said, sentence_part
from viz.kit.parts.strip import at, strip_part
from viz.labels import token_labels

TEXT = "go go"
HARNESS = """async () => {
    const {PartHost} = await import('/kit/hosts/streamlit.js');
    globalThis.open = (name, data) => {
        const root = document.body.appendChild(document.createElement('div'));
        root.className = 'hl-live';
        root.id = name;
        const send = message => sent.push(message);
        const host = globalThis[name] = new PartHost(root, {send});
        host.receive(data);
        return host.opened;
    };
    globalThis.close = name => { globalThis[name].destroy(); globalThis[name].root.remove(); };
}"""


class Nobody:
    """Stands for Python in the box: the test answers itself."""

    def more(self, asked: Mapping[str, Any]) -> Mapping[str, Any]:
        raise AssertionError(f"the test answers, not this: {asked}")


def map_of(text: str) -> Part:
    """The map above the page."""
    ways = {"tokens": "Tokens", "layer": "Attention"}
    return at(strip_part(stories_trace(text)), ways, "layer", "decoder.attn.0")


def answered(text: str) -> bytes:
    """What Python answers: what the map is told of a text."""
    part = map_of(text)

    class Answers:
        def more(self, asked: Mapping[str, Any]) -> Mapping[str, Any]:
            told = {"map": part.told_of_run}
            return {"parts": told, "arrays": part.first_pieces(), "count": f"{text}!"}

    return answer(Answers(), {})


@pytest.fixture
def held(bare: Page) -> Iterator[list[Route]]:
    """Questions that wait for an answer; the box and the map of a text are on the page."""
    questions: list[Route] = []
    bare.route("**/kit/answers/**", lambda route: questions.append(route))
    bare.evaluate("void (globalThis.sent = [])")
    box = as_sent(sentence_part(Said(TEXT), has_caret=False, ahead=Nobody()), key="box", asks="me")
    bare.evaluate("data => open('box', data)", box)
    bare.evaluate("data => open('map', data)", as_sent(map_of(TEXT), key="map"))
    expect(tokens(bare)).to_have_text(token_labels(stories_trace(TEXT).tokens))
    # The page does not run by itself after a while, however slow this machine is.
    bare.evaluate("void (box.model.conversation.lifetime = {timeout: () => () => {}})")
    yield questions
    bare.evaluate("['box', 'map'].forEach(close), delete document.documentElement.dataset.ahead")
    bare.unroute("**/kit/answers/**")


def tokens(page: Page) -> Any:  # noqa: ANN401
    """The words of the map."""
    return page.locator("#map .hl-strip > *")


def ask(page: Page, held: list[Route], text: str) -> Route:
    """Type a text and press Enter; the question that waits for its answer."""
    n = len(held)
    page.get_by_label("Sentence").fill(text)
    page.keyboard.press("Enter")
    while len(held) == n:
        rest(page, 1)
    return held[-1]


def is_ahead(page: Page) -> bool:
    return page.evaluate("'ahead' in document.documentElement.dataset")


def test_a_typed_text_is_drawn_before_python_hears_of_it(bare: Page, held: list[Route]) -> None:
    """Asked once, with what is chosen in each part; what Python says then draws nothing again."""
    question = ask(bare, held, "go home")
    assert question.request.post_data_json == {
        "sentence": "go home",
        "settings": {"box": {**Said("go home")._asdict(), "before": [], "begun": []}, "map": {}},
    }
    assert bare.evaluate("sent") == [], "the page does not run beside it"
    assert not is_ahead(bare)
    bare.keyboard.press("Enter")
    rest(bare, 200)
    assert len(held) == 1, "and not asked again"
    question.fulfill(body=answered("go home"))
    expect(tokens(bare)).to_have_text(token_labels(stories_trace("go home").tokens))
    bare.wait_for_function("sent.length === 1")
    assert bare.evaluate("sent[0].changes") == {"sentence": "go home"}
    assert is_ahead(bare), "the badge is of the run before"
    line = bare.evaluate_handle("document.querySelector('#map nav')")
    bare.evaluate("data => map.receive(data)", as_sent(map_of("go home"), key="map"))
    assert not is_ahead(bare)
    assert bare.evaluate("line => line === document.querySelector('#map nav')", line)


def test_what_python_has_said_meanwhile_stays(bare: Page, held: list[Route]) -> None:
    question = ask(bare, held, "go home")
    bare.evaluate("data => map.receive(data)", as_sent(map_of("a dog"), key="map"))
    said = token_labels(stories_trace("a dog").tokens)
    expect(tokens(bare)).to_have_text(said)
    question.fulfill(body=answered("go home"))
    bare.wait_for_function("sent.length === 1")
    expect(tokens(bare)).to_have_text(said)
    assert not is_ahead(bare)


def test_an_answer_to_a_text_that_is_another_by_now_is_let_go(
    bare: Page, held: list[Route]
) -> None:
    first, second = ask(bare, held, "go home"), ask(bare, held, "go homes")
    first.fulfill(body=answered("go home"))
    second.fulfill(body=answered("go homes"))
    expect(tokens(bare)).to_have_text(token_labels(stories_trace("go homes").tokens))
    bare.wait_for_function("sent.length === 1")
    assert bare.evaluate("sent[0].changes") == {"sentence": "go homes"}


@pytest.mark.parametrize("status", [200, 204])
def test_what_is_not_answered_is_left_to_the_page(
    bare: Page, held: list[Route], status: int
) -> None:
    """Of a text that is refused, or of a page that has gone, nothing is drawn; Python hears it."""
    question = ask(bare, held, "go home")
    body = b'{"arrays": {}}\n' if status == 200 else b""
    question.fulfill(status=status, body=body)
    bare.wait_for_function("sent.length === 1")
    expect(tokens(bare)).to_have_text(token_labels(stories_trace(TEXT).tokens))
    assert not is_ahead(bare)
