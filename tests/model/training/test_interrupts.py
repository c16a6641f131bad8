"""Protects what must not be done by half from Ctrl-C and its like."""

import signal
import threading
from collections.abc import Iterator

import pytest

from model.training.interrupts import STOPS, uninterrupted


class StoppedBySignal(BaseException):
    """What the tests' own handler raises."""


@pytest.fixture(autouse=True)
def handlers() -> Iterator[None]:
    """Every signal raises an exception with its number; afterwards all is as it was."""

    def stop(number: int, frame: object) -> None:
        raise StoppedBySignal(number)

    before = {number: signal.signal(number, stop) for number in STOPS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", STOPS)
def test_a_signal_waits_for_the_end_of_the_block(number: int) -> None:
    done = []
    with pytest.raises(StoppedBySignal, match=str(int(number))):  # noqa: SIM117
        with uninterrupted():
            signal.raise_signal(number)
            done.append("the rest")
    assert done == ["the rest"]


def test_an_inner_block_leaves_it_to_the_outer_one() -> None:
    done = []
    with pytest.raises(StoppedBySignal):  # noqa: SIM117
        with uninterrupted():
            with uninterrupted():
                signal.raise_signal(signal.SIGINT)
                done.append("inner")
            done.append("outer")
    assert done == ["inner", "outer"]


def test_of_many_signals_the_first_is_obeyed() -> None:
    with pytest.raises(StoppedBySignal, match=str(int(signal.SIGTERM))), uninterrupted():
        signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)


def test_handlers_are_as_before_whatever_happens() -> None:
    before = [signal.getsignal(number) for number in STOPS]
    with uninterrupted():
        assert [signal.getsignal(number) for number in STOPS] != before
    with pytest.raises(ZeroDivisionError), uninterrupted():
        _ = 1 / 0
    assert [signal.getsignal(number) for number in STOPS] == before


def test_a_signal_that_is_ignored_stays_ignored() -> None:
    """As SIGHUP is under nohup."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with uninterrupted():
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
        signal.raise_signal(signal.SIGINT)


def test_another_thread_has_nothing_to_hold_back() -> None:
    done = []

    def work() -> None:
        with uninterrupted():
            done.append(threading.current_thread().name)

    thread = threading.Thread(target=work, name="other")
    thread.start()
    thread.join()
    assert done == ["other"]


def test_what_fails_under_a_signal_is_the_signal() -> None:
    """Ctrl-C kills the compiler that a step has started; the step fails, and the run is stopped."""
    with pytest.raises(StoppedBySignal), uninterrupted():
        signal.raise_signal(signal.SIGINT)
        raise RuntimeError("the compiler was killed")
    with pytest.raises(RuntimeError, match="a defect"), uninterrupted():
        raise RuntimeError("a defect")
