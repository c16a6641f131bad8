"""The app as a person starts it, in a process of its own, for tests and benchmarks."""

import http.client
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

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
