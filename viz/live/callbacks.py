"""What a browser asks for while a script runs: changes are taken over whole, and soon."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

from streamlit.runtime.scriptrunner import RerunException, get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequestType

Given = ParamSpec("Given")


def unbroken(callback: Callable[Given, None]) -> Callable[Given, None]:
    """A callback that runs to its end, and the newer request after it.

    Where the browser asks for another run while a callback is at work, Streamlit ends it at its
    next use of the session: what it had left to set would be lost, though its message counts as
    taken over. The callback must come to the same when it begins again.
    """

    @wraps(callback)
    def run(*args: Given.args, **kwargs: Given.kwargs) -> None:
        newer = None
        while True:
            try:
                callback(*args, **kwargs)
                break
            except RerunException as request:
                newer = request
        if newer is not None:
            raise newer

    return run


def is_awaited() -> bool:
    """Whether the browser has asked for another run since this one began.

    A part of a page that runs alone is not ended by the next such run, which waits for it; long
    work in it should make way. Streamlit keeps this where only its own runner looks.
    """
    context = get_script_run_ctx(suppress_warning=True)
    requests = context.script_requests if context else None
    return getattr(requests, "_state", None) is ScriptRequestType.RERUN
