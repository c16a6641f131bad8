"""Every array of a trace against an independent run from the model's own files.

`model.reference` shares no code with the model that runs, so a fault of either shows, and so does a
weight that is not the file's any more.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

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
    compared = {name: _Found() for name in COMPARED}
    for address, expected in reference.arrays(files, trace.ids, mask):
        array = ours.pop(address, None)
        error = math.inf if array is None else relative_error(array, expected)
        _keep(compared, address, error)
    for address in ours:  # what the independent run knows nothing of
        _keep(compared, address, math.inf)
    return tuple(_check(name, found, trace) for name, found in compared.items())


def _last(address: str) -> str:
    return address.rsplit(".", 1)[-1]


def _keep(compared: dict[str, _Found], address: str, error: float) -> None:
    found = compared[next(name for name, last in COMPARED.items() if _last(address) in last)]
    found.error = max(found.error, error)
    if error > ALLOWED and not found.address:
        found.address = address


def _check(name: str, found: _Found, trace: Trace) -> Check:
    n_heads = sum(record.n_heads for record in trace.attention)
    of = f" of {n_heads} heads" if name in OF_HEADS else ""
    where = f", first in {found.address}" if found.address else ""
    return Check(f"{name}{of} = an independent float64 run{where}", found.error, ALLOWED)


# --- by address ---------------------------------------------------------------------------------

ADDRESS = re.compile(r"([a-z0-9_.]{1,80})(?:\[(-?[0-9]{1,6})\])?")
KEPT_RUNS = 2  # of 256 tokens and 48 heads, some 70 MB each


@dataclass(frozen=True, eq=False)
class IndependentRun:
    """The independent run of one input, asked for by address; only the last few are kept.

    ids (T,), mask (T, T) where it is not the model's own.
    """

    files: reference.Files
    ids: np.ndarray
    mask: np.ndarray | None = None

    def array(self, address: str) -> np.ndarray:
        """The array at an address in float64, such as decoder.blocks.2.attn.pattern[4] or output.

        `product` and `scaled` are there beside what a trace has: q·kᵀ of each head, and that
        scaled. A mask that all heads share is that of each. ValueError where there is none.
        """
        found = ADDRESS.fullmatch(address)
        name, index = found.groups() if found else ("", None)
        array = _derived(name, _arrays(self))
        if index is None:
            return array
        if name.endswith(".mask") and array.ndim == 2:
            return array
        if not -len(array) <= int(index) < len(array):
            raise ValueError(f"{name} has {len(array)} parts; {index} is none of them")
        return array[int(index)]


@lru_cache(maxsize=KEPT_RUNS)
def _arrays(run: IndependentRun) -> Mapping[str, np.ndarray]:
    return dict(reference.arrays(run.files, run.ids, run.mask))


def _derived(name: str, arrays: Mapping[str, np.ndarray]) -> np.ndarray:
    site, _, last = name.rpartition(".")
    if last in ("product", "scaled") and f"{site}.q" in arrays:
        q, k = arrays[f"{site}.q"], arrays[f"{site}.k"]
        products = q @ np.repeat(k, len(q) // len(k), axis=0).swapaxes(-2, -1)
        return products / math.sqrt(q.shape[-1]) if last == "scaled" else products
    if name not in arrays:
        raise ValueError(f"the independent run has no array {name or 'of that address'}")
    return arrays[name]
