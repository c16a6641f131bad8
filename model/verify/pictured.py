"""What figures of a vision model show beyond a trace, worked out once more: see `derived`."""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from model import reference

if TYPE_CHECKING:
    from model.verify.derived import Ran

Array = np.ndarray


def _patterns(ran: "Ran") -> list[Array]:
    """Each layer's pattern, (H, T, T)."""
    layers = range(int(ran.files.config["n_layers"]))
    return [ran.arrays[f"encoder.blocks.{layer}.attn.pattern"] for layer in layers]


def rollout(ran: "Ran") -> Array:
    """Through all layers, half of each the residual connection (Abnar & Zuidema 2020). (T, T)."""
    found: Array | None = None
    for pattern in _patterns(ran):
        mixed = np.einsum("hij->ij", pattern) / len(pattern)
        step = (mixed + np.eye(pattern.shape[-1])) / 2
        found = step if found is None else np.einsum("ij,jk->ik", step, found)
    assert found is not None
    return found


def distances(ran: "Ran") -> Array:
    """How far each head looks in pixels, patches only, layer by layer, (L · H,).

    (Dosovitskiy et al. 2021, fig. 11.)
    """
    size = int(ran.files.config["patch_size"])
    patterns = _patterns(ran)
    side = math.isqrt(len(patterns[0][0]) - 1)
    places = [(i // side, i % side) for i in range(side * side)]
    apart = size * np.array([[math.dist(a, b) for b in places] for a in places])
    found = []
    for pattern in patterns:
        among = pattern[:, 1:, 1:] / pattern[:, 1:, 1:].sum(axis=-1, keepdims=True)
        found.append(np.einsum("hij,ij->h", among, apart) / len(places))
    return np.concatenate(found)


def rows(ran: "Ran") -> Array:
    """For each row of the patterns that of all heads, one head after the other, (T, L · H · T)."""
    every = np.concatenate(_patterns(ran))  # (L · H, T, T)
    return np.hstack(list(every))


def patch_tiles(ran: "Ran") -> Array:
    """Cosine of every two patches' positions as a grid of grids, NaN between them, (S, S).

    For each patch, where it stands, a small picture of how alike all others are.
    """
    table = ran.arrays["encoder.positions"][1:]
    side = math.isqrt(len(table))
    found = np.full((side * (side + 1) - 1,) * 2, np.nan)
    for i, first in enumerate(table):
        for j, second in enumerate(table):
            row, column = (
                a * (side + 1) + b for a, b in zip(divmod(i, side), divmod(j, side), strict=True)
            )
            lengths = math.sqrt(first @ first) * math.sqrt(second @ second)
            found[row, column] = first @ second / lengths
    return found


def classes(ran: "Ran") -> Array:
    """The probability of each class, (C,)."""
    return _softmax(ran.arrays["output"].ravel())


def without(ran: "Ran") -> Array:
    """The answer's probability where one patch after the other is seen by itself alone, (P, P)."""
    answer = int(np.argmax(ran.arrays["output"]))
    n = len(_patterns(ran)[0][0])
    found = []
    for hidden in range(1, n):
        mask = np.array(
            [[key != hidden or query == hidden for key in range(n)] for query in range(n)]
        )
        *_, (_, output) = reference.arrays(ran.files, ran.arrays["encoder.pixels"], mask)
        found.append(_softmax(output.ravel())[answer])
    side = math.isqrt(n - 1)
    return np.array(found).reshape(side, side)


def _softmax(logits: Array) -> Array:
    powers = np.exp(logits - logits.max())
    return powers / powers.sum()


def shuffled_classes(ran: "Ran", seed: int) -> Array:
    """The probability of each class when the patches stand in another order, (C,)."""
    pixels, size = ran.arrays["encoder.pixels"], int(ran.files.config["patch_size"])
    side = len(pixels) // size
    places = np.random.default_rng(seed).permutation(side * side)
    other = np.empty_like(pixels)
    for to, place in enumerate(places.tolist()):
        (row, column), (i, j) = divmod(to, side), divmod(place, side)
        other[row * size : (row + 1) * size, column * size : (column + 1) * size] = pixels[
            i * size : (i + 1) * size, j * size : (j + 1) * size
        ]
    *_, (_, output) = reference.arrays(ran.files, other)
    return _softmax(output.ravel())


PICTURED: dict[str, Callable[..., Array]] = {
    "shuffled.classes": shuffled_classes,
    "rollout": rollout,
    "rows": rows,
    "distances": distances,
    "positions.tiles": patch_tiles,
    "classes": classes,
    "without": without,
}
