"""BertViz' model view in the browser: what another tool needs to draw all heads at a glance.

Its scripts come from npm, so that no request leaves the machine. `make bench` installs them and
BertViz, but nothing else needs either: without them there is no drawing, only a line that says so.
"""

import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from playwright.sync_api import Browser

SCRIPTS = Path(sys.prefix) / "npm" / "node_modules"
CDN = "https://cdnjs.cloudflare.com/ajax/libs/"
# What BertViz asks of its CDN, and the file from npm: the same version but for jQuery 2, which npm
# has from 2.1.0 on. npm's RequireJS is not minified.
LOCAL_SCRIPTS = {
    "require.js/2.3.6/require.min.js": "requirejs/require.js",
    "d3/5.7.0/d3.min": "d3/dist/d3.min.js",
    "jquery/2.0.0/jquery.min": "jquery/dist/jquery.min.js",
}
TIMEOUT = 600_000  # milliseconds
HAS_LINES = "count => document.getElementsByTagName('line').length >= count"
# A frame's callback comes before that frame is laid out and painted; the second one's, after.
FRAME_PAINTED = """async () => {
    const frame = () => new Promise(resolve => requestAnimationFrame(resolve));
    await frame();
    await frame();
}"""
COUNT_NODES = "() => document.querySelectorAll('svg, svg *').length"


@dataclass(frozen=True)
class PeerDrawing:
    """What one model view took.

    `build_seconds` is Python turning the arrays into HTML; `seconds` is the browser, from being
    sent to that file until all lines are in the picture and a frame with them is painted.
    `html_bytes` leaves out the library scripts; `svg_nodes` counts the picture's elements, the svg
    itself included.
    """

    build_seconds: float
    seconds: float
    html_bytes: int
    svg_nodes: int


def draw_model_view(
    browser: Browser, patterns: np.ndarray, tokens: Sequence[str]
) -> PeerDrawing | None:
    """Draw patterns (L, H, T, T) as BertViz does, once, in a page of its own.

    Without BertViz or its scripts the answer is None, and a line is printed that says which.
    """
    missing = _missing()
    if missing:
        print(f"BertViz is left out: {missing} is not installed; `make bench` does it, with npm")
        return None
    started = time.perf_counter()
    html = _model_view(patterns, tokens)
    build_seconds = time.perf_counter() - started
    with tempfile.TemporaryDirectory(dir=SCRIPTS.parent) as folder:  # where the browser may read
        file = Path(folder) / "model_view.html"
        file.write_text(_with_local_scripts(html), encoding="utf-8")
        seconds, svg_nodes = _draw(browser, file.as_uri(), n_lines=patterns.size)
    return PeerDrawing(build_seconds, seconds, len(html.encode()), svg_nodes)


def _missing() -> str | None:
    """The first thing that is not installed."""
    try:
        import bertviz  # noqa: F401
    except ImportError as error:
        return f"the Python package {error.name or 'bertviz'}"
    absent = (name for name in LOCAL_SCRIPTS.values() if not (SCRIPTS / name).is_file())
    return next((f"the script {name}" for name in absent), None)


def _model_view(patterns: np.ndarray, tokens: Sequence[str]) -> str:
    """The HTML that BertViz makes, scripts on its CDN."""
    from bertviz import model_view

    layers = [torch.tensor(layer)[None] for layer in patterns]
    return model_view(layers, list(tokens), html_action="return").data


def _with_local_scripts(html: str) -> str:
    """The same HTML, with the installed scripts in place of those on the CDN."""
    for asked, name in LOCAL_SCRIPTS.items():
        if CDN + asked not in html:
            raise RuntimeError(f"this BertViz does not ask for {asked}; LOCAL_SCRIPTS is outdated")
        local = (SCRIPTS / name).as_uri()
        if not asked.endswith(".js"):
            local = local.removesuffix(".js")  # RequireJS adds it
        html = html.replace(CDN + asked, local, 1)
    return html


def _draw(browser: Browser, url: str, n_lines: int) -> tuple[float, int]:
    """Seconds until the picture is painted, and the number of its elements."""
    page = browser.new_page(viewport={"width": 1440, "height": 900}, offline=True)
    try:
        started = time.perf_counter()
        page.goto(url, wait_until="commit", timeout=TIMEOUT)
        page.wait_for_function(HAS_LINES, arg=n_lines, timeout=TIMEOUT)
        page.evaluate(FRAME_PAINTED)
        return time.perf_counter() - started, page.evaluate(COUNT_NODES)
    finally:
        page.close()
