"""Every array of a trace against an independent run from the model's own files.

`model.reference` shares no code with the model that runs, so a fault of either shows, and so does a
weight that is not the file's any more.
"""

import math
from dataclasses import dataclass

import numpy as np

from model import reference
from model.trace import RESIDUAL_NAMES, Trace
from model.verify.check import Check, relative_error

ALLOWED = 1e-5
# What is compared, under one name each: arrays by the last part of their addresses.
COMPARED: dict[str, tuple[str, ...]] = {
    "token ids, embeddings and positions": ("ids", "embed", "positions"),
    "q, k and v": ("q", "k", "v"),
    "biases and masks": ("bias", "mask"),
    "scores": ("scores",),
    "pattern": ("pattern",),
    "z": ("z",),
    "residual stream": RESIDUAL_NAMES,
    "logits": ("output",),
}
OF_HEADS = ("q, k and v", "scores", "pattern", "z")
NOT_COMPUTED = ("labels", "scale")  # text; and what the scores would show


@dataclass
class _Found:
    """The worst array of one kind so far."""

    error: float = 0.0
    address: str = ""


def check_independently(
    trace: Trace, files: reference.Files, mask: np.ndarray | None = None
) -> tuple[Check, ...]:
    """All arrays of a trace against those of the independent run, a check for each kind.

    mask: the (T, T) mask it was captured under, if not the model's own. A check that fails names
    the array that is furthest off.
    """
    ours = {
        address: array for address, array in trace.arrays() if _last(address) not in NOT_COMPUTED
    }
    worst = {name: _Found() for name in COMPARED}
    for address, expected in reference.arrays(files, trace.ids, mask):
        array = ours.pop(address, None)
        error = math.inf if array is None else relative_error(array, expected)
        _keep(worst, address, error)
    for address in ours:  # what the independent run knows nothing of
        _keep(worst, address, math.inf)
    return tuple(_check(name, found, trace) for name, found in worst.items())


def _last(address: str) -> str:
    return address.rsplit(".", 1)[-1]


def _keep(worst: dict[str, _Found], address: str, error: float) -> None:
    found = worst[next(name for name, last in COMPARED.items() if _last(address) in last)]
    if not error <= found.error or not found.address:
        found.error, found.address = error, address


def _check(name: str, found: _Found, trace: Trace) -> Check:
    n_heads = sum(record.n_heads for record in trace.attention)
    of = f" of {n_heads} heads" if name in OF_HEADS else ""
    where = "" if found.error <= ALLOWED else f", worst in {found.address}"
    return Check(f"{name}{of} = an independent float64 run{where}", found.error, ALLOWED)
