"""How alike two vectors are: dot product, cosine, and the nearest rows of an embedding.

a·b = ‖a‖ ‖b‖ cos θ: a cosine compares directions alone, a dot product lengths too. Words whose
vectors point alike are used alike (Salton et al. 1975; Mikolov et al. 2013, §4).
"""

import math
from typing import Literal, NamedTuple

import numpy as np
from torch import Tensor

from model.architectures.base import Transformer

AT_ONCE = 8192  # rows: all of a large vocabulary in float64 are much memory
By = Literal["cosine", "product"]
DECIMALS = 12  # to which two values are the same; among such the smaller id comes first


class Alike(NamedTuple):
    """Two vectors compared. Without a direction there is neither cosine nor angle: NaN."""

    product: float
    lengths: tuple[float, float]
    cosine: float
    degrees: float


class Nearest(NamedTuple):
    """Tokens by how alike their rows are to one, most alike first. (k,) each."""

    ids: np.ndarray
    values: np.ndarray
    lengths: np.ndarray


def compare(a: np.ndarray, b: np.ndarray) -> Alike:
    """Dot product, lengths, cosine and the angle in degrees of two vectors, (n,) each."""
    product = float(a @ b)
    lengths = (float(np.linalg.norm(a)), float(np.linalg.norm(b)))
    if not all(lengths):
        return Alike(product, lengths, math.nan, math.nan)
    unit_a, unit_b = a / lengths[0], b / lengths[1]
    # acos loses half of the digits near 0; the halves of a rhombus do not (Kahan 2006, §12).
    half = math.atan2(np.linalg.norm(unit_a - unit_b), np.linalg.norm(unit_a + unit_b))
    return Alike(product, lengths, product / math.prod(lengths), math.degrees(2 * half))


def foot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The point of a's line that is closest to b: a·b is ‖a‖ times how far along it lies. (n,)."""
    square = float(a @ a)
    return a * (float(a @ b) / square) if square else np.zeros_like(a)


def token_table(model: Transformer) -> np.ndarray:
    """The embedding of each token, (V, D), not scaled; ValueError where there is none."""
    weight = getattr(model.embedding, "weight", None)
    if not isinstance(weight, Tensor) or weight.ndim != 2:
        raise ValueError("the model has no embedding of tokens; choose one that takes text")
    return weight.detach().cpu().float().numpy()


def nearest(table: np.ndarray, among: np.ndarray, token: int, k: int, by: By) -> Nearest:
    """The k rows most alike to a token's own, which is one of them. table: (V, D).

    among: (V,), True for the tokens that the others are taken from.
    """
    asked = table[token].astype(np.float64)
    lengths, values = np.empty(len(table)), np.empty(len(table))
    for first in range(0, len(table), AT_ONCE):
        some = slice(first, first + AT_ONCE)
        rows = table[some].astype(np.float64)
        lengths[some], values[some] = np.linalg.norm(rows, axis=-1), rows @ asked
    if by == "cosine":
        sizes = lengths * lengths[token]
        values = np.divide(values, sizes, out=np.zeros_like(values), where=sizes > 0)
    ids = np.argsort(-np.round(values, DECIMALS), kind="stable")
    ids = ids[among[ids] | (ids == token)][:k]
    return Nearest(ids, values[ids], lengths[ids])
