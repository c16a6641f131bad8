"""What the lesson on several heads shows, worked out once more: see `derived`.

heads.parameters.8 are the numbers of a layer's four matrices and their biases with 8 heads.
"""

import math
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from model.verify.derived import Ran

Array = np.ndarray


def _parameters(ran: "Ran", n_heads: int) -> Array:
    """Rows times columns of W_Q, W_K, W_V of every head and of its part of W_O, and biases."""
    width = ran.files.config["d_model"]
    d_head = _d_head(ran, n_heads)
    one_head = 4 * width * d_head
    biases = 3 * d_head * n_heads + width if ran.files.config.get("bias", True) else 0
    return np.array(one_head * n_heads + biases)


def _d_head(ran: "Ran", n_heads: int) -> int:
    width = ran.files.config["d_model"]
    if not n_heads or width % n_heads:
        raise KeyError(n_heads)
    return width // n_heads


SEVERAL: dict[str, Callable[..., Array]] = {
    "heads.parameters": _parameters,
    "heads.width": lambda ran, n_heads: np.array(_d_head(ran, n_heads)),
}


# --- one layer ------------------------------------------------------------------------------------


def _weight(ran: "Ran", site: str, name: str) -> Array:
    stored = ran.files.weights
    names = (f"{site}.{name}.weight", f"{site.split('.', 1)[1]}.{name}.weight")
    return stored[next(x for x in names if x in stored)]


def _slices(ran: "Ran", site: str) -> list[Array]:
    """The columns of W_O that meet each head's z, (D, Dh) each."""
    return np.split(_weight(ran, site, "out_proj"), len(ran.arrays[f"{site}.q"]), axis=1)


def _written(ran: "Ran", site: str) -> Array:
    """What each head writes, (H, Tq, D)."""
    z = ran.arrays[f"{site}.z"]
    return np.stack([z[h] @ part.T for h, part in enumerate(_slices(ran, site))])


def _lengths(ran: "Ran", site: str) -> Array:
    return np.sqrt((_written(ran, site) ** 2).sum(axis=-1))


@lru_cache(maxsize=2)  # its ranks are asked for too
def _spectra(ran: "Ran", site: str) -> Array:
    """Singular values of the whole D × D matrix of each head, as many as can differ from 0."""
    parts = _slices(ran, site)
    values = np.split(_weight(ran, site, "v_proj"), len(ran.arrays[f"{site}.v"]), axis=0)
    shared = len(parts) // len(values)
    return np.stack([
        np.linalg.svd(part @ values[h // shared], compute_uv=False)[: part.shape[1]]
        for h, part in enumerate(parts)
    ])  # fmt: skip


def _ranks(ran: "Ran", site: str) -> Array:
    found = []
    for values in _spectra(ran, site).tolist():
        total = math.fsum(values) or 1.0
        shares = [value / total for value in values if value > 0]
        found.append(math.exp(-math.fsum(share * math.log(share) for share in shares)))
    return np.array(found)


def _cosines(arrays: Array) -> Array:
    """Each pair by itself, (H, H)."""
    rows = [array.ravel() for array in arrays]
    sizes = [math.sqrt(float((row * row).sum())) for row in rows]
    return np.array([
        [float((a * b).sum()) / (x * y) if x and y else 0.0
         for b, y in zip(rows, sizes, strict=True)]
        for a, x in zip(rows, sizes, strict=True)
    ])  # fmt: skip


SEVERAL_OF_A_SITE: dict[str, Callable[..., Array]] = {
    "out_weights": lambda ran, site: _weight(ran, site, "out_proj"),
    "out_norms": lambda ran, site: np.array(
        [math.sqrt(float((part**2).sum())) for part in _slices(ran, site)]
    ),
    "written": _lengths,
    "written_mean": lambda ran, site: _lengths(ran, site).mean(axis=-1),
    "spectra": _spectra,
    "effective_ranks": _ranks,
    "map_weights": lambda ran, site, n_heads: np.array(
        n_heads * ran.arrays[f"{site}.pattern"][0].size
    ),
    "alike_patterns": lambda ran, site: _cosines(ran.arrays[f"{site}.pattern"]),
    "alike_written": lambda ran, site: _cosines(_written(ran, site)),
}
