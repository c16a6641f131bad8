"""A run with parts switched off, in numpy float64 once more: see `derived`.

The spelling of parts is taken apart here again, and what stands in for them is of independent
runs.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING

import numpy as np

from model import reference

if TYPE_CHECKING:
    from model.verify.derived import Ran

Array = np.ndarray
Arrays = Mapping[str, Array]
Put = Callable[[Array], None]  # writes into an array what stands in for a part
# Ids, of a translation two rows of them, or the bytes of float32 pixels.
Input = tuple[int, ...] | tuple[tuple[int, ...], ...] | bytes
WRITES = {"attn": "attn_out", "cross_attn": "cross_out", "ffn": "ffn_out"}


@dataclass(frozen=True)
class Off:
    """What is off, as decoder.attn.3.4, or all there is, and what stands in for it.

    `way` is zero, mean, survey or other; `other` is the other input.
    """

    parts: tuple[str, ...]
    way: str = "zero"
    other: Input = ()

    @property
    def other_input(self) -> Array | tuple[Array, ...]:
        """The other input as a run takes it."""
        return as_given(self.other)


def as_given(given: Input) -> Array | tuple[Array, ...]:
    """An input as a run takes it."""
    if isinstance(given, bytes):
        pixels = np.frombuffer(given, np.float32)
        side = round(len(pixels) ** 0.5)
        return pixels.reshape(side, side)
    if given and isinstance(given[0], tuple):
        return tuple(np.array(row) for row in given)
    return np.array(given)


def files_without(files: reference.Files, off: Off, own: Arrays, other: Arrays) -> reference.Files:
    """The same files, but with parts off when they run. own, other: runs with nothing off."""
    is_all = "everything" in off.parts
    named = () if is_all else off.parts
    wanted = _puts([_put(part, off.way, own, other, files) for part in named])

    def change(place: str, array: Array) -> Array:
        if is_all:
            nothing = place.endswith(("embed", "positions", "out", "ffn_out", "end"))
            return np.zeros_like(array) if nothing else array
        if place not in wanted:
            return array
        array = array.copy()
        for put in wanted[place]:
            put(array)
        return array

    return _changed(files, change)


def files_of_rows(
    files: reference.Files, rows: Sequence[Sequence[str]], own: Arrays
) -> reference.Files:
    """The same files, but so many rows of one input, each with its own parts at zero.

    own: the run with nothing off.
    """
    wanted = [_puts([_put(part, "zero", own, {}, files) for part in parts]) for parts in rows]

    def change(place: str, array: Array) -> Array:
        if place.endswith(".embed"):
            return np.repeat(array[None], len(rows), axis=0)  # (B, T, D)
        if not any(place in puts for puts in wanted):
            return array
        array = array.copy()
        for row, puts in zip(array, wanted, strict=True):
            for put in puts.get(place, ()):
                put(row)
        return array

    return _changed(files, change)


def _changed(files: reference.Files, change: Callable[[str, Array], Array]) -> reference.Files:
    """Files whose arrays go through `change`, by places that name their stack."""
    architecture = files.config["architecture"]
    before = "" if architecture == "encoder_decoder" else f"{_stack(architecture)}."
    return reference.Files(
        files.config,
        files.weights,
        lambda place, array: change(before + place, array),
        files.folder,
    )


def _puts(found: Iterable[tuple[str, Put]]) -> dict[str, list[Put]]:
    """What writes into an array, by its place."""
    wanted: dict[str, list[Put]] = {}
    for place, put in found:
        wanted.setdefault(place, []).append(put)
    return wanted


def _stack(architecture: str) -> str:
    return "decoder" if architecture == "decoder" else "encoder"


def _put(
    part: str, way: str, own: Arrays, other: Arrays, files: reference.Files
) -> tuple[str, Put]:
    """The place of a part, and what writes into the array there."""
    stack, module, *rest = part.split(".")
    layer, *inner = map(int, rest)
    block = f"{stack}.blocks.{layer}"
    source = own if way == "mean" else other

    def stands_in(values: Array, axis: int = 0) -> Array | float:
        """For what is off, values (T, …) of the run it is taken from."""
        return 0.0 if way == "zero" else values.mean(axis=axis) if way == "mean" else values

    if not inner:
        place = f"{block}.ffn_out" if module == "ffn" else f"{block}.{module}.out"
        values = source.get(f"{block}.{WRITES[module]}", np.zeros(1))
        return place, lambda array: _write(array, (slice(None),), stands_in(values))
    if module == "ffn":
        values = np.zeros(1) if way == "zero" else activation(files, source, stack, layer)
        column = values if way == "zero" else values[:, inner[0]]
        return f"{block}.ffn.activation", lambda array: _write(
            array, (slice(None), inner[0]), stands_in(column)
        )
    site = f"{block}.{module}"
    if len(inner) == 3:
        return f"{site}.pattern", lambda array: _write(
            array, tuple(inner), _weight(source, site, way, tuple(inner))
        )
    if way == "survey":
        mean = _surveyed(files, f"{stack}.{module}")[layer, inner[0]]  # (Dh,)
        return f"{site}.z", lambda array: _write(array, tuple(inner), mean)
    z = source.get(f"{site}.z", np.zeros((inner[0] + 1, 1, 1)))[inner[0]]
    if len(inner) == 1:
        return f"{site}.z", lambda array: _write(array, (inner[0],), stands_in(z))
    query = inner[1]
    row = 0.0 if way == "zero" else z.mean(axis=0) if way == "mean" else z[query]
    return f"{site}.z", lambda array: _write(array, (inner[0], query), row)


def _surveyed(files: reference.Files, group: str) -> Array:
    """The mean z of each head as the survey beside the weights has it, (L, H, Dh)."""
    assert files.folder is not None
    text = (files.folder / "survey.json").read_text(encoding="utf-8")
    return np.array(json.loads(text)["groups"][group]["mean_z"])


def _write(array: Array, index: tuple[int | slice, ...], to: Array | float) -> None:
    array[index] = to


def _weight(source: Arrays, site: str, way: str, arrow: tuple[int, ...]) -> float:
    """What stands in for one weight: nothing, an even share of the row, or another input's."""
    if way == "zero":
        return 0.0
    pattern = source[f"{site}.pattern"]
    if way == "other":
        return float(pattern[arrow])
    head, query, _ = arrow
    seen = np.broadcast_to(source[f"{site}.mask"], pattern.shape)[head, query]
    return float(pattern[head, query].sum() / max(1, seen.sum()))


