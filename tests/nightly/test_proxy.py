"""Protects replicas behind the kept proxy: a visitor stays with one, and survives its end."""

import asyncio
import os
import random
import shutil
import signal
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from urllib.error import HTTPError, URLError

import pytest
from websockets.exceptions import ConnectionClosed

from tests.load import Visitor, connected, run_apart
from tests.serving import ROOT, RunningApp, free_port, running_app

NAMES = ("one", "two", "three")
SENTENCE = "Lily saw a big red ball."

needs_haproxy = pytest.mark.skipif(not shutil.which("haproxy"), reason="HAProxy is not installed")


@dataclass(frozen=True)
class Fleet:
    """The proxy, and the replicas by the names that its cookie has for them."""

    proxy: RunningApp
    replicas: dict[str, RunningApp]


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """Three replicas as processes, and HAProxy with the configuration of deploy/."""
    folder = tmp_path_factory.mktemp("fleet")
    with ExitStack() as stack:
        replicas = {
            name: stack.enter_context(running_app(folder / f"{name}.txt")) for name in NAMES
        }
        port = free_port()
        places = {
            f"HEADLIGHT_{number}": replicas[name].url.removeprefix("http://")
            for number, name in enumerate(NAMES, 1)
        }
        with (folder / "proxy.txt").open("wb") as log:
            process = subprocess.Popen(
                ["haproxy", "-f", str(ROOT / "deploy" / "haproxy.cfg")],
                env={**os.environ, **places, "HEADLIGHT_BIND": f"127.0.0.1:{port}"},
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        stack.callback(process.terminate)
        proxy = RunningApp(f"http://localhost:{port}", folder / "proxy.txt", process.pid)
        wait_for(proxy)
        yield Fleet(proxy, replicas)


def wait_for(proxy: RunningApp) -> None:
    """Until the proxy has found a replica."""
    for _ in range(200):
        try:
            if get(proxy, "/_stcore/health")[0] == 200:
                return
        except URLError:
            pass
        time.sleep(0.1)
    raise AssertionError(proxy.last_lines())


def get(app: RunningApp, path: str, cookie: str = "") -> tuple[int, str]:
    """Status of a request, and the cookie that came with the answer."""
    request = urllib.request.Request(app.url + path, headers={"Cookie": cookie} if cookie else {})
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status, (answer.headers.get("Set-Cookie") or "").split(";")[0]
    except HTTPError as error:
        return error.code, ""


@needs_haproxy
def test_the_configuration_is_what_haproxy_takes(fleet: Fleet) -> None:
    places = {f"HEADLIGHT_{number}": "127.0.0.1:1" for number in (1, 2, 3)}
    checked = subprocess.run(
        ["haproxy", "-c", "-f", str(ROOT / "deploy" / "haproxy.cfg")],
        env={**os.environ, **places, "HEADLIGHT_BIND": "127.0.0.1:1"},
        capture_output=True,
        text=True,
    )
    assert checked.returncode == 0, checked.stderr
    assert "WARNING" not in checked.stdout + checked.stderr


@needs_haproxy
def test_a_visitor_stays_with_a_replica_and_outlives_it(fleet: Fleet) -> None:
    proxy = fleet.proxy
    status, cookie = get(proxy, "/")
    name = cookie.removeprefix("headlight=")
    assert (status, name in NAMES) == (200, True)
    visitor = Visitor(proxy, random.Random(0), {"page": "Attention", "sentence": SENTENCE})

    async def visit_until_its_end() -> None:
        async with connected(proxy, cookie) as connection:
            await visitor.run(connection)
            arrays = arrays_of(visitor)
            assert [get(proxy, arrays, cookie)[0] for _ in range(6)] == [200] * 6
            strangers = {get(proxy, arrays)[0] for _ in range(6)}
            assert 404 in strangers, "without the cookie another replica answers"
            os.kill(fleet.replicas[name].pid, signal.SIGKILL)
            with pytest.raises(ConnectionClosed):
                async with asyncio.timeout(20):
                    while True:
                        await connection.recv()

    run_apart(visit_until_its_end())
    again = Visitor(proxy, random.Random(0), {"page": "Attention", "sentence": SENTENCE})

    async def come_back() -> str:
        new = ""
        for _ in range(100):  # what a browser does: it tries until somebody answers
            status, new = get(proxy, "/", cookie)
            if status == 200 and new:
                break
            await asyncio.sleep(0.1)
        async with connected(proxy, new) as connection:
            await again.run(connection)
        return new.removeprefix("headlight=")

    assert run_apart(come_back()) in set(NAMES) - {name}
    assert labels_of(again) == labels_of(visitor)
    assert "".join(labels_of(again)) == SENTENCE.replace(" ", "")


def labels_of(visitor: Visitor) -> list[str]:
    """The tokens the visitor was shown."""
    return [label.strip("·") for label in visitor.live["streams"]["decoder"]["labels"]]


def arrays_of(visitor: Visitor) -> str:
    """Where the arrays of a head of his are, on the replica that has his session."""
    return f"/live/arrays/{visitor.live['key']}/head/decoder.blocks.0.attn/0"


def test_files_of_the_container_name_what_is_there() -> None:
    lines = Path(ROOT / "deploy" / "Containerfile").read_text(encoding="utf-8").splitlines()
    copied = [
        line.split()[1:-1] for line in lines if line.startswith("COPY") and "--from" not in line
    ]
    assert copied
    assert [name for names in copied for name in names if not (ROOT / name).exists()] == []
