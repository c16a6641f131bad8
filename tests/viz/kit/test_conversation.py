"""Protects what a person changes in the browser: it stays until Python has it, and no longer."""

from typing import Any

import pytest
from playwright.sync_api import Page

from tests.viz.kit.gallery import Gallery

# A conversation whose rest is over when a test says so, and all that it sent.
BEGIN = """async () => {
    const {Conversation} = await import('/kit/conversation.js');
    const due = {};
    const lifetime = {timeout: (act, ms) => {
        const kind = ms < 1000 ? 'rest' : 'again';
        if (kind === 'again') whiles.push(ms);
        due[kind] = act;
        return () => { due[kind] = null; };
    }};
    const over = kind => { const act = due[kind]; due[kind] = null; act?.(); };
    Object.assign(globalThis, {
        whiles: [], sent: [], rest: () => over('rest'), again: () => over('again'),
        conversation: new Conversation(message => sent.push(message), lifetime),
    });
}"""


@pytest.fixture
def page(gallery: Gallery) -> Page:
    """The page with a new conversation."""
    gallery.evaluate(BEGIN)
    return gallery.page


def now(page: Page, acked: int, **settings: object) -> dict[str, Any]:
    """The settings that count after Python sent its own."""
    return page.evaluate(
        "data => conversation.settingsNow(data)", {"settings": settings, "acked": acked}
    )


def change(page: Page, **values: object) -> None:
    """A person changes settings."""
    page.evaluate("values => conversation.change(values)", values)


def rest(page: Page) -> list[dict[str, Any]]:
    """A person rests; all that was sent so far."""
    return page.evaluate("(rest(), sent)")


def test_a_change_counts_until_its_turn_is_acknowledged(page: Page) -> None:
    pending = "conversation.isPending"
    now(page, 7, layer=1)
    assert not page.evaluate(pending)
    change(page, layer=3)
    assert now(page, 7, layer=1) == {"layer": 3}, "not sent yet"
    assert page.evaluate(pending)
    assert rest(page) == [{"turn": 8, "changes": {"layer": 3}}]
    assert now(page, 7, layer=1) == {"layer": 3}, "sent, but Python has not answered"
    assert page.evaluate(pending)
    assert now(page, 8, layer=2) == {"layer": 2}, "Python has it, and may say otherwise"
    assert not page.evaluate(pending)


def test_a_newer_change_outlives_the_answer_to_an_older_one(page: Page) -> None:
    now(page, 0, layer=1)
    change(page, layer=2)
    rest(page)
    change(page, layer=3)
    assert now(page, 1, layer=2) == {"layer": 3}
    assert rest(page)[-1] == {"turn": 2, "changes": {"layer": 3}}
    assert now(page, 2, layer=3) == {"layer": 3}


def test_changes_of_one_rest_are_sent_once_and_together(page: Page) -> None:
    now(page, 0, layer=1, head=1)
    for layer in (2, 3, 4):
        change(page, layer=layer)
    change(page, head=5)
    assert rest(page) == [{"turn": 1, "changes": {"layer": 4, "head": 5}}]
    assert len(rest(page)) == 1, "nothing more to send"


def test_what_is_not_acknowledged_is_sent_again(page: Page) -> None:
    """Streamlit keeps the last message alone, so each has all that Python may have missed."""
    now(page, 0, layer=1, head=1)
    change(page, layer=2)
    rest(page)
    change(page, head=3)
    assert rest(page)[-1] == {"turn": 2, "changes": {"layer": 2, "head": 3}}


def test_a_value_chosen_elsewhere_wins_at_once(page: Page) -> None:
    """Beside the instrument there is a select box for the same setting."""
    now(page, 0, layer=1)
    change(page, layer=2)
    rest(page)
    assert now(page, 0, layer=5) == {"layer": 5}


def test_a_late_answer_is_not_taken_for_a_choice_elsewhere(page: Page) -> None:
    """Python may come back with what it had, then with any value it was sent."""
    now(page, 0, layer=1)
    for layer in (2, 3, 4):
        change(page, layer=layer)
        rest(page)
    for late in (1, 2, 3, 2):
        assert now(page, 0, layer=late) == {"layer": 4}


def test_lists_and_nothing_are_values_too(page: Page) -> None:
    now(page, 0, cell=None, order=["a", "b"])
    change(page, cell=[1, 2], order=["b", "a"])
    rest(page)
    assert now(page, 0, cell=None, order=["a", "b"]) == {"cell": [1, 2], "order": ["b", "a"]}
    change(page, cell=None)
    rest(page)
    assert now(page, 1, cell=[1, 2], order=["b", "a"])["cell"] is None


def test_what_an_answer_does_not_acknowledge_is_said_again(page: Page) -> None:
    """A message can be lost on its way; each time there is longer to wait."""
    now(page, 7, layer=1)
    change(page, layer=3)
    rest(page)
    page.evaluate("again()")
    assert page.evaluate("sent.length") == 1, "Python has said nothing yet: it is at work"
    now(page, 7, layer=1)
    now(page, 7, layer=1)
    page.evaluate("again(), again()")
    assert page.evaluate("sent") == [
        {"turn": 8, "changes": {"layer": 3}},
        {"turn": 9, "changes": {"layer": 3}},
    ]
    now(page, 7, layer=1)
    page.evaluate("again()")
    assert now(page, 8, layer=3) == {"layer": 3}, "it has the first of them"
    page.evaluate("again()")
    assert page.evaluate("[sent.length, whiles, conversation.isPending]") == [
        3,
        [3000, 6000],
        False,
    ]
    change(page, layer=4)
    rest(page)
    now(page, 10, layer=3)
    assert page.evaluate("whiles") == [3000, 6000, 3000]
