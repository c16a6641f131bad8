"""Instruments on a bare page of the app's own: the modules, and data as Python sends it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Browser, Page

from viz.kit.wire import palette_data
from viz.theme import DARK, LIGHT

# Opens an instrument, with what it sends to Python kept in lists.
OPEN = """async ([module, name, data, width]) => {
    if (!document.querySelector('base'))
        document.head.append(Object.assign(document.createElement('base'), {href: '/'}));
    const {[name]: Instrument} = await import(`/live/${module}`);
    globalThis.instrument?.destroy();
    globalThis.sent = [];
    globalThis.ticks = [];
    globalThis.lost = [];
    globalThis.differing = [];
    const root = document.createElement('main');
    root.className = 'hl-live';
    root.style.width = `${width}px`;
    document.body.replaceChildren(root);
    globalThis.instrument = new Instrument(root, {
        send: message => sent.push(message),
        tick: n => ticks.push(n),
        lost: key => lost.push(key),
        differs: heads => differing.push(heads),
    });
    instrument.receive(data);
}"""


def as_sent(data: dict[str, Any], acked: int = 0, **changes: object) -> dict[str, Any]:
    """Data as `viz.live.component.show` completes it."""
    themes = {"light": palette_data(LIGHT), "dark": palette_data(DARK)}
    return {**data, "acked": acked, "themes": themes, **changes}


@contextmanager
def bare_page(browser: Browser, app_url: str, script: str = "() => {}") -> Iterator[Page]:
    """A page with nothing but the style of instruments; `script` has been run in it.

    AssertionError at its end when an error came up that nothing caught.
    """
    page = browser.new_page(viewport={"width": 1200, "height": 900})
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(f"{app_url}/live/live.css")
    page.evaluate(script)
    page.add_style_tag(url=f"{app_url}/live/live.css")
    yield page
    page.close()
    assert not errors, "errors of the page"


def open_instrument(page: Page, name: str, data: dict[str, Any], width: int = 1000) -> None:
    """Put a new instrument on the page, in the place of any other."""
    module = f"{data['instrument']}/{data['instrument']}.js"
    page.evaluate(OPEN, [module, name, data, width])


def receive(page: Page, data: dict[str, Any]) -> None:
    """Let the instrument have new data."""
    page.evaluate("data => instrument.receive(data)", data)


def rest(page: Page, milliseconds: int) -> None:
    """Let what the page itself does within this time be done; its timers go off in their order."""
    page.evaluate("ms => new Promise(resolve => setTimeout(resolve, ms))", milliseconds)
