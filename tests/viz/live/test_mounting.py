"""Protects how Streamlit puts instruments on the page and takes them off again."""

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, WebSocket, expect

from tests.screen import PATIENCE
from tests.serving import RunningApp, running_app
from tests.viz.live.instruments import INSTRUMENTS

RUNS = "() => Number(document.body.innerText.match(/^run (\\d+)$/m)[1])"
# Counts the observers that watch anything within an element.
COUNTING = """() => {
    const watched = new Map();
    const {observe, disconnect} = ResizeObserver.prototype;
    ResizeObserver.prototype.observe = function (node, ...rest) {
        watched.set(this, node);
        observe.call(this, node, ...rest);
    };
    ResizeObserver.prototype.disconnect = function () {
        watched.delete(this);
        disconnect.call(this);
    };
    globalThis.watching = root => [...watched.values()].filter(node => root.contains(node)).length;
}"""
LONGER_THAN_A_TICK = 3500  # milliseconds: a writer without an answer asks again after 2500


def wait_until_idle(page: Page) -> None:
    """Wait for the end of the running script."""
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningApp]:
    """An app with nothing but instruments on its one page."""
    log = tmp_path_factory.mktemp("stage") / "log.txt"
    with running_app(log, "tests/viz/live/stage_app.py") as running:
        yield running


@pytest.fixture(scope="module")
def visitor(browser: Browser, stage: RunningApp) -> Iterator[Page]:
    """A visitor's page, which must log no error."""
    context = browser.new_context(viewport={"width": 1300, "height": 1000})
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    expect.set_options(timeout=PATIENCE)
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda line: errors.append(line.text) if line.type == "error" else None)
    page.goto(stage.url)
    page.get_by_text("run 1", exact=True).wait_for()
    page.evaluate(COUNTING)
    yield page
    context.close()
    assert errors == []


@pytest.fixture
def page(visitor: Page) -> Page:
    """The page with no instrument on it."""
    put(visitor, "nothing")
    expect(visitor.locator(".hl-live")).to_have_count(0)
    return visitor


def put(page: Page, instrument: str) -> None:
    """Put an instrument on the page, or nothing."""
    page.locator("label").filter(has_text=re.compile(f"^{instrument}$")).click()


def reload(page: Page) -> None:
    """Load the page again; a new session begins, with no module loaded."""
    page.reload()
    page.get_by_text("run 1", exact=True).wait_for()


def root(page: Page) -> Locator:
    """The element of the instrument, once it has drawn."""
    drawn = page.locator(".hl-live[data-drawn*=' ']")
    drawn.wait_for()
    return drawn


def run_again(page: Page) -> None:
    """Let the script run, and wait until it has."""
    before = page.evaluate(RUNS)
    page.get_by_role("button", name="Again", exact=True).click()
    page.wait_for_function(f"before => ({RUNS})() > before", arg=before)


@pytest.mark.parametrize("instrument", ["part", *INSTRUMENTS])
def test_an_element_keeps_its_instrument_and_lets_go_of_it(instrument: str, page: Page) -> None:
    """New data must not take it off and put it on again: that would flicker. Nothing is left."""
    put(page, instrument)
    root(page).evaluate("node => { node.firstChild.marked = true; globalThis.first = node; }")
    if instrument == "writer":
        n = page.locator(".hl-token-button").count()
        more = "n => document.querySelectorAll('.hl-token-button').length > n + 2"
        page.wait_for_function(more, arg=n)
    else:
        run_again(page)
    assert root(page).evaluate("node => node === first && node.firstChild.marked")
    assert page.evaluate("watching(first)") > 0
    put(page, "nothing")
    expect(page.locator(".hl-live")).to_have_count(0)
    page.wait_for_function("watching(first) === 0")
    charts = "[...first.querySelectorAll('.hl-chart')]"
    page.wait_for_function(f"!{charts}.some(chart => chart._fullLayout)")


def test_an_instrument_comes_back_after_it_was_taken_off(page: Page) -> None:
    put(page, "rotor")
    root(page).evaluate("node => { globalThis.first = node; }")
    put(page, "nothing")
    expect(page.locator(".hl-live")).to_have_count(0)
    put(page, "rotor")
    assert root(page).evaluate("node => node !== first")
    page.locator("[data-setting=first]").fill("7")
    page.get_by_text("('first', 7)").wait_for()


def test_what_is_changed_is_kept_and_acknowledged(page: Page) -> None:
    """What Python comes back with does not undo what was changed since."""
    put(page, "writer")
    root(page)
    slider = page.locator("[data-setting=temperature]")
    for value in ("1.5", "2", "0.5"):
        slider.fill(value)
    page.get_by_text("('temperature', 0.5)").wait_for()
    run_again(page)
    expect(slider).to_have_value("0.5")


def comes_to_rest(page: Page, seen: Callable[[], object]) -> bool:
    """Whether nothing comes for longer than a tick, once what was asked for before has come."""
    for _ in range(5):
        before = seen()
        page.wait_for_timeout(LONGER_THAN_A_TICK)
        if seen() == before:
            return True
    return False


def test_a_writer_that_is_taken_off_asks_for_no_more(page: Page) -> None:
    """While it is there it asks for token after token; afterwards nothing is sent at all."""
    frames: list[int] = []

    def count(socket: WebSocket) -> None:
        socket.on("framesent", lambda _: frames.append(1))

    page.on("websocket", count)
    reload(page)
    put(page, "writer")
    root(page)
    page.wait_for_function("document.querySelectorAll('.hl-token-button').length > 8")
    assert len(frames) > 5
    put(page, "nothing")
    expect(page.locator(".hl-live")).to_have_count(0)
    run = page.get_by_text(re.compile(r"^run \d+$"))
    assert comes_to_rest(page, lambda: (len(frames), run.text_content()))


def test_a_page_left_before_the_modules_are_there_stays_quiet(page: Page) -> None:
    """They come late, for a component that is gone."""
    held = []
    page.route("**/live/main.js", lambda route: held.append(route))
    reload(page)
    put(page, "writer")
    page.wait_for_function("document.querySelector('.hl-live')")
    page.wait_for_timeout(300)
    put(page, "nothing")
    expect(page.locator(".hl-live")).to_have_count(0)
    run = page.get_by_text(re.compile(r"^run \d+$"))
    for route in held:
        route.continue_()
    page.wait_for_load_state("networkidle")  # all that is asked for late is there
    wait_until_idle(page)
    assert comes_to_rest(page, run.text_content)


def test_data_that_comes_before_the_modules_are_there_is_shown(page: Page) -> None:
    """Streamlit calls back for the older data; the instrument must stay."""
    held = []
    page.route("**/live/main.js", lambda route: held.append(route))
    reload(page)
    put(page, "rotor")
    page.wait_for_function("document.querySelector('.hl-live')")
    run_again(page)
    run_again(page)
    assert page.locator(".hl-live > *").count() == 0
    for route in held:
        route.continue_()
    root(page)
    page.wait_for_timeout(300)
    page.locator("[data-setting=first]").fill("9")
    page.get_by_text("('first', 9)").wait_for()
