"""Protects the choice of a device: what this machine lacks is refused with a remedy."""

import pytest
import torch

from model.device import choose_device


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
