"""Protects the calls Streamlit makes: the newest data is shown; what left the page ends."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.viz.harness import as_sent, rest
from tests.viz.kit.gallery import open_page
from tests.viz.kit.parts.made import rotation

# Calls as Streamlit does, several before the first has been answered; what each gave back is kept.
CALLS = """async ([all, base]) => {
    document.head.append(Object.assign(document.createElement('base'), {href: base}));
    const {default: show} = await import('/live/loader.js');
    const parentElement = document.createElement('div');
    const root = document.createElement('div');
    root.className = 'hl-live';
    parentElement.append(root);
    document.body.replaceChildren(parentElement);
    globalThis.root = root;
    globalThis.sent = [];
    const calls = all.map((data, i) => ({
        data,
        parentElement,
        setStateValue: (name, value) => sent.push([i, name, value]),
        setTriggerValue: () => {},
    }));
    globalThis.ends = await Promise.all(calls.map(show));
    while (base === '/' && 'busy' in root.dataset)
        await new Promise(resolve => setTimeout(resolve, 10));
    document.head.querySelector('base').remove();
}"""
MOVE = """() => {
    const slider = root.querySelector('[data-setting=first]');
    slider.value = Number(slider.value) + 1;
    slider.dispatchEvent(new Event('input'));
}"""


@pytest.fixture
def page(kit_profile: BrowserContext, kit_url: str) -> Iterator[Page]:
    """A page that has loaded nothing yet."""
    with open_page(kit_profile, kit_url) as page:
        yield page


def data(first: int) -> dict[str, Any]:
    """A rotation with its first side at a position."""
    return as_sent(rotation(), settings={"first": first, "second": 0})


def moved(page: Page) -> list[list[Any]]:
    """What is sent when a person moves the slider: which call, under which name, and what."""
    page.evaluate(MOVE)
    rest(page, 400)  # longer than a person must rest
    return page.evaluate("sent.splice(0)")


def test_the_newest_data_is_shown_and_answered_through_the_newest_call(page: Page) -> None:
    page.evaluate(CALLS, [[data(1), data(2), data(3)], "/"])
    assert page.locator("[data-setting=first]").input_value() == "3"
    ((call, name, message),) = moved(page)
    assert (call, name, message["changes"]) == (2, "sent", {"first": 4})


def test_the_end_of_a_call_is_not_the_end(page: Page) -> None:
    """Streamlit calls back at once what a call gave that newer data has overtaken."""
    page.evaluate(CALLS, [[data(1), data(2), data(3)], "/"])
    page.evaluate("(ends[0](), ends[1]())")
    assert len(moved(page)) == 1
    page.evaluate("(root.remove(), ends[2]())")
    assert moved(page) == []


def test_a_change_outlives_an_end_called_before_the_newer_call(page: Page) -> None:
    """What a person chose in that moment was lost, and the focus with it."""
    page.evaluate(CALLS, [[data(1)], "/"])
    page.locator("[data-setting=first]").focus()
    page.evaluate(MOVE)
    page.evaluate("ends[0]()")
    ((_, _, message),) = page.wait_for_function("sent.length ? sent : null").json_value()
    assert message["changes"] == {"first": 2}
    expect(page.locator("[data-setting=first]")).to_be_focused()


def test_what_fails_to_load_says_so_in_its_place(page: Page) -> None:
    page.evaluate(CALLS, [[data(1)], "/nowhere/"])
    assert "did not load from the app" in page.locator(".hl-live").text_content()
    assert page.evaluate("ends") == [None]
