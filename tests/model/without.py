"""A run with parts switched off, once more: `model.reference` with what stands in for them.

The spelling of parts is taken apart here again, and what stands in for them is of other such runs.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from model import reference
from model.given import Input, as_given

Array = np.ndarray
Arrays = Mapping[str, Array]
Put = Callable[[Array], None]  # writes into an array what stands in for a part
# Without embeddings, sublayers and offsets of norms the stream is zero at its end.
NOTHING = ("embed", "positions", "attn_out", "cross_out", "ffn_out", "scaled")
WRITES = {"attn": "attn_out", "cross_attn": "cross_out", "ffn": "ffn_out"}


@dataclass(frozen=True)
class Off:
    """What is off, as decoder.attn.3.4, or all there is, and what stands in for it.

    `way` is zero, mean, survey or other; `other` is the other input.
    """

    parts: tuple[str, ...]
    way: str = "zero"
    other: Input = ()


def arrays_of(files: reference.Files, given: reference.Given, off: Off | None = None) -> Arrays:
    """All arrays of a run by their addresses, with parts off if there are any."""
    own = dict(reference.arrays(files, given))
    if off is None:
        return own
    other = dict(reference.arrays(files, as_given(off.other))) if off.way == "other" else {}
    return dict(reference.arrays(files_without(files, off, own, other), given))


def losses_of(logits: Array, ids: Array) -> Array:
    """−ln p of each token but the first, (T − 1,)."""
    from_top = logits - logits.max(axis=-1, keepdims=True)
    log_probs = from_top - np.log(np.exp(from_top).sum(axis=-1, keepdims=True))
    return -log_probs[np.arange(len(ids) - 1), np.asarray(ids)[1:]]


def files_without(files: reference.Files, off: Off, own: Arrays, other: Arrays) -> reference.Files:
    """The same files, but with parts off when they run. own, other: runs with nothing off."""
    is_all = "everything" in off.parts
    named = () if is_all else off.parts
    wanted = _puts([_put(part, off.way, own, other, files) for part in named])

    def change(place: str, array: Array) -> Array:
        if is_all:
            return np.zeros_like(array) if place.endswith(NOTHING) else array
        if place not in wanted:
            return array
        array = array.copy()
        for put in wanted[place]:
            put(array)
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
        place = f"{block}.{WRITES[module]}"
        values = source.get(place, np.zeros(1))
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
