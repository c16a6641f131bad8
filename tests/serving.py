"""The app as a person starts it, in a process of its own, for tests and benchmarks."""

import http.client
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
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
    """Where the app answers, without a slash at the end, and the file that has all it printed."""

    url: str
    log: Path

    def last_lines(self) -> str:
        """The end of the log, for the message of a failed test."""
        lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines()
        return "\n".join(lines[-LOG_LINES:])


@contextmanager
def running_app(log: Path, script: str = "app.py") -> Iterator[RunningApp]:
    """Start the real app, or another script, give it once it answers, and stop it at the end.

    Raises RuntimeError with the end of its log when it does not come up.
    """
    port = _free_port()
    app = RunningApp(f"http://localhost:{port}", log)
    command = [sys.executable, "-m", "streamlit", "run", script, "--server.port", str(port)]
    with log.open("wb") as file:
        process = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT
        )
    try:
        _wait_until_healthy(process, port, app)
        yield app
    finally:
        _stop(process)


def _free_port() -> int:
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
