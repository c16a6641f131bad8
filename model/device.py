"""Where a model computes, and in which numbers."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

import torch
from torch import Tensor

from model.lines import quoted
from model.memory import free_memory

PRECISIONS = {"float32": torch.float32, "bfloat16": torch.bfloat16}
FIRST_WITH_BFLOAT16 = (
    8  # the major number of Ampere; torch says yes of older cards, which emulate it
)


def choose_device(setting: str = "auto") -> torch.device:
    """The device a setting means; ValueError when this machine does not have it."""
    if setting == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(setting)
    except RuntimeError:
        raise ValueError(f"device {quoted(setting)!r} is unknown; use auto, cpu or cuda") from None
    n_cuda = torch.cuda.device_count()
    if device.type == "cuda" and (device.index or 0) >= n_cuda:
        raise ValueError(f"device is {setting} but this machine has {n_cuda} CUDA devices; use cpu")
    if device.type not in ("cpu", "cuda"):
        raise ValueError(f"device {quoted(setting)!r} is not supported; use auto, cpu or cuda")
    return device


def wide(x: Tensor) -> Tensor:
    """float64 of a tensor, on the CPU: there are devices, as Apple's, that have no such numbers."""
    return x.cpu().double()


def free_on(device: torch.device) -> float:
    """Bytes that a model may still take on a device, through this machine's own memory."""
    there = free_memory()
    return min(there, torch.cuda.mem_get_info(device)[0]) if device.type == "cuda" else there


def has_fast_bfloat16(device: torch.device) -> bool:
    """Whether the hardware multiplies bfloat16 natively; emulated, it is slower than float32."""
    if device.type == "cuda":
        return torch.cuda.get_device_properties(device).major >= FIRST_WITH_BFLOAT16
    features = torch.cpu.get_capabilities()
    return bool(features.get("avx512_bf16") or features.get("amx_bf16") or features.get("bf16"))


@contextmanager
def one_thread() -> Iterator[None]:
    """Threads that wait for each other are slow and unsteady on a busy machine.

    A new thread of Python begins with the number that was set last: what one says that began in
    here is not the number to come back to.
    """
    with _Inside.lock:
        if not _Inside.n:
            _Inside.before = torch.get_num_threads()
        _Inside.n += 1
    torch.set_num_threads(1)
    try:
        yield
    finally:
        with _Inside.lock:
            _Inside.n -= 1
            torch.set_num_threads(_Inside.before)


class _Inside:
    """How many are in `one_thread`, and torch's number of threads before the first of them was."""

    lock, n, before = Lock(), 0, 1
