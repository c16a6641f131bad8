"""Protects visitors from one too many: he is told, and gets a place when one is free."""

import gc

import pytest

from tests.viz.apps import charts, lines, open_page
from tests.viz.builders import live_data
from viz.frame import admission
from viz.guard import MOST_VISITORS, most_visitors


def test_one_too_many_is_told_and_a_seat_is_free_again(monkeypatch: pytest.MonkeyPatch) -> None:
    gc.collect()  # sessions of other tests
    monkeypatch.setattr(admission._Seat, "is_used", lambda seat: True)  # here nobody is connected
    monkeypatch.setenv("HEADLIGHT_VISITORS", str(len(admission._seats) + 1))
    first = open_page("Attention")
    assert live_data(first)["settings"]
    second = open_page("Attention")
    (line,) = lines(second, "error")
    assert "places here are taken" in line
    assert not charts(second)
    first.run()
    assert lines(first, "error") == [], "who is in stays in"
    del first
    gc.collect()
    second.run()
    assert lines(second, "error") == []
    assert live_data(second)["settings"]


def test_how_many_is_a_number() -> None:
    assert most_visitors({}) == MOST_VISITORS
    assert most_visitors({"HEADLIGHT_VISITORS": "7"}) == 7
    for wrong in ("0", "-1", "many", "", "1.5", "0001", "٣", "9" * 5000):
        with pytest.raises(ValueError, match=r"HEADLIGHT_VISITORS is .* must be a whole number"):
            most_visitors({"HEADLIGHT_VISITORS": wrong})
