"""Protects what a person changed while the browser asked for another run, and what is sent."""

import asyncio
import socket
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
from streamlit.runtime import runtime_util
from streamlit.runtime.scriptrunner import RerunData, RerunException
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequests
from streamlit.runtime.state import SafeSessionState, SessionState
from streamlit.web.server.starlette import starlette_websocket

from viz import inside_streamlit
from viz.inside_streamlit import (
    TRIED,
    hear_every_message,
    is_awaited,
    refuse_unknown,
    send_at_once,
    send_no_more_than_fits,
    unbroken,
    write_in_turn,
)


def test_another_streamlit_is_refused_at_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    refuse_unknown()
    pins = Path("requirements.txt").read_text(encoding="utf-8").split()
    assert f"streamlit=={TRIED}" in pins
    monkeypatch.delattr(starlette_websocket, "serialize_forward_msg")
    line = r"has no starlette_websocket.serialize_forward_msg; .* pip install streamlit==1\.67\.0$"
    with pytest.raises(ValueError, match=line):
        refuse_unknown()


class Looks:
    """A session whose every use takes up the newest request, as in a running script."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.requests = ScriptRequests()
        self.session = SafeSessionState(SessionState(), self._look)
        context = SimpleNamespace(session_state=self.session)
        monkeypatch.setattr(inside_streamlit, "get_script_run_ctx", lambda **_: context)

    def _look(self) -> None:
        request = self.requests.on_scriptrunner_yield()
        if request is not None:
            raise RerunException(request.rerun_data)


def test_a_callback_is_not_cut_short_and_the_requests_keep_their_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looks = Looks(monkeypatch)

    def callback(change: str) -> None:
        looks.requests.request_rerun(RerunData(page_name="newer"))
        looks.session["first"] = change
        looks.requests.request_rerun(RerunData(page_name="newest"))
        looks.session["second"] = change

    with pytest.raises(RerunException):
        callback("the fault: Streamlit ends it in the middle")
    looks.requests = ScriptRequests()
    unbroken(callback)("a change")
    with pytest.raises(RerunException) as raised:
        looks.session["after it"] = 1
    assert raised.value.rerun_data.page_name == "newest"
    assert (looks.session["first"], looks.session["second"]) == ("a change", "a change")


def test_the_session_looks_again_after_a_callback_that_fails(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looks = Looks(monkeypatch)

    def fails() -> None:
        raise ValueError("no such layer")

    with pytest.raises(ValueError, match="no such layer"):
        unbroken(fails)()
    looks.requests.request_rerun(RerunData())
    with pytest.raises(RerunException):
        looks.session["after it"] = 1


def test_a_callback_outside_of_a_page_runs_once() -> None:
    done: list[str] = []
    unbroken(done.append)("a change")
    assert done == ["a change"]


def test_a_part_that_shall_run_again_is_seen_though_it_ends_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert not is_awaited(), "outside of a page"
    requests = ScriptRequests()
    context = SimpleNamespace(script_requests=requests)
    monkeypatch.setattr(inside_streamlit, "get_script_run_ctx", lambda **_: context)
    assert not is_awaited()
    requests.request_rerun(RerunData(fragment_id="a part"))
    assert requests.on_scriptrunner_yield() is None, "it waits for the end of this run"
    assert is_awaited()


def test_a_message_is_heard_though_a_newer_one_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """A link followed while text is written: the next token is asked for before it is taken up."""
    looks = Looks(monkeypatch)
    heard: list[str] = []

    def hear(_: SessionState, message: WidgetStates, **__: object) -> None:
        heard.extend(widget.json_trigger_value for widget in message.widgets)

    monkeypatch.setattr(SessionState, "on_script_will_rerun", hear)
    taken_up = SafeSessionState.on_script_will_rerun
    monkeypatch.setattr(SafeSessionState, "on_script_will_rerun", taken_up)  # goes back to it
    click = WidgetStates(widgets=[WidgetState(id="link", json_trigger_value="Masks")])
    looks.requests.request_rerun(RerunData(page_name="newer"))
    with pytest.raises(RerunException):
        looks.session.on_script_will_rerun(click)
    assert heard == [], "the fault: nobody has heard of the click"
    hear_every_message()
    hear_every_message()  # a second time changes nothing
    looks.requests.request_rerun(RerunData(page_name="newest"))
    looks.session.on_script_will_rerun(click)
    assert heard == ["Masks"]
    with pytest.raises(RerunException):
        looks.session["after it"] = 1


def test_two_threads_of_a_session_write_it_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """What one of them goes through does not grow under its hands; other sessions are not held."""
    monkeypatch.setattr(
        SafeSessionState, "__init__", SafeSessionState.__init__
    )  # put back at the end
    write_in_turn()
    write_in_turn()  # a second time changes nothing
    state = SessionState()
    older, newer = (SafeSessionState(state, lambda: None) for _ in range(2))
    assert vars(older)["_lock"] is vars(newer)["_lock"]
    assert vars(SafeSessionState(SessionState(), lambda: None))["_lock"] is not vars(older)["_lock"]
    is_over = threading.Event()

    def write() -> None:
        n = 0
        while not is_over.is_set():
            older[f"entry {n % 50}"] = n
            n += 1

    thread = threading.Thread(target=write)
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    thread.start()
    try:
        for _ in range(2000):
            newer.on_script_will_rerun(None)
    finally:
        is_over.set()
        thread.join()
        sys.setswitchinterval(before)


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
