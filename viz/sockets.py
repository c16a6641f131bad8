"""What the server's sockets must be set to before anybody is answered."""

import asyncio
import socket
from typing import Any

from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.runtime_util import get_max_message_size_bytes, serialize_forward_msg
from streamlit.web.server.starlette import starlette_websocket

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


def send_no_more_than_fits() -> None:
    """Have a line stand in the place of what is too large to be sent, not a box of Streamlit's."""

    def serialize_what_fits(message: ForwardMsg) -> bytes:
        size, most = message.ByteSize(), get_max_message_size_bytes()
        if size > most:
            message.metadata.cacheable = False
            message.delta.new_element.html.body = (
                f'<p class="hl-error" role="alert">This is not drawn: it takes {size / 1e6:,.0f} '
                f"MB, more than the {most / 1e6:,.0f} MB that a browser is sent. Give a shorter "
                "text.</p>"
            )
        return serialize_forward_msg(message)

    setattr(starlette_websocket, serialize_forward_msg.__name__, serialize_what_fits)
