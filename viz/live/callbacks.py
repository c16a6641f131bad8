"""What a browser asks for while a script runs: changes are taken over whole, and soon."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import ParamSpec

from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequestType

Given = ParamSpec("Given")


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
    """Streamlit offers no such thing: for a while its session has nowhere to look."""
    context = get_script_run_ctx(suppress_warning=True)
    parts = vars(context.session_state) if context else {}
    looks = parts.get("_yield_callback")
    parts["_yield_callback"] = lambda: None
    try:
        yield
    finally:
        parts["_yield_callback"] = looks


def is_awaited() -> bool:
    """Whether the browser has asked for another run since this one began.

    A part of a page that runs alone is not ended by the next such run, which waits for it; long
    work in it should make way. Streamlit keeps this where only its own runner looks.
    """
    context = get_script_run_ctx(suppress_warning=True)
    requests = context.script_requests if context else None
    return getattr(requests, "_state", None) is ScriptRequestType.RERUN
