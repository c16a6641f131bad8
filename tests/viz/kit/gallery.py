"""The kit's files on a small static server, and a part or mark on a page that is open already."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, ViewportSize

from viz.kit.files import PLOTLY, VIZ, component_style
from viz.kit.part import Part, piece
from viz.kit.wire import themes_data

PAGE = "<!doctype html><title>Gallery</title><link rel=stylesheet href=/live/live.css><body>"
HOST = Path(__file__).with_suffix(".js")
KINDS = {".js": "text/javascript", ".css": "text/css"}
SIZE: ViewportSize = {"width": 1200, "height": 900}  # of its window
OFFERED: dict[str, Any] = {}  # arrays of all parts that were shown, by id


class _Files(BaseHTTPRequestHandler):
    """The kit's modules as they are, the style of all parts, plotly.js, and arrays by their ids."""

    protocol_version = "HTTP/1.1"  # one connection for seventy modules

    def do_GET(self) -> None:
        body, kind = _found(self.path.partition("?")[0].lstrip("/"))
        self.send_response(404 if body is None else 200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body or b"")))
        self.send_header("Cache-Control", "max-age=3600")
        self.end_headers()
        self.wfile.write(body or b"")

    def log_message(self, *_: object) -> None:
        """Nothing is printed."""


def _found(name: str) -> tuple[bytes | None, str]:
    """A file and what it is; None where there is no such."""
    if name.startswith("kit/arrays/"):
        of, *at = name.removeprefix("kit/arrays/").split("/")
        return (piece(OFFERED[of], at) if of in OFFERED else None), "application/octet-stream"
    known = {"": (PAGE.encode(), "text/html"), "favicon.ico": (b"", "image/x-icon")}
    known["live/live.css"] = component_style().encode(), "text/css"
    if name in known:
        return known[name]
    path = {"live/plotly.min.js": PLOTLY, "gallery.js": HOST}.get(name, VIZ / name)
    if not path.is_file() or path.suffix not in KINDS:
        return None, "text/plain"
    return path.read_bytes(), KINDS[path.suffix]


@contextmanager
def served() -> Iterator[str]:
    """Where the files are, without a slash at the end, until the block ends."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Files)
    server.daemon_threads = True
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://localhost:{server.server_port}"
    server.shutdown()
    server.server_close()


@contextmanager
def open_page(context: BrowserContext, url: str, script: str = "() => {}") -> Iterator[Page]:
    """A page with nothing but the style of parts; `script` has been run in it.

    AssertionError at its end when an error came up that nothing caught.
    """
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(f"{url}/")
    page.evaluate(script)
    yield page
    page.close()
    assert not errors, "errors of the page"


def told(of: Part, acked: int = 0, **changes: object) -> dict[str, Any]:
    """What a host tells a part; changes are of this, or of its spec."""
    OFFERED.update(of.by_id)
    spec = {name: value for name, value in changes.items() if name in of.spec and name != "key"}
    return {**of.told, "acked": acked, **changes, "spec": {**of.spec, **spec}}


@dataclass(frozen=True)
class Gallery:
    """One page for all tests of a process, and what stands on it, with what that sends kept.

    Nothing moves on it, unless a test asks for it.
    """

    page: Page
    url: str

    def open(self) -> None:
        """Load the page where it is not there; the hand is off it."""
        if self.page.url != self.url:
            self.page.goto(self.url)
            self.page.add_script_tag(url=f"{self.url}gallery.js", type="module")
            self.page.wait_for_function("'gallery' in globalThis")
        if self.page.viewport_size != SIZE:
            self.page.set_viewport_size(SIZE)
        self.page.unroute_all()
        self.page.emulate_media(color_scheme="light", reduced_motion="reduce")
        self.page.mouse.move(1, 1)

    def close(self) -> None:
        """Leave nothing to the next test of what this one did."""
        self.page.goto("about:blank")

    def show(self, part: Part, width: int = 1000, **changes: object) -> None:
        """A part in the place of what stood there, once it is at rest; see `told`."""
        shown = [part.name, told(part, 0, **changes), width]
        self.page.evaluate("shown => gallery.show(...shown)", shown)

    def mark(self, module: str, width: int = 1000, **given: object) -> None:
        """A mark alone, by its module; what it is given is in `MARKS` of gallery.js."""
        shown = [module, {**given, "themes": themes_data()}, width]
        self.page.evaluate("shown => gallery.mark(...shown)", shown)

    def read(self, path: str = "") -> Any:  # noqa: ANN401
        """What it reads once nothing is under way; `path` leads to a mark within it."""
        return self.page.evaluate("path => gallery.read(path)", path)

    def receive(self, part: Part, acked: int = 0, **changes: object) -> None:
        """Python says something new."""
        self.page.evaluate("told => gallery.receive(told)", told(part, acked, **changes))

    def sent(self) -> dict[str, Any]:
        """All that a person chose and Python was sent since this was asked last."""
        return self.page.evaluate("gallery.sent()")

    def point_at(self, path: str, row: int, column: int) -> None:
        """The mouse on a cell of a map within it."""
        self.page.mouse.move(*self.page.evaluate("at => gallery.cell(...at)", [path, row, column]))

    def press(self, keys: str, name: str | None = None) -> None:
        """Keys one after the other, with the focus on what has a name, or where it is."""
        if name is not None:
            self.page.get_by_label(name).first.focus()
        for key in keys.split():
            self.page.keyboard.press(key)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        return getattr(self.page, name)  # get_by_role, mouse, …


def near(value: Any) -> Any:  # noqa: ANN401
    """A JSON value in which numbers may differ in the sixth digit; words and shape may not."""
    if isinstance(value, Mapping):
        return {name: near(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [near(one) for one in value]
    if isinstance(value, float):
        return pytest.approx(value, rel=1e-6, abs=1e-7, nan_ok=True)
    return value
