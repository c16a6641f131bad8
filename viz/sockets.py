"""What the server's sockets must be set to before anybody is answered."""

import asyncio
import socket
from typing import Any

WITHOUT_DELAY = (socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def send_at_once(loop: asyncio.AbstractEventLoop) -> None:
    """Have the connections of servers this loop will open send what is small at once.

    Streamlit's listening socket does not name its protocol, so asyncio does not take it for TCP and
    leaves Nagle's algorithm on: the body of an answer then waits 40 ms for the browser to
    acknowledge its head. Connections inherit what is set on the socket that accepts them.
    """
    open_server = loop.create_server

    async def create_server(*given: Any, **named: Any) -> asyncio.Server:  # noqa: ANN401 asyncio's
        listening: socket.socket | None = named.get("sock")
        if listening is not None and listening.family in (socket.AF_INET, socket.AF_INET6):
            listening.setsockopt(*WITHOUT_DELAY)
        return await open_server(*given, **named)

    loop.create_server = create_server
