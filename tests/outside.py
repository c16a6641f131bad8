"""A proxy that stands for every other machine, and notes who asks for one: nobody may."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Outside:
    """What a program asked of the world; each call is the first line it sent."""

    def __init__(self, listener: socket.socket) -> None:
        self.calls: list[str] = []
        self._listener = listener
        self.address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        threading.Thread(target=self._listen, daemon=True).start()

    @property
    def environment(self) -> dict[str, str]:
        """Variables that lead all requests of a program here."""
        names = ("http_proxy", "https_proxy", "all_proxy")
        proxies = {spelling: self.address for name in names for spelling in (name, name.upper())}
        return {**proxies, "no_proxy": "", "NO_PROXY": ""}

    def _listen(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with connection:
                connection.settimeout(2)
                self.calls.append(connection.recv(200).decode("latin-1").split("\r\n")[0])


@contextmanager
def outside() -> Iterator[Outside]:
    """The proxy, until the end of the block."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield Outside(listener)
