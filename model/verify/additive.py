"""What the lesson on kernels shows of additive attention, worked out once more: see `derived`.

Addresses end with the head and the seed of W, U and v.
"""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from model import reference

if TYPE_CHECKING:
    from model.verify.derived import Ran

Array = np.ndarray


def _weights(ran: "Ran", site: str, head: int, seed: int) -> Array:
    """Of one head, (T, T); tanh x is 1 − 2 / (e^(2x) + 1)."""
    q, k = ran.arrays[f"{site}.q"], ran.arrays[f"{site}.k"]
    d = q.shape[-1]
    drawn = np.random.default_rng(seed)
    first, second = (drawn.standard_normal((d, d)) for _ in range(2))
    out = drawn.standard_normal(d)
    of_q = np.einsum("hd,td->th", first, q[head]) / math.sqrt(d)
    of_k = np.einsum("hd,td->th", second, k[head * len(k) // len(q)]) / math.sqrt(d)
    powers = np.exp(2 * (of_q[:, None] + of_k[None]))  # (T, T, h)
    scores = out.sum() - 2 * np.einsum("ijh,h->ij", 1 / (powers + 1), out)
    return reference.softmax(np.where(_mask(ran, site), scores, -np.inf))


def _mask(ran: "Ran", site: str) -> Array:
    return np.asarray(ran.arrays[f"{site}.mask"], bool)


def _shown(ran: "Ran", site: str, head: int, seed: int) -> Array:
    return np.where(_mask(ran, site), _weights(ran, site, head, seed), np.nan)


def _apart(ran: "Ran", site: str, head: int, seed: int) -> Array:
    """Weight that sits on other keys than the head's own, mean over rows."""
    surplus = _weights(ran, site, head, seed) - ran.arrays[f"{site}.pattern"][head]
    return np.maximum(surplus, 0).sum(axis=-1).mean()


def _pairs(ran: "Ran", site: str) -> int:
    return int(np.count_nonzero(_mask(ran, site)))


def _width(ran: "Ran", site: str) -> int:
    return int(ran.arrays[f"{site}.q"].shape[-1])


def _multiplied(ran: "Ran", site: str) -> Array:
    """W q and U k of every token, then v for each pair."""
    d, n = _width(ran, site), len(_mask(ran, site))
    return np.asarray(n * d * d + n * d * d + _pairs(ran, site) * d)


ADDITIVE_OF_A_SITE: dict[str, Callable[..., Array]] = {
    "unmasked_additive": _shown,
    "additive_apart": _apart,
    "additive_parameters": lambda ran, site: np.asarray(
        _width(ran, site) * (2 * _width(ran, site) + 1)
    ),
    "additive_products": _multiplied,
    "dot_products": lambda ran, site: np.asarray(_pairs(ran, site) * _width(ran, site)),
}
