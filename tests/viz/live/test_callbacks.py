"""Protects what a person changed while the browser asked for another run."""

import dataclasses
import sys
import threading
from types import SimpleNamespace

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
from streamlit.runtime.scriptrunner import RerunData, RerunException
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequests
from streamlit.runtime.scriptrunner_utils.script_run_context import ScriptRunContext
from streamlit.runtime.state import SafeSessionState, SessionState

from viz.live import callbacks
from viz.live.callbacks import hear_every_message, is_awaited, unbroken, write_in_turn


class Looks:
    """A session whose every use takes up the newest request, as in a running script."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.requests = ScriptRequests()
        self.session = SafeSessionState(SessionState(), self._look)
        context = SimpleNamespace(session_state=self.session)
        monkeypatch.setattr(callbacks, "get_script_run_ctx", lambda **_: context)

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
