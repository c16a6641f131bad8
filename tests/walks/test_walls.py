"""Protects the walls of the real app: strangers get 403 at once, and nothing is asked of anyone."""

import base64
import http.client
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page

from tests.conftest import PageLog
from tests.load import Visitor, connected, run_apart
from tests.outside import Outside, outside
from tests.serving import ROOT, RunningApp, running_app
from viz.live.routes import SERVED

PATHS = [
    "/",
    "/index.html",
    "/_stcore/health",
    "/_stcore/host-config",
    "/_stcore/stream",
    "/_stcore/metrics",
    "/_stcore/agent/openapi.json",
    "/_stcore/upload_file/a/b",
    "/static/nothing.js",
    "/media/nothing.png",
    "/component/nothing",
    "/live/plotly.min.js",
    "/kit/arrays/0/0",
    *(f"/live/{name}" for name in list(SERVED)[:3]),
    "/nowhere",
    "/%2e%2e/etc/passwd",
    "//evil.example/",
]
STRANGERS = [
    {"Host": "evil.example"},
    {"Host": "evil.example:{port}", "Origin": "http://evil.example:{port}"},
    {"Host": "localhost:{port}", "Origin": "http://evil.example"},
    {"Host": "localhost:{port}", "Origin": "null"},
]
STREAMLIT_KEEPS = 120  # seconds that a session is kept for a visitor who may come back


def answer(app: RunningApp, path: str, headers: dict[str, str], method: str = "GET") -> int:
    """The status of one request with just these headers."""
    port = urlsplit(app.url).port
    connection = http.client.HTTPConnection("localhost", port, timeout=60)
    try:
        connection.putrequest(method, path, skip_host=True)
        for name, value in headers.items():
            connection.putheader(name, value.replace("{port}", str(port)))
        connection.endheaders()
        return connection.getresponse().status
    finally:
        connection.close()


def as_websocket(headers: dict[str, str]) -> dict[str, str]:
    """The headers with which a browser opens a WebSocket."""
    key = base64.b64encode(os.urandom(16)).decode()
    return headers | {
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": key,
        "Sec-WebSocket-Protocol": "streamlit",
    }


def test_a_stranger_gets_403_and_nobody_is_asked(app: RunningApp, world: Outside) -> None:
    """On every way that Streamlit and we have; each kind of stranger: `tests/viz/test_guard.py`."""
    for path in PATHS:
        for stranger in STRANGERS:
            for headers in (stranger, as_websocket(stranger)):
                assert answer(app, path, headers) == 403, (path, headers)
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH"):
        for path in ("/", "/_stcore/upload_file/a/b", "/_stcore/agent/interact"):
            assert answer(app, path, STRANGERS[0], method) == 403
    assert world.calls == []


def test_the_own_page_is_let_in(app: RunningApp) -> None:
    """So that the tests above cannot pass on an app that refuses everyone."""
    own = {"Host": "localhost:{port}", "Origin": "http://localhost:{port}"}
    assert answer(app, "/", own) == 200
    assert answer(app, "/live/plotly.min.js", own) == 200
    assert answer(app, "/_stcore/stream", as_websocket(own)) == 101
    assert answer(app, "/_stcore/metrics", own) == 403


def test_the_listener_would_notice(tmp_path: Path) -> None:
    """A program that asks another machine is seen: the fault that `world` is for."""
    program = "import urllib.request; urllib.request.urlopen('http://evil.example/who', timeout=5)"
    with outside() as found:
        environment = {**os.environ, **found.environment}
        subprocess.run([sys.executable, "-c", program], env=environment, stderr=subprocess.DEVNULL)
        assert found.calls == ["GET http://evil.example/who HTTP/1.1"]


@pytest.fixture(scope="module")
def open_app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RunningApp, Outside]]:
    """The app as it is started for others on the network."""
    with outside() as world:
        environment = {
            **world.environment,
            "HEADLIGHT_HOSTS": "lab.example",
            "HEADLIGHT_EMBED_IN": "https://moodle.example",
            "HEADLIGHT_VISITORS": "1",
        }
        log = tmp_path_factory.mktemp("open") / "log.txt"
        options = ["--server.address", "0.0.0.0"]
        with running_app(log, environment=environment, options=options) as app:
            yield app, world


def test_a_place_is_free_as_soon_as_its_visitor_has_gone(
    open_app: tuple[RunningApp, Outside],
) -> None:
    """Streamlit keeps a session for two minutes after; a reload must not take a place each time."""
    app, _ = open_app
    first, second, third = (Visitor(app, random.Random(number)) for number in range(3))

    async def come() -> None:
        async with connected(app) as one:
            await first.run(one)
            async with connected(app) as another:
                await second.run(another)
        while not third.live:  # the server hears a little later that they have gone
            async with connected(app) as last:
                await third.run(last)

    started = time.monotonic()
    run_apart(come())
    assert time.monotonic() - started < STREAMLIT_KEEPS
    assert (bool(first.live), bool(second.live)) == (True, False)


def test_started_for_others_it_answers_to_its_names_and_asks_nobody(
    open_app: tuple[RunningApp, Outside],
) -> None:
    app, world = open_app
    lab = {"Host": "lab.example", "Origin": "https://lab.example"}
    assert answer(app, "/", lab) == 200
    assert answer(app, "/_stcore/stream", as_websocket(lab)) == 101
    for stranger in STRANGERS:
        assert answer(app, "/_stcore/stream", as_websocket(stranger)) == 403
    assert world.calls == [], "Streamlit looks up the machine's address unless it is told one"


def test_a_wrong_setting_ends_the_start_with_one_line() -> None:
    """Each mistake: `tests/viz/test_guard.py`."""
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", "1"]
    environment = {**os.environ, "STREAMLIT_SERVER_BASE_URL_PATH": "lab"}
    ended = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60
    )
    lines = [line for line in ended.stderr.splitlines() if line.strip()]
    assert ended.returncode != 0
    assert lines == [
        "error: Headlight is served at the root of a host; unset server.baseUrlPath "
        "(STREAMLIT_SERVER_BASE_URL_PATH) and let the proxy cut its path off"
    ]


def test_the_policy_stops_what_it_is_for(page: Page, page_log: PageLog) -> None:
    """A script, a picture and a request to elsewhere, planted in the app's own page."""
    page.goto("/")
    page.wait_for_selector(".hl-home")
    blocked = page.evaluate(
        """async () => {
            const blocked = [];
            addEventListener('securitypolicyviolation', event =>
                blocked.push(event.effectiveDirective));
            const script = document.createElement('script');
            script.textContent = 'window.planted = true';
            document.head.append(script);
            const picture = new Image();
            picture.src = 'http://evil.example/a.png';
            await fetch('http://evil.example/').catch(() => {});
            const frame = document.createElement('iframe');
            frame.src = 'http://evil.example/';
            document.body.append(frame);
            for (let i = 0; i < 3000 && new Set(blocked).size < 4; i++)
                await new Promise(resolve => setTimeout(resolve, 20));
            return {blocked: blocked.sort(), planted: window.planted === true};
        }"""
    )
    assert blocked["planted"] is False
    assert set(blocked["blocked"]) == {"connect-src", "frame-src", "img-src", "script-src-elem"}
    page_log.console_errors.clear()
    page_log.foreign_requests.clear()