def activation(files: reference.Files, ran: Arrays, stack: str, layer: int) -> Array:
    """What the neurons of a layer give, (T, F)."""
    whole = reference.Reader(files)
    part = whole.part(stack) if files.config["architecture"] == "encoder_decoder" else whole
    part, block = part.part(f"blocks.{layer}"), f"{stack}.blocks.{layer}"
    x = ran.get(f"{block}.resid_cross", ran[f"{block}.resid_mid"])
    x = part.norm("ffn_norm", x) if files.config["norm_placement"] == "pre" else x
    up, kind = part.part("ffn").linear("up", x), files.config["feedforward"]
    if kind == "swiglu":
        return reference.silu(part.part("ffn").linear("gate", x)) * up
    return reference.ACTIVATIONS[kind](up)


# --- what is asked for by address -------------------------------------------------------------


def _log_probs(logits: Array) -> Array:
    from_top = logits - logits.max(axis=-1, keepdims=True)
    return from_top - np.log(np.exp(from_top).sum(axis=-1, keepdims=True))


def losses(ran: "Ran", first: int, *ids: int) -> Array:
    """−ln p of these tokens, one at each position from `first` on, (N,)."""
    rows = np.arange(first, first + len(ids))
    return -_log_probs(ran.arrays["output"])[rows, list(ids)]


def next_losses(ran: "Ran") -> Array:
    """−ln p of every token of the last stream but its first, (T − 1,)."""
    name = "decoder" if "decoder.ids" in ran.arrays else "encoder"
    ids = ran.arrays[f"{name}.ids"]
    return -_log_probs(ran.arrays["output"])[np.arange(len(ids) - 1), ids[1:]]


def own_losses(ran: "Ran", *replaced: int) -> Array:
    """−ln p of the token in each place, (T,); after a place the id that stood there instead."""
    ids = ran.arrays["encoder.ids"].copy()
    ids[list(replaced[::2])] = replaced[1::2]
    return -_log_probs(ran.arrays["output"])[np.arange(len(ids)), ids]


def probabilities(ran: "Ran", position: int, *ids: int) -> Array:
    """The probabilities of these tokens at a position, (N,)."""
    return np.exp(_log_probs(ran.arrays["output"][position]))[list(ids)]


def _mean(work: Callable[..., Array]) -> Callable[..., Array]:
    @wraps(work)
    def mean(ran: "Ran", *given: int) -> Array:
        return np.asarray(work(ran, *given).mean())

    return mean


EDITED: dict[str, Callable[..., Array]] = {
    "judged.next": next_losses,
    "judged.losses": losses,
    "judged.own": own_losses,
    "judged.own_rise": lambda ran, *replaced: (
        own_losses(ran, *replaced) - own_losses(ran.unedited, *replaced)
    ),
    "judged.probs": probabilities,
    "judged.rise": lambda ran, first, *ids: (
        losses(ran, first, *ids) - losses(ran.unedited, first, *ids)
    ),
    "judged.next_rise": lambda ran: next_losses(ran) - next_losses(ran.unedited),
}
EDITED |= {
    name.replace("judged.", "judged.mean_"): _mean(work)
    for name, work in list(EDITED.items())
    if name != "judged.probs"
}
