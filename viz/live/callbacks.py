"""What a browser asks for while a script runs: changes are taken over whole, and soon."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Concatenate, ParamSpec, TypeAlias

from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequestType
from streamlit.runtime.state import SafeSessionState, SessionState

Given = ParamSpec("Given")
TakenUp: TypeAlias = Callable[..., None]


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
