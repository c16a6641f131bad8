"""Protects what a person does between two calls of the address: Back, and links within the app."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from tests.viz.harness import rest
from tests.viz.kit.gallery import open_page

# A call as Streamlit makes it, what it gave back, and what is sent through it.
CALL = """async (turn) => {
    const {default: keepAddress} = await import('/live/address.js');
    globalThis.root ??= document.body.appendChild(document.createElement('div'));
    globalThis.sent ??= [];
    const was = {entries: 1, before: '', is_whole: true, went: 0, session: 'one'};
    const data = {turn, query: 'layer=4', ...was};
    const setTriggerValue = (name, value) => sent.push([turn, name, value]);
    globalThis.end = keepAddress({data, parentElement: root, setTriggerValue});
}"""
GO_BACK = "dispatchEvent(new PopStateEvent('popstate'))"
FOLLOW = """() => {
    const link = document.body.appendChild(document.createElement('a'));
    link.href = '?page=Masks';
    link.dataset.page = 'Masks';
    link.click();
}"""

REFUSED_TWICE = """() => {
    globalThis.asked = [];
    for (const how of ['pushState', 'replaceState']) {
        const write = history[how].bind(history);
        history[how] = (...given) => {
            asked.push(given[2].split('?')[1]);
            if (asked.length < 3) throw new DOMException('too often', 'SecurityError');
            write(...given);
        };
    }
}"""


@pytest.fixture
def page(browser: Browser, kit_url: str) -> Iterator[Page]:
    """A page whose address is kept, as after a first run."""
    with browser.new_context() as context, open_page(context, kit_url) as page:  # own clock
        page.evaluate(CALL, 1)
        yield page


def test_who_goes_between_two_calls_is_heard(page: Page) -> None:
    """Streamlit ends a call before the next one begins: under load that took long enough."""
    page.evaluate("end()")
    page.evaluate(GO_BACK)
    page.evaluate(FOLLOW)
    sent = page.evaluate("sent")
    assert [(turn, name) for turn, name, _ in sent] == [(1, "went"), (1, "went")]
    assert sent[0][2] == {"query": "?layer=4", "n": 1}
    assert sent[1][2] == {"page": "Masks", "n": 2}


def test_a_link_to_a_whole_address_is_new_and_back_is_not(page: Page) -> None:
    """A step of a tour: Back led out of the tour, to what was before its first step."""
    page.evaluate(FOLLOW.replace("link.dataset.page = 'Masks';", ""))
    page.evaluate("history.back()")
    page.wait_for_function("sent.length === 2")
    assert [value for *_, value in page.evaluate("sent")] == [
        {"query": "?page=Masks", "is_new": True, "n": 1},
        {"query": "?layer=4", "n": 2},
    ]


def test_the_newest_call_is_answered_and_the_last_one_ends(page: Page) -> None:
    page.evaluate("end()")
    page.evaluate(CALL, 2)
    page.evaluate(GO_BACK)
    assert [turn for turn, *_ in page.evaluate("sent.splice(0)")] == [2]
    page.evaluate("(root.remove(), end())")
    page.evaluate(GO_BACK)
    assert page.evaluate("sent") == []


def test_what_python_has_not_heard_of_is_said_again_and_no_more_after_that(page: Page) -> None:
    page.clock.install()
    page.evaluate(FOLLOW)
    page.clock.run_for(5_000)
    assert len(page.evaluate("sent")) == 1, "a busy page takes its time"
    page.clock.run_for(2_000)
    first, again = page.evaluate("sent")
    assert first[2] == again[2] == {"page": "Masks", "n": 1}
    page.evaluate(CALL.replace("went: 0", "went: 1"), 2)
    page.clock.run_for(60_000)
    assert len(page.evaluate("sent")) == 2


def test_parts_of_a_page_are_called_in_any_order(page: Page) -> None:
    """An older call after a newer one was taken for another session: the next click was lost."""
    page.evaluate(CALL, 3)
    page.evaluate(FOLLOW)
    page.evaluate(CALL, 2)
    page.evaluate(FOLLOW)
    page.evaluate(CALL.replace("'one'", "'two'"), 1)
    page.evaluate(FOLLOW)
    assert [value["n"] for *_, value in page.evaluate("sent")] == [1, 2, 1]


def test_another_theme_does_not_swallow_a_click(page: Page) -> None:
    """Python hears the last of two messages alone."""
    page.evaluate(FOLLOW)
    for turn, color in ((2, "white"), (3, "black")):
        page.evaluate(f"root.style.setProperty('--st-background-color', '{color}')")
        page.evaluate(CALL, turn)
    assert [value for *_, value in page.evaluate("sent")] == [
        {"page": "Masks", "n": 1},
        {"page": "Masks", "n": 2},
    ]


def test_it_is_not_said_for_ever_nor_once_a_person_went_elsewhere(page: Page) -> None:
    page.clock.install()
    page.evaluate(FOLLOW)
    page.evaluate(GO_BACK)
    page.clock.run_for(60_000)
    assert [value["n"] for *_, value in page.evaluate("sent")] == [1, 2, 2, 2, 2]


def test_an_entry_counts_though_the_run_that_made_it_was_never_seen(page: Page) -> None:
    """A run that a newer one overtakes may not reach the page: Back led too far.

    As from a page that was left right after a text was typed.
    """
    before = page.evaluate("history.length")
    page.evaluate(CALL.replace("layer=4", "layer=5"), 2)
    assert page.evaluate("history.length") == before, "the same entry, dragged on"
    last = CALL.replace("layer=4", "layer=7").replace("entries: 1", "entries: 3")
    page.evaluate(last.replace("before: ''", "before: 'layer=6'"), 4)
    page.wait_for_function("location.search === '?layer=7'")
    assert page.evaluate("history.length") == before + 2
    page.evaluate("history.back()")
    page.wait_for_function("location.search === '?layer=6'")


def test_back_right_after_a_click_leads_to_what_was_before(page: Page) -> None:
    """Python had not heard of the click: Back led out of the app."""
    before = page.evaluate("history.length")
    page.evaluate(FOLLOW)
    assert page.evaluate("[location.search, history.length]") == ["?layer=4&page=Masks", before + 1]
    page.evaluate("history.back()")
    page.wait_for_function("sent.length === 2")
    assert [value for *_, value in page.evaluate("sent")] == [
        {"page": "Masks", "n": 1},
        {"query": "?layer=4", "n": 2},
    ]
    call = CALL.replace("entries: 1", "entries: 2").replace("before: ''", "before: 'layer=4'")
    page.evaluate(call.replace("went: 0", "went: 2"), 2)  # it had begun to open the page
    assert page.evaluate("[location.search, history.length]") == ["?layer=4", before + 1]


@pytest.mark.parametrize(("typed", "steps"), [("layer=4", 1), ("layer=6", 2)])
def test_what_python_says_takes_the_place_of_the_step_at_the_click(
    page: Page, typed: str, steps: int
) -> None:
    """What was typed right before it is a step, too."""
    before = page.evaluate("history.length")
    page.evaluate(FOLLOW)
    call = CALL.replace("layer=4", "page=Masks").replace("entries: 1", "entries: 2")
    page.evaluate(call.replace("went: 0", "went: 1").replace("before: ''", f"before: '{typed}'"), 2)
    page.wait_for_function("location.search === '?page=Masks'")
    assert page.evaluate("history.length") == before + steps
    page.evaluate("history.back()")
    page.wait_for_function("search => location.search === search", arg=f"?{typed}")


def test_the_link_of_the_open_page_is_no_step(page: Page) -> None:
    before = page.evaluate("history.length")
    page.evaluate(FOLLOW.replace("link.click", "link.ariaCurrent = 'page'; link.click"))
    assert page.evaluate("[location.search, history.length]") == ["?layer=4", before]


def test_an_address_that_changes_all_the_time_is_written_now_and_then(page: Page) -> None:
    """Safari refuses the hundred-and-first change; that stopped the page, and hid what came."""
    rest(page, 400)  # the first change is over
    page.clock.install(time=0)
    page.clock.pause_at(1)
    page.evaluate(REFUSED_TWICE)
    before = page.evaluate("history.length")
    call = CALL.replace("'layer=4'", "`layer=${turn}`").replace("entries: 1", "entries: 9")
    call = call.replace("before: ''", "before: 'layer=4'")
    page.evaluate(f"async () => {{ for (let n = 2; n < 202; n++) await ({call})(n); }}")
    assert page.evaluate("document.documentElement.dataset.pending") == "", "not at rest"
    page.clock.run_for(1_000)
    assert page.evaluate("asked") == ["layer=2", "layer=201", "layer=201"]
    assert page.evaluate("[location.search, history.length]") == ["?layer=201", before + 1]
    assert page.evaluate("document.documentElement.dataset.pending") is None
