"""Protects answers: small ones are not delayed, and of too large ones a line is sent."""

import asyncio
import socket
from concurrent.futures import ThreadPoolExecutor

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime import runtime_util
from streamlit.web.server.starlette import starlette_websocket

from viz.sockets import send_at_once, send_no_more_than_fits


async def _is_delayed(family: int, address: str, *, is_mended: bool) -> bool:
    """Whether a connection that a server on a nameless socket accepted waits with small packets."""
    loop = asyncio.get_running_loop()
    if is_mended:
        send_at_once(loop)
    found: asyncio.Future[int] = loop.create_future()

    def accepted(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = writer.get_extra_info("socket")
        found.set_result(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        writer.close()

    listening = socket.socket(family)  # as Streamlit makes it
    listening.bind((address, 0))
    server = await asyncio.start_server(accepted, sock=listening)
    _, writer = await asyncio.open_connection(address, listening.getsockname()[1])
    is_set = await found
    writer.close()
    server.close()
    return not is_set


@pytest.mark.parametrize(
    ("family", "address"), [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")]
)
def test_what_is_small_is_sent_at_once(family: int, address: str) -> None:
    try:
        socket.socket(family).bind((address, 0))
    except OSError:
        pytest.skip(f"no {address} here")
    with ThreadPoolExecutor() as elsewhere:  # this thread may have a loop that runs

        def is_delayed(*, is_mended: bool) -> bool:
            asked = _is_delayed(family, address, is_mended=is_mended)
            return elsewhere.submit(asyncio.run, asked).result()

        assert is_delayed(is_mended=False), "the fault this is for"
        assert not is_delayed(is_mended=True)


@pytest.mark.parametrize(("n", "is_sent"), [(1_900_000, True), (2_600_000, False)])
def test_a_line_stands_in_the_place_of_what_is_too_large(
    n: int, is_sent: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runtime_util, "_max_message_size_bytes", 2_000_000)
    monkeypatch.setattr(starlette_websocket, "serialize_forward_msg", None)  # put back after
    send_no_more_than_fits()
    message = ForwardMsg()
    message.delta.new_element.bidi_component.json = n * "x"
    sent = ForwardMsg.FromString(vars(starlette_websocket)["serialize_forward_msg"](message))
    element = sent.delta.new_element
    assert element.WhichOneof("type") == ("bidi_component" if is_sent else "html")
    assert is_sent or "it takes 3 MB, more than the 2 MB that" in element.html.body
