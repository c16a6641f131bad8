"""Protects when a run is checked: after the figures, but not never."""

import threading
from concurrent.futures import TimeoutError as NotYet

import pytest

from model.trace import Trace
from tests.viz.builders import stories_trace
from viz.runs import checking

PATIENCE = 60  # seconds; a busy machine is slow, which no test judges


@pytest.fixture
def trace() -> Trace:
    """A trace that stays for the test: checks are not made of one that nobody has any more."""
    return stories_trace("Tom had a red ball.")


def test_a_check_follows_the_figures(trace: Trace) -> None:
    drawn = threading.Event()
    with checking.figures_first():
        found = checking.begin(trace, lambda trace: ("drawn" if drawn.is_set() else "first",))
        with pytest.raises(NotYet):
            found.result(timeout=0.2)
        drawn.set()
    assert found.result(timeout=PATIENCE) == ("drawn",)


def test_the_newest_run_is_checked_first(trace: Trace) -> None:
    order: list[str] = []
    with checking.figures_first():
        both = [checking.begin(trace, lambda _, x=x: (order.append(x),)) for x in ("old", "new")]
    assert [one.result(timeout=PATIENCE) for one in both] == [(None,), (None,)]
    assert order == ["new", "old"]


def test_figures_that_fail_do_not_hold_checks_up(trace: Trace) -> None:
    with pytest.raises(ValueError, match="no figure"), checking.figures_first():
        raise ValueError("no figure")
    assert checking.begin(trace, lambda trace: ("checked",)).result(timeout=PATIENCE) == (
        "checked",
    )


def test_a_page_that_takes_long_is_not_waited_for(
    trace: Trace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checking, "MOST_WAIT", 0.1)
    with checking.figures_first():
        found = checking.begin(trace, lambda trace: ("checked",))
        assert found.result(timeout=PATIENCE) == ("checked",)
