"""What the rotation is sent: pairs of dimensions before rotation, and how fast they turn."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from viz.kit.part import Part
from viz.kit.wire import Settings


class ActualScore(NamedTuple):
    """The score the model itself got with both sides at two positions."""

    first: int
    second: int
    score: float


@dataclass(frozen=True, eq=False)
class Rotation:
    """Two sides of pairs of dimensions that rotate with their position.

    kind: "rope" (pairs are dimensions i and i + Dh/2) or "wave" (2i and 2i + 1). first, second:
    (n_pairs, 2), x and y of each pair before rotation. frequencies: (n_pairs,), radians per
    position. The score is the sum over pairs / divisor. Positions go from 0 to `last_position`.
    """

    kind: Literal["rope", "wave"]
    first: np.ndarray
    second: np.ndarray
    frequencies: np.ndarray
    divisor: float
    last_position: int
    names: tuple[str, str]
    actual: ActualScore | None = None


def rotation_part(key: str, rotation: Rotation, settings: Settings) -> Part:
    """The pairs as the browser takes them. settings: {"first": m, "second": n}, two positions."""
    spec = {
        "kind": rotation.kind,
        "key": key,
        "divisor": rotation.divisor,
        "last_position": rotation.last_position,
        "names": dict(zip(("first", "second"), rotation.names, strict=True)),
        "actual": rotation.actual and rotation.actual._asdict(),
    }
    arrays = {
        "first": rotation.first.astype(np.float32),
        "second": rotation.second.astype(np.float32),
        "frequencies": rotation.frequencies.astype(np.float64),
    }
    return Part("rotation", spec, settings, arrays)
