"""Attention on numbers written by hand: a few rows, one head or several, and a mask.

What is computed is what every model here computes: the functions of `model.attention`, in float64.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from model.attention import attention_pattern, attention_scores

Matrix = tuple[tuple[float, ...], ...]
MOST_ROWS, MOST_COLUMNS, MOST_HEADS = 6, 6, 2
LARGEST = 1000.0  # of a cell: what sums of six products come to has seven digits
MASKINGS = ("none", "causal", "valid")
PARTS = ("Q", "K", "V", "W_O")


@dataclass(frozen=True)
class Example:
    """Queries and keys (T, D), values (T, Dv), and W_O (Dv, Dm) where heads are put together.

    Head h has its share of the columns, D/H and Dv/H. `n_valid` is how many keys may be attended to
    where the masking is "valid".
    """

    q: Matrix
    k: Matrix
    v: Matrix
    out: Matrix = ()
    n_heads: int = 1
    masking: str = "none"
    n_valid: int = 1
    is_scaled: bool = True

    def __post_init__(self) -> None:
        """ValueError for what cannot be multiplied, with the sizes and what to change."""
        rows, columns = _size("Q", self.q), _size("K", self.k)
        values = _size("V", self.v)
        if rows != columns:
            raise ValueError(f"Q is {_by(rows)} and K {_by(columns)}: both need the same size")
        if values[0] != rows[0]:
            raise ValueError(f"V has {values[0]} rows and K {rows[0]}: one value for each key")
        if not 1 <= self.n_heads <= MOST_HEADS or rows[1] % self.n_heads:
            raise ValueError(
                f"{rows[1]} of Q's columns cannot be split among {self.n_heads} heads evenly"
            )
        if values[1] % self.n_heads:
            raise ValueError(f"{values[1]} columns of V cannot be split among {self.n_heads} heads")
        if self.masking not in MASKINGS:
            raise ValueError(f"no masking “{self.masking}”; there are {', '.join(MASKINGS)}")
        if self.out and _size("W_O", self.out)[0] != values[1]:
            raise ValueError(f"W_O has {len(self.out)} rows: one for each of {values[1]} columns")


class Worked(NamedTuple):
    """Every step. H heads, T tokens, D_h and V_h columns of a head."""

    products: np.ndarray  # (H, T, T)
    scores: np.ndarray  # (H, T, T), before the mask
    mask: np.ndarray  # (T, T) bool
    weights: np.ndarray  # (H, T, T)
    z: np.ndarray  # (H, T, V_h)
    output: np.ndarray | None  # (T, Dm), where there is a W_O


def _size(name: str, matrix: Matrix) -> tuple[int, int]:
    """Rows and columns; ValueError for what is no matrix, too large, or has no number in a cell."""
    widths = {len(row) for row in matrix}
    if len(widths) != 1 or not min(widths):
        raise ValueError(f"{name} needs rows of the same length, one number at least")
    size = len(matrix), widths.pop()
    if size[0] > MOST_ROWS or size[1] > MOST_COLUMNS:
        most = _by((MOST_ROWS, MOST_COLUMNS))
        raise ValueError(f"{name} is {_by(size)}: at most {most} numbers can be worked by hand")
    for i, row in enumerate(matrix):
        for j, cell in enumerate(row):
            if not math.isfinite(cell) or abs(cell) > LARGEST:
                raise ValueError(
                    f"{name} row {i + 1}, column {j + 1}: {cell:g} is not within ±{LARGEST:g}"
                )
    return size


def _by(size: tuple[int, int]) -> str:
    return f"{size[0]} × {size[1]}"


def read_cells(text: str) -> tuple[Matrix, Matrix, Matrix, Matrix]:
    """Q, K, V and W_O from one line: cells by commas, rows by semicolons, matrices by bars.

    ValueError for a cell that is not a number, or for another number of matrices.
    """
    parts = text.split("|")
    if len(parts) != len(PARTS):
        raise ValueError(
            f"{len(parts) - 1} bars: three are needed, between {', '.join(PARTS[:-1])} and "
            f"{PARTS[-1]}, which may be empty"
        )
    q, k, v, out = (_matrix(name, part) for name, part in zip(PARTS, parts, strict=True))
    return q, k, v, out


def _matrix(name: str, text: str) -> Matrix:
    rows = text.split(";") if text else []
    return tuple(
        tuple(_number(name, i, j, cell) for j, cell in enumerate(row.split(",")))
        for i, row in enumerate(rows)
    )


def _number(name: str, row: int, column: int, cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        place = f"{name} row {row + 1}, column {column + 1}"
        raise ValueError(f"{place}: “{cell[:20]}” is not a number") from None


def mask_of(example: Example) -> np.ndarray:
    """True where a query may attend to a key, (T, T)."""
    n = len(example.q)
    if example.masking == "causal":
        return np.tril(np.ones((n, n), bool))
    n_open = min(max(example.n_valid, 0), n) if example.masking == "valid" else n
    return np.broadcast_to(np.arange(n) < n_open, (n, n))


def _heads(matrix: Matrix, n_heads: int) -> Tensor:
    """The columns shared out among the heads. Returns (1, H, T, D/H)."""
    x = torch.tensor(matrix, dtype=torch.float64)  # (T, D)
    return x.reshape(len(x), n_heads, -1).transpose(0, 1)[None]


def work_out(example: Example) -> Worked:
    """softmax(q·kᵀ/√Dh, masked)·v of each head, and W_O of all.

    Vaswani et al. 2017, eq. 1 and §3.2.2. A row that may attend to nothing has weights of 0.
    """
    q, k, v = (_heads(x, example.n_heads) for x in (example.q, example.k, example.v))
    mask = mask_of(example)
    products = attention_scores(q, k, scale=1.0)  # (1, H, T, T)
    scores = attention_scores(q, k, scale=None if example.is_scaled else 1.0)
    weights = attention_pattern(scores, torch.tensor(mask))  # (1, H, T, T)
    z = weights @ v  # (1, H, T, V_h)
    joined = z[0].transpose(0, 1).reshape(len(example.q), -1)  # (T, Dv)
    output = joined @ torch.tensor(example.out, dtype=torch.float64) if example.out else None
    return Worked(
        products[0].numpy(),
        scores[0].numpy(),
        mask,
        weights[0].numpy(),
        z[0].numpy(),
        None if output is None else output.numpy(),
    )
