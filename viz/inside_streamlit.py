"""All that depends on how Streamlit is built, which it may change with any version.

What a browser asks for while a script runs is taken over whole, and soon; what is sent goes at
once, or a line stands in its place; and who is connected is known.
"""

import asyncio
import dataclasses
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeAlias

import streamlit as st
from streamlit import runtime
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.runtime_util import get_max_message_size_bytes, serialize_forward_msg
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequests, ScriptRequestType
from streamlit.runtime.scriptrunner_utils.script_run_context import ScriptRunContext
from streamlit.runtime.state import SafeSessionState, SessionState
from streamlit.web.server.starlette import starlette_websocket

Given = ParamSpec("Given")
TakenUp: TypeAlias = Callable[..., None]
WITHOUT_DELAY = (socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
TRIED = "1.67.0"  # with this version of Streamlit


def refuse_unknown() -> None:
    """ValueError where the Streamlit that is installed is not built as the one that was tried."""
    session = vars(SafeSessionState(SessionState(), lambda: None))
    parts = {
        "SafeSessionState._yield_callback": "_yield_callback" in session,
        "SafeSessionState._lock": "_lock" in session,
        "ScriptRequests._state": "_state" in vars(ScriptRequests()),
        "ScriptRunContext.script_requests": "script_requests"
        in {field.name for field in dataclasses.fields(ScriptRunContext)},
        "starlette_websocket.serialize_forward_msg": serialize_forward_msg.__name__
        in vars(starlette_websocket),
    }
    if lacking := [name for name, is_there in parts.items() if not is_there]:
        raise ValueError(
            f"Streamlit {st.__version__} has no {', '.join(lacking)}; install the version that "
            f"Headlight was tried with: pip install streamlit=={TRIED}"
        )


def session_id() -> str:
    """Of the session whose page is drawn; empty outside of one."""
    context = get_script_run_ctx()
    return context.session_id if context else ""


def is_connected(session: str) -> bool:
    """Whether a session's visitor is; Streamlit keeps sessions a while after they left."""
    return runtime.exists() and runtime.get_instance().is_active_session(session) is True


# --- what a browser asks for while a script runs ------------------------------------------------


def unbroken(callback: Callable[Given, None]) -> Callable[Given, None]:
    """A callback that runs to its end, whatever the browser asks for meanwhile.

    At each use of the session Streamlit looks whether there is a newer request, and ends what runs.
    Of a callback, what it had left to set would be lost, though its message counts as taken over;
    and the newer request is put back behind any that came after it, whose messages are lost then.
    What was asked for is done once all callbacks have run.
    """

    @wraps(callback)
    def run(*args: Given.args, **kwargs: Given.kwargs) -> None:
        with _undisturbed():
            callback(*args, **kwargs)

    return run


@contextmanager
def _undisturbed() -> Iterator[None]:
    """What a callback does to the session of its page, in one piece."""
    context = get_script_run_ctx(suppress_warning=True)
    with _looking_nowhere(context.session_state if context else None):
        yield


@contextmanager
def _looking_nowhere(session: SafeSessionState | None) -> Iterator[None]:
    """Streamlit offers no such thing: for a while its session has nowhere to look."""
    parts = {} if session is None else vars(session)
    looks = parts.get("_yield_callback")
    parts["_yield_callback"] = lambda: None
    try:
        yield
    finally:
        parts["_yield_callback"] = looks


def hear_every_message() -> None:
    """Have each message's callbacks called, also where a newer message comes just before they are.

    Streamlit takes a message up and then looks once more for a newer one, for which it drops the
    one it has: the click it brought, whose value the browser has already cleared, is lost. What is
    newer is still asked for right after the callbacks.
    """
    if getattr(SafeSessionState.on_script_will_rerun, "__wrapped__", None) is None:
        taken_up = SafeSessionState.on_script_will_rerun
        SafeSessionState.on_script_will_rerun = _without_a_look(taken_up)


def write_in_turn() -> None:
    """Have the threads of one visitor's session write it one after the other.

    A newer request gets a thread of its own while the older one, told to stop, still writes its
    last entry. Each has a lock of its own around the session that both share: what one goes through
    grew under its hands, "dictionary changed size during iteration".
    """
    if getattr(SafeSessionState.__init__, "__wrapped__", None) is None:
        SafeSessionState.__init__ = _with_the_session_s_lock(SafeSessionState.__init__)


def _with_the_session_s_lock(
    made: Callable[Concatenate[SafeSessionState, SessionState, Given], None],
) -> TakenUp:
    @wraps(made)
    def make(
        wrapper: SafeSessionState, state: SessionState, *args: Given.args, **kwargs: Given.kwargs
    ) -> None:
        made(wrapper, state, *args, **kwargs)
        of_the_session = vars(state.query_params)  # a part of it that has room
        lock = of_the_session.setdefault("_lock_of_all_threads", vars(wrapper)["_lock"])
        vars(wrapper)["_lock"] = lock

    return make


def _without_a_look(taken_up: Callable[Concatenate[SafeSessionState, Given], None]) -> TakenUp:
    @wraps(taken_up)
    def run(session: SafeSessionState, *args: Given.args, **kwargs: Given.kwargs) -> None:
        with _looking_nowhere(session):
            taken_up(session, *args, **kwargs)

    return run


def is_awaited() -> bool:
    """Whether the browser has asked for another run since this one began.

    A part of a page that runs alone is not ended by the next such run, which waits for it; long
    work in it should make way. Streamlit keeps this where only its own runner looks.
    """
    context = get_script_run_ctx(suppress_warning=True)
    requests = context.script_requests if context else None
    return getattr(requests, "_state", None) is ScriptRequestType.RERUN


# --- what is sent -------------------------------------------------------------------------------


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
