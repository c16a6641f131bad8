"""What an address may state of the number it names: that none of those around it is larger.

`costs.heads[0,7]=max` is that number of costs.heads where it is the largest of them, else there is
none; `lens.top[2,:][4]=max` asks among lens.top[2,:] alone. After =min none may be smaller, after
=size none farther from 0; =max3 is the third largest. `costs.heads[0,7]=max.1` is where it stands
along axis 1: what a page calls the largest has that name only where it is. Ids of the largest are
by `leading_ids`; where two are alike up to rounding, neither is the right one. What rounding moves
by more than a last digit is stated: explain.rho.weights=about0.8 is 0.8 where that is near enough.
"""

import re
from collections.abc import Callable

import numpy as np

Array = np.ndarray

STATED = re.compile(r"(.+)\[([0-9,]+)\]=(max|min|size)([0-9]{0,3})(?:\.([0-9]))?")
ABOUT = re.compile(r"(.+)=about(-?[0-9.]{1,12})")
NEAR = 0.02  # how far a number may be from what it is stated to be about
ALIKE = 1e-5  # of the largest: what is nearer may change places by rounding
NEITHER = -1  # in the place of an id that may as well be another
SIZES: dict[str, Callable[[Array], Array]] = {"max": np.asarray, "min": np.negative, "size": np.abs}


def indices(part: str) -> tuple[int | slice, ...]:
    """What stands in the brackets of an address, as numpy has it: numbers, or stretches."""

    def index(text: str) -> int | slice:
        bounds = [int(bound) if bound else None for bound in text.split(":")]
        return slice(*bounds) if len(bounds) > 1 else int(text)

    return tuple(map(index, part.split(",")))


def as_stated(array: Callable[[str], Array], address: str) -> Array:
    """What `array` has at an address; ValueError where what that states does not hold."""
    if "=" not in address:
        return array(address)
    if about := ABOUT.fullmatch(address):
        of, said = about[1], float(about[2])
        if not abs(float(array(of)) - said) <= NEAR:
            raise ValueError(f"{of} is not about {said}")
        return np.asarray(said)
    found = STATED.fullmatch(address)
    if found is None:
        raise ValueError(f"{address} states nothing that is known: write name[place]=max")
    of, at, which, rank, axis = found.groups()
    values, place = array(of), indices(at)
    if len(place) != values.ndim:
        raise ValueError(f"{of} of shape {values.shape} has no single number at [{at}]")
    try:
        value = values[place]
    except IndexError:
        raise ValueError(f"{of} of shape {values.shape} has no number at [{at}]") from None
    sizes = SIZES[which](values)
    if not _has_rank(sizes, float(sizes[place]), int(rank or 1)):
        raise ValueError(f"{of}[{at}] is not number {rank or 1} by {which}")
    return np.asarray(value if axis is None else place[int(axis)])


def _has_rank(sizes: Array, size: float, rank: int) -> bool:
    """Whether a size is the so-and-so largest, up to rounding; broken numbers take no part."""
    known = sizes[np.isfinite(sizes)]
    rounding = ALIKE * float(np.abs(known).max(initial=0.0))
    above = int((known > size + rounding).sum())
    return bool(np.isfinite(size)) and above < rank <= int((known >= size - rounding).sum())


def leading_ids(values: Array, n: int) -> Array:
    """Where the n largest of each row (…, V) are, largest first, (…, n).

    −1 stands where rounding may exchange two.
    """
    n = min(n, values.shape[-1])
    some = np.argpartition(-values, min(n, values.shape[-1] - 1), axis=-1)[..., : n + 1]
    found = np.take_along_axis(values, some, axis=-1)
    order = np.argsort(-found, axis=-1)
    ids = np.take_along_axis(some, order, axis=-1)
    falling = np.take_along_axis(found, order, axis=-1)
    rounding = ALIKE * np.abs(values).max(axis=-1, keepdims=True)
    is_near = -np.diff(falling, axis=-1) <= rounding
    nothing = np.zeros_like(is_near[..., :1])
    is_near = np.concatenate([nothing, is_near], axis=-1) | np.concatenate(
        [is_near, nothing], axis=-1
    )
    return np.where(is_near, NEITHER, ids)[..., :n]
