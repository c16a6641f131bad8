"""The app as a person starts it, in a process of its own, for tests and benchmarks."""

import http.client
import os
import re
import socket
import socketserver
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Thread

ROOT = Path(__file__).parent.parent
START_SECONDS = 120
LOG_LINES = 40
BROWSER_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    # Tests pass offline and a foreign request fails at once, wherever they run.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost",
]


@dataclass(frozen=True)
class RunningApp:
    """Where the app answers, without a slash at the end, its process, and all it printed."""

    url: str
    log: Path
    pid: int

    def last_lines(self) -> str:
        """The end of the log, for the message of a failed test."""
        lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines()
        return "\n".join(lines[-LOG_LINES:])


@contextmanager
def running_app(
    log: Path,
    script: str = "app.py",
    environment: Mapping[str, str] | None = None,
    options: Sequence[str] = (),
) -> Iterator[RunningApp]:
    """Start the real app, or another script, give it once it answers, and stop it at the end.

    It gets `environment` besides this process's own. Raises RuntimeError with the end of its log
    when it does not come up.
    """
    port = free_port()
    command = [sys.executable, "-m", "streamlit", "run", script, "--server.port", str(port)]
    command += options
    with log.open("wb") as file:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
        )
    app = RunningApp(f"http://localhost:{port}", log, process.pid)
    try:
        _wait_until_healthy(process, port, app)
        yield app
    finally:
        _stop(process)


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as listener:
        listener.bind(("localhost", 0))
        return listener.getsockname()[1]


class Proxy(socketserver.ThreadingTCPServer):
    """What stands between browser and app, as JupyterHub does: it cuts `PLACE` off each address."""

    PLACE = "/user/a/proxy/8501"
    daemon_threads = True

    def __init__(self, app: RunningApp) -> None:
        super().__init__(("localhost", 0), _Handed)
        self.port = int(app.url.rpartition(":")[2])
        self.url = f"http://localhost:{self.server_address[1]}{self.PLACE}"
        self.hands_on_sockets = True
        self.sockets: list[socket.socket] = []

    @contextmanager
    def running(self) -> Iterator["Proxy"]:
        """Hand on what comes meanwhile."""
        with self:
            Thread(target=self.serve_forever, daemon=True).start()
            yield self
            self.shutdown()

    def cut(self) -> None:
        """Let go of all WebSockets, and hand on no more."""
        self.hands_on_sockets = False
        for one in self.sockets:
            one.shutdown(socket.SHUT_RDWR)


class _Handed(socketserver.BaseRequestHandler):
    """One request, or one WebSocket, of a proxy."""

    def handle(self) -> None:
        assert isinstance(self.server, Proxy)
        head = b""
        while b"\r\n\r\n" not in head:
            if not (part := self.request.recv(65_536)):
                return
            head += part
        line, rest = head.split(b"\r\n", 1)
        is_socket = b"upgrade: websocket" in rest.lower()
        place = b" " + self.server.PLACE.encode()
        if place not in line or (is_socket and not self.server.hands_on_sockets):
            self.request.sendall(b"HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\n")
            return
        if is_socket:
            self.server.sockets.append(self.request)
        else:  # one request on each connection, so that only heads are changed
            rest = b"Connection: close\r\n" + re.sub(rb"(?im)^connection:.*\r\n", b"", rest)
        with socket.create_connection(("localhost", self.server.port)) as app:
            app.sendall(line.replace(place, b" ", 1) + b"\r\n" + rest)
            Thread(target=_hand_on, args=(self.request, app), daemon=True).start()
            _hand_on(app, self.request)


def _hand_on(one: socket.socket, other: socket.socket) -> None:
    """All that comes, until either side has ended; then both end."""
    with suppress(OSError):
        while part := one.recv(65_536):
            other.sendall(part)
    for end in (one, other):
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)


def _wait_until_healthy(process: subprocess.Popen, port: int, app: RunningApp) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            code = process.returncode
            raise RuntimeError(f"the app stopped with exit code {code}:\n{app.last_lines()}")
        if _is_healthy(port):
            return
        time.sleep(0.02)
    raise RuntimeError(f"the app did not answer within {START_SECONDS} s:\n{app.last_lines()}")


def _is_healthy(port: int) -> bool:
    connection = http.client.HTTPConnection("localhost", port, timeout=5)
    try:
        connection.request("GET", "/_stcore/health")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _stop(process: subprocess.Popen) -> None:
    process.terminate()
    try:
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
