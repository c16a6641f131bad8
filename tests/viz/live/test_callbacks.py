"""Protects what a person changed while the browser asked for another run."""

import dataclasses
from types import SimpleNamespace

import pytest
from streamlit.runtime.scriptrunner import RerunData, RerunException
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequests
from streamlit.runtime.scriptrunner_utils.script_run_context import ScriptRunContext

from viz.live import callbacks
from viz.live.callbacks import is_awaited, unbroken


def test_a_callback_cut_short_begins_again_and_the_request_follows_it() -> None:
    requests = [RerunException(RerunData(page_name=name)) for name in ("first", "second")]
    waiting, done = list(requests), []

    def callback(change: str) -> None:
        if waiting:
            raise waiting.pop(0)
        done.append(change)

    with pytest.raises(RerunException) as raised:
        unbroken(callback)("a change")
    assert done == ["a change"]
    assert raised.value is requests[-1]  # the newest: it has the state of all widgets


def test_a_callback_nobody_cuts_runs_once() -> None:
    done: list[str] = []
    unbroken(done.append)("a change")
    assert done == ["a change"]


def test_a_part_that_shall_run_again_is_seen_though_it_ends_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Streamlit's own parts: its next version may keep a request elsewhere."""
    assert not is_awaited(), "outside of a page"
    assert "script_requests" in {field.name for field in dataclasses.fields(ScriptRunContext)}
    requests = ScriptRequests()
    context = SimpleNamespace(script_requests=requests)
    monkeypatch.setattr(callbacks, "get_script_run_ctx", lambda **_: context)
    assert not is_awaited()
    requests.request_rerun(RerunData(fragment_id="a part"))
    assert requests.on_scriptrunner_yield() is None, "it waits for the end of this run"
    assert is_awaited()
