"""A model by its path or name, and the app that is started with it."""

import os
import signal
import socket
import subprocess
import sys
import time
import webbrowser
from collections.abc import Mapping
from contextlib import suppress
from urllib.parse import urlencode

from headlight.where import HOUSE
from model.files import LARGEST_CONFIG, folder_at, is_gguf, read_json
from model.lines import quoted
from model.memory import free_memory
from model.sources import hub, places
from model.sources.folder import reads_chats, refuse_unopenable

PORT = "STREAMLIT_SERVER_PORT"
FIRST_PORT, LAST_PORT = 8501, 8600
LOOK_SECONDS = 0.1


def located(named: str, *, download: bool = False) -> str:
    """The name of a model that is offered here, or its folder; ValueError when there is none."""
    if named in places.folders():
        return named
    if folder_at(named) is None and hub.is_name(named):
        return str(hub.copy_of(named, download=download))
    return str(places.given_folder(named))


def address(
    named: str,
    text: str | None,
    *,
    chat: str | None = None,
    download: bool = False,
) -> dict[str, str]:
    """What the app's address says to show a model; of a folder of one's own it is remembered.

    text: a sentence. chat: what a user says in a chat instead.

    Raises ValueError, before the app is started, for what it could not open.
    """
    name = located(named, download=download)
    if name not in places.folders():
        folder = places.given_folder(name)
        if places.is_of_transformers(folder):
            refuse_unopenable(folder, free_memory())
        name = places.remember(folder)
    place = places.folders()[name]
    config = {} if is_gguf(place) else read_json(place / "config.json", LARGEST_CONFIG)
    is_pair = config.get("architecture") == "encoder_decoder" or config.get("is_encoder_decoder")
    has_template = places.is_of_transformers(place) and reads_chats(place)
    if chat is not None and not chat.strip():
        raise ValueError("--chat has no text; give what the user says")
    if chat is not None and not has_template:
        raise ValueError(f"{quoted(name)} has no chat template; give it a text: --text")
    if chat is not None:
        return {"model": name, "sentence": chat, "read": "chat"}
    said = {} if text is None else {"source" if is_pair else "sentence": text}
    return {"model": name, **said, **({"read": "text"} if said and has_template else {})}


def start(query: Mapping[str, str], *, with_browser: bool) -> int:
    """Run the app until it ends, and open it in a browser when it answers; gives its exit code."""
    port = str(_free_port())
    link = f"http://localhost:{port}/{'?' if query else ''}{urlencode(query)}"  # may be no text
    program = [sys.executable, "-m", "streamlit", "run", str(HOUSE / "app.py")]
    command = [*program, "--server.port", port, "--logger.hideWelcomeMessage", "true"]
    server = subprocess.Popen(command, cwd=HOUSE)  # noqa: S603  our own words and a number
    signal.signal(signal.SIGTERM, lambda *_: server.terminate())
    try:
        if _answers(server, int(port)):
            print(f"\n  Headlight: {link}\n", flush=True)
            if with_browser:
                webbrowser.open(link)
    except KeyboardInterrupt:  # the server has it, too
        pass
    return _ended(server)


def _ended(server: subprocess.Popen) -> int:
    """Its exit code, once it has ended.

    Looked for again and again: a signal that came right before one wait without an end would not
    be heard until then.
    """
    while True:
        with suppress(KeyboardInterrupt):
            if (code := server.poll()) is not None:
                return code
            time.sleep(LOOK_SECONDS)


def _answers(server: subprocess.Popen, port: int) -> bool:
    """Wait until the app answers; False where it has ended."""
    while server.poll() is None:
        try:
            socket.create_connection(("localhost", port), timeout=1).close()
        except OSError:
            time.sleep(LOOK_SECONDS)
        else:
            return True
    return False


def _free_port() -> int:
    """The one that is wished for, or the first that nothing listens at; ValueError for a taken."""
    wished = os.environ.get(PORT, "")
    if wished and not wished.isdecimal():
        raise ValueError(f"{PORT} is {quoted(wished)!r}; it must be a number")
    for port in [int(wished)] if wished else range(FIRST_PORT, LAST_PORT):
        with socket.socket() as one:
            if one.connect_ex(("localhost", port)):
                return port
    taken = wished or f"{FIRST_PORT} to {LAST_PORT}"
    raise ValueError(f"port {taken} is taken; set {PORT} to another")
