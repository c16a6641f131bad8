"""Parts on a bare page, as the app's own host shows them, and data as Python sends it."""

from typing import Any

from playwright.sync_api import Page, expect

from tests.viz.kit.gallery import told
from viz.kit.part import Part

# Opens a part, with what it sends to Python kept in lists.
OPEN = """async ([data, width]) => {
    const {PartHost} = await import('/kit/hosts/streamlit.js');
    globalThis.host?.destroy();
    globalThis.sent = [];
    globalThis.lost = [];
    globalThis.differing = [];
    const root = document.createElement('main');
    root.className = 'hl-live';
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
    return told(of, acked, **{"part": of.name, "key": of.name, **changes})


def open_instrument(page: Page, data: dict[str, Any], width: int = 1000) -> None:
    """Put a new part on the page, in the place of any other."""
    page.evaluate(OPEN, [data, width])


def receive(page: Page, data: dict[str, Any]) -> None:
    """Let the part have new data."""
    page.evaluate("data => host.receive(data)", data)


def at_rest(page: Page) -> None:
    """Wait until nothing is under way in the part."""
    expect(page.locator(".hl-live[data-busy]")).to_have_count(0)


def rest(page: Page, milliseconds: int) -> None:
    """Let what the page itself does within this time be done; its timers go off in their order."""
    page.evaluate("ms => new Promise(resolve => setTimeout(resolve, ms))", milliseconds)
