"""Protects what is kept for all visitors: bounded in bytes, worked out once, never under a lock."""

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import pytest
import torch

from tests.viz.builders import stories_trace
from viz.runs.kept import Kept, bytes_of


def kilobytes(n: int) -> np.ndarray:
    """An array of so many kilobytes."""
    return np.zeros(n * 1000, np.uint8)


def test_what_was_asked_for_longest_ago_goes_first() -> None:
    kept, worked_out = Kept(budget=10_000), []

    def ask(name: str, size: int = 4) -> None:
        kept.answer(name, lambda: worked_out.append(name) or kilobytes(size))

    for name in ("a", "b", "a", "c", "a", "b"):
        ask(name)
    assert worked_out == ["a", "b", "c", "b"], "c took the place of b, which a had outlived"
    assert kept.n_bytes == 8_000
    for name in ("large", "c", "larger", "large", "largest", "large"):
        ask(name, 4 if name == "c" else 50)
    assert worked_out[4:] == ["large", "c", "larger", "largest"]
    assert kept.n_bytes == 2 * 50_000 + 8_000, "the last two large ones stay besides"


def test_one_answer_serves_all_who_ask_for_the_same_and_nobody_else_waits() -> None:
    kept, begun, go_on = Kept(budget=10_000), threading.Event(), threading.Event()

    def slow() -> str:
        begun.set()
        assert go_on.wait(60)
        return "slow"

    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(kept.answer, "same", slow)
        assert begun.wait(60)
        second = threads.submit(kept.answer, "same", pytest.fail)
        assert kept.answer("other", lambda: "quick") == "quick"
        go_on.set()
        assert (first.result(60), second.result(60)) == ("slow", "slow")


@pytest.mark.parametrize("fault", [ValueError("no"), KeyboardInterrupt()])
def test_what_failed_is_worked_out_anew(fault: BaseException) -> None:
    kept = Kept(budget=10_000)

    def fail() -> None:
        raise fault

    with pytest.raises(type(fault)):
        kept.answer("x", fail)
    assert kept.answer("x", lambda: "now") == "now"


@dataclass
class Pair:
    """Two arrays, and what is in one of them."""

    one: np.ndarray
    two: torch.Tensor


def test_bytes_are_those_of_all_arrays_each_counted_once() -> None:
    one, two = kilobytes(3), torch.zeros(1000)
    assert bytes_of(Pair(one, two)) == 3_000 + 4_000
    assert bytes_of({"a": [one, one], "b": (Pair(one, two), "four", b"two")}) == 7_000 + 4 + 3
    trace = stories_trace("The cat sat.")
    assert bytes_of(trace) > sum(record.pattern.nbytes for record in trace.attention)
