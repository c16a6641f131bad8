"""Parts on a bare page of the app's own: the modules, and data as Python sends it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Browser, Page, Route

from viz.kit.part import Part, piece

OFFERED: dict[str, Any] = {}  # arrays of all parts that were sent, by id

# Opens a part, with what it sends to Python kept in lists.
OPEN = """async ([data, width]) => {
    if (!document.querySelector('base'))
        document.head.append(Object.assign(document.createElement('base'), {href: '/'}));
    const {PartHost} = await import('/kit/hosts/streamlit.js');
    globalThis.host?.destroy();
    globalThis.sent = [];
    globalThis.lost = [];
    globalThis.differing = [];
    const root = document.createElement('main');
    root.className = 'hl-live';
    root.dataset.drawn = '';
    root.style.width = `${width}px`;
    document.body.replaceChildren(root);
    globalThis.host = new PartHost(root, {
        send: message => sent.push(message),
        lost: key => lost.push(key),
        differs: heads => differing.push(heads),
    });
    host.receive(data);
    await host.opened;
    globalThis.instrument = host.shown;
}"""


def as_sent(of: Part, acked: int = 0, **changes: object) -> dict[str, Any]:
    """What `viz.live.component.show` tells a part; changes are of this, or of its spec."""
    OFFERED.update(of.by_id)
    told = {**of.told, "part": of.name, "key": of.name, "acked": acked}
    spec = {name: value for name, value in changes.items() if name in of.spec and name != "key"}
    return {**told, **changes, "spec": {**of.spec, **spec}}


@contextmanager
def bare_page(browser: Browser, app_url: str, script: str = "() => {}") -> Iterator[Page]:
    """A page with nothing but the style of instruments; `script` has been run in it.

    AssertionError at its end when an error came up that nothing caught.
    """
    page = browser.new_page(viewport={"width": 1200, "height": 900})
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.route("**/kit/arrays/**", _answer)
    page.goto(f"{app_url}/live/live.css")
    page.evaluate(script)
    page.add_style_tag(url=f"{app_url}/live/live.css")
    yield page
    page.close()
    assert not errors, "errors of the page"


def _answer(route: Route) -> None:
    name, *at = route.request.url.partition("/kit/arrays/")[2].split("/")
    route.fulfill(body=piece(OFFERED[name], at))


def open_instrument(page: Page, data: dict[str, Any], width: int = 1000) -> None:
    """Put a new part on the page, in the place of any other."""
    page.evaluate(OPEN, [data, width])


def receive(page: Page, data: dict[str, Any]) -> None:
    """Let the part have new data."""
    page.evaluate("data => host.receive(data)", data)


def rest(page: Page, milliseconds: int) -> None:
    """Let what the page itself does within this time be done; its timers go off in their order."""
    page.evaluate("ms => new Promise(resolve => setTimeout(resolve, ms))", milliseconds)
