"""A trace against the independent forward pass of `model.reference`, array by array."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from model import reference
from model.tap import Edit
from model.trace import RESIDUAL_NAMES, Trace
from model.verify.check import Check, relative_error

ALLOWED = 1e-5
# What is compared, under one name each: arrays by the last part of their addresses.
COMPARED: dict[str, tuple[str, ...]] = {
    "token ids, embeddings and positions": ("ids", "pixels", "embed", "positions"),
    "q, k and v": ("q", "k", "v"),
    "biases and masks": ("bias", "mask"),
    "scores": ("scores",),
    "pattern": ("pattern",),
    "z": ("z",),
    "residual stream": RESIDUAL_NAMES,
    "logits": ("output",),
}
OF_HEADS = ("q, k and v", "scores", "pattern", "z")
NOT_COMPUTED = ("labels", "roles", "special", "scale")  # text; and what the scores would show


@dataclass
class _Worst:
    """The largest error of one kind so far, and the first array that was off."""

    error: float = 0.0
    address: str = ""


def check_independently(
    trace: Trace, files: reference.Files, mask: np.ndarray | None = None
) -> tuple[Check, ...]:
    """All arrays of a trace against those of the independent run, a check for each kind.

    mask: the (T, T) mask it was captured under, if not the model's own. A check that fails names
    the first array, in the order of the forward pass, that is off: what follows inherits it.
    """
    ours = {
        address: array for address, array in trace.arrays() if _last(address) not in NOT_COMPUTED
    }
    compared = {name: _Worst() for name in COMPARED}
    for address, expected in reference.arrays(files, trace.given, mask):
        array = ours.pop(address, None)
        error = math.inf if array is None else relative_error(array, expected)
        _keep(compared, address, error)
    for address in ours:  # what the independent run knows nothing of
        _keep(compared, address, math.inf)
    return tuple(_check(name, worst, trace) for name, worst in compared.items())


def _last(address: str) -> str:
    return address.rsplit(".", 1)[-1]


def _keep(compared: dict[str, _Worst], address: str, error: float) -> None:
    worst = compared[next(name for name, last in COMPARED.items() if _last(address) in last)]
    worst.error = max(worst.error, error)
    if error > ALLOWED and not worst.address:
        worst.address = address


def _check(name: str, worst: _Worst, trace: Trace) -> Check:
    n_heads = sum(record.n_heads for record in trace.attention)
    of = f" of {n_heads} heads" if name in OF_HEADS else ""
    where = f", first in {worst.address}" if worst.address else ""
    return Check(f"{name}{of} = an independent float64 run{where}", worst.error, ALLOWED)


def edited(files: reference.Files, edits: Sequence[Edit], device: torch.device) -> reference.Files:
    """Files whose run is edited on the way, as that of the model is.

    What an edit puts in place is the model's float32; all that follows from it is computed again.
    device: where those values are.
    """
    has_two = files.config["architecture"] == "encoder_decoder"
    by_place: dict[str, list[Edit]] = {}
    for edit in edits:
        place = edit.address if has_two else edit.address.partition(".")[2]
        by_place.setdefault(place, []).append(edit)

    def change(place: str, array: np.ndarray) -> np.ndarray:
        for edit in by_place.get(place, ()):
            value = torch.from_numpy(array).to(device)[None]  # (1, …), as the model has it
            array = edit.change(value)[0].cpu().numpy()
        return array

    return replace(files, change=change)


def log_probability(logits: np.ndarray, prompt: Sequence[int], text: Sequence[int]) -> float:
    """Σ ln p of the tokens of a text after a prompt, each given all before it, of a decoder.

    logits: (T, V) of both together; a sum over a large vocabulary would drift in float32.
    """
    rows = logits[len(prompt) - 1 : len(prompt) + len(text) - 1].astype(np.float64)
    own = rows[np.arange(len(text)), np.array(text)]
    return float((own - np.logaddexp.reduce(rows, axis=-1)).sum())
