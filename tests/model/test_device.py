"""Protects the choice of a device: what this machine lacks is refused with a remedy."""

import re
from pathlib import Path
from threading import Event, Thread
from types import SimpleNamespace

import pytest
import torch

from model import device
from model.device import choose_device, has_fast_bfloat16, one_thread


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("warp", "device 'warp' is unknown; use auto, cpu or cuda"),
        ("", "device '' is unknown"),
        ("meta", "device 'meta' is not supported; use"),
        ("cuda:99", r"device is cuda:99 but this machine has \d CUDA devices; use cpu"),
    ],
)
def test_devices_this_machine_lacks_are_refused(setting: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        choose_device(setting)


@pytest.mark.parametrize(("has_cuda", "expected"), [(True, "cuda"), (False, "cpu")])
def test_auto_is_cuda_when_there_is_one(
    has_cuda: bool, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: has_cuda)
    assert choose_device("auto").type == expected
    assert choose_device("cpu") == torch.device("cpu")


def test_a_card_that_emulates_bfloat16_is_not_fast_at_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of each card by itself: one machine may have several."""
    majors = {0: 7, 1: 8, 2: 9}
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda *_: True)
    monkeypatch.setattr(
        torch.cuda, "get_device_properties", lambda of: SimpleNamespace(major=majors[of.index])
    )
    assert [has_fast_bfloat16(torch.device("cuda", i)) for i in majors] == [False, True, True]


def test_one_thread_is_left_as_it_was_by_those_who_overlap() -> None:
    """A thread that begins while another computes on one would take that for the usual number."""
    before, seen, inside, gone = torch.get_num_threads(), [], Event(), Event()

    def other() -> None:
        with one_thread():
            inside.set()
            gone.wait()

    try:
        torch.set_num_threads(3)
        first = one_thread()
        first.__enter__()
        assert torch.get_num_threads() == 1
        second = Thread(target=other)
        second.start()
        inside.wait()
        first.__exit__(None, None, None)
        gone.set()
        second.join()
        third = Thread(target=lambda: seen.append(torch.get_num_threads()))
        third.start()
        third.join()
        assert (torch.get_num_threads(), seen) == (3, [3])
    finally:
        torch.set_num_threads(before)


# Where tensors are the CPU's anyway: of what draws tokens, was numpy, or is built there.
ON_THE_CPU = {
    "decoding/beam.py", "decoding/filters.py", "decoding/writing.py", "analysis/depth.py",
    "analysis/fitted_lens.py", "analysis/probabilities.py", "analysis/positions.py", "positions.py",
}  # fmt: skip


def test_what_a_model_gave_is_moved_before_it_is_widened() -> None:
    """Not each device has float64: a model in memory may be on one of Apple's."""
    room = Path(device.__file__).parent
    found = {
        str(path.relative_to(room))
        for path in room.rglob("*.py")
        if re.search(r"(?<!\.cpu\(\))\.double\(\)", path.read_text("utf-8"))
    }
    assert found == ON_THE_CPU
