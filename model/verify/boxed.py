"""The boxes of a model's diagram, once more: what leaves each, and its weights in the file.

By the names of tensors and the config alone. Addresses: boxes.0 has a row for each box of the first
stack in the order of the forward pass, (N, 3): rows, columns, weights; boxes.layers.0 says how
often its block is there.
"""

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from model.reference import Files

if TYPE_CHECKING:
    from model.verify.derived import Ran

Array = np.ndarray
Box = tuple[int, int, int]  # rows, columns, weights
STACKS = {"decoder": ["decoder"], "encoder_decoder": ["encoder", "decoder"]}
SUBLAYERS = {"attn": "attn_norm", "cross_attn": "cross_norm", "ffn": "ffn_norm"}


@lru_cache(maxsize=2)
def _sizes(files: Files) -> dict[str, int]:
    return {name: int(np.size(files.weights[name])) for name in files.weights}


def _weights(files: Files, part: str) -> int:
    """Numbers of all tensors whose names begin with the part's."""
    return sum(n for name, n in _sizes(files).items() if name.startswith(f"{part}."))


def _stacks(ran: "Ran") -> list[str]:
    return STACKS.get(ran.files.config["architecture"], ["encoder"])


def _boxes(ran: "Ran", number: int) -> Iterator[Box]:
    files, stacks = ran.files, _stacks(ran)
    name, config = stacks[number], files.config
    own = f"{name}." if len(stacks) > 1 else ""
    stream = np.shape(ran.arrays[f"{name}.embed"])
    is_pre = config["norm_placement"] == "pre"

    def box(part: str = "") -> Box:
        return (stream[0], stream[1], _weights(files, f"{own}{part}") if part else 0)

    yield box("embed")
    if config["position"] in ("sinusoidal", "learned"):
        yield box("position")
    for module, norm in SUBLAYERS.items():
        if any(re.match(rf"{own}blocks\.0\.{module}\.", x) for x in _sizes(files)):
            of_norm, work = box(f"blocks.0.{norm}"), (box(f"blocks.0.{module}"), box())
            yield from (of_norm, *work) if is_pre else (*work, of_norm)
    if is_pre:
        yield box("final_norm")
    if name == stacks[-1]:
        yield from _ends(ran, stream)


def _ends(ran: "Ran", stream: tuple[int, ...]) -> Iterator[Box]:
    """From the stream to probabilities; of a picture the class token's alone."""
    rows, columns = np.shape(np.atleast_2d(ran.arrays["output"]))
    if ran.files.config["architecture"] == "vision":
        yield (1, stream[1], 0)
    yield (rows, columns, _weights(ran.files, "unembed"))
    yield (rows, columns, 0)


def _layers(ran: "Ran", number: int) -> Array:
    """How many blocks the file has of a stack."""
    stacks = _stacks(ran)
    own = f"{stacks[number]}\\." if len(stacks) > 1 else ""
    found = (re.match(rf"{own}blocks\.(\d+)\.", name) for name in _sizes(ran.files))
    return np.array(len({one[1] for one in found if one}))


BOXED: dict[str, Callable[..., Array]] = {
    "boxes": lambda ran, number: np.array(list(_boxes(ran, number)), dtype=float),
    "boxes.layers": _layers,
}
