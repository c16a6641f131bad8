"""What ideas and lessons say in lines of words, worked out once more: see `derived`.

Numbers beside figures, ids of the tokens that are named, and what is said to be lower or higher.
"""

import math
from collections.abc import Callable

import numpy as np

from model import reference
from model.verify.counted import kind_of_mask
from model.verify.derived import Ran, losses
from model.verify.stated import NEITHER, leading_ids

Array = np.ndarray
ALIKE = 1e-4  # of the largest weight: what is nearer may be the largest in float32
LEAST = 1e-30  # a weight that may be nothing at all in float32
ROUNDING = 1e-5  # nats


# --- masks ------------------------------------------------------------------------------------


def _mask(ran: Ran) -> Array:
    return np.asarray(ran.arrays["decoder.blocks.0.attn.mask"], bool)


def window_before(ran: Ran, window: int) -> Array:
    """How many tokens before it a token attends to in a window, where there are enough."""
    mask = kind_of_mask("sliding_window", 2 * window, (window, 0, 0, 0, 1))
    return np.tril(mask, -1).sum(axis=1).max()


def first_tokens(ran: Ran, n: int) -> Array:
    """So many tokens, or all where there are fewer."""
    return np.array(len(ran.arrays["decoder.ids"][:n]))


def gained(*, is_lower: bool) -> Callable[[Ran], Array]:
    """How much lower, or higher, the loss is than under the model's own mask; else none."""

    def nats(ran: Ran) -> Array:
        own = dict(reference.arrays(ran.files, ran.arrays["decoder.ids"]))
        before = losses(Ran(ran.files, own)).mean()
        found = (before - losses(ran).mean()) * (1 if is_lower else -1)
        return np.array(found if found > -ROUNDING else np.nan)

    return nats


def exchanged(ran: Ran) -> Array:
    """The last id, and the most likely other one in its place, (2,)."""
    logits, last = ran.arrays["output"][-2].copy(), ran.arrays["decoder.ids"][-1]
    logits[last] = -np.inf
    known = np.where(np.isfinite(logits), logits, logits[np.isfinite(logits)].min())
    return np.array([last, leading_ids(known, 1)[0]])


def emptied(ran: Ran, site: str) -> Array:
    """What the weights of the last row of each head sum to when all its cells are masked, (H,)."""
    scores = ran.arrays[f"{site}.scores"][:, -1]
    return reference.softmax(np.full_like(scores, -np.inf)).sum(axis=-1)


# --- padding ----------------------------------------------------------------------------------


def padded_ids(ran: Ran, start: int, stop: int) -> Array:
    """The ids, −1 from start to stop, where pad tokens have a name of ours, (T,)."""
    ids = ran.arrays["decoder.ids"].copy()
    ids[start:stop] = NEITHER
    return ids


def padded_row(ran: Ran, start: int, stop: int) -> Array:
    """The same with all pad tokens as one, (T − pads + 1,)."""
    ids = padded_ids(ran, start, stop)
    return np.concatenate([ids[: start + 1], ids[stop:]])


def largest_of_pads(ran: Ran, site: str, stop: int) -> Array:
    """The largest weight of the first rows of any head."""
    return ran.arrays[f"{site}.pattern"][:, :stop].max()


# --- heads ------------------------------------------------------------------------------------


def strongest(ran: Ran, site: str) -> Array:
    """Ids of query and key of each head's largest weight, (H, 2); −1 where it may be another.

    The first key and a token's own are passed over where anything else is left.
    """
    ids = ran.arrays["decoder.ids"]
    return np.array([_pair(ids, pattern) for pattern in ran.arrays[f"{site}.pattern"]])


def _pair(ids: Array, pattern: Array) -> tuple[int, int]:
    others = pattern.copy()
    others[:, 0] = 0.0
    np.fill_diagonal(others, 0.0)
    if 0 < others.max() < LEAST:
        return NEITHER, NEITHER
    found = others if others.max() else pattern
    if (found >= found.max() * (1 - ALIKE)).sum() > 1:
        return NEITHER, NEITHER
    query, key = np.unravel_index(found.argmax(), found.shape)
    return ids[query], ids[key]


WORDED: dict[str, Callable[..., Array]] = {
    "window.before": window_before,
    "first.tokens": first_tokens,
    "mask.pairs": lambda ran: np.array(_mask(ran).size),
    "mask.ahead": lambda ran: np.diagonal(_mask(ran), 1).sum(),
    "mask.empty": lambda ran: np.flatnonzero(~_mask(ran).any(axis=1)),
    "losses.lower": gained(is_lower=True),
    "losses.higher": gained(is_lower=False),
    "past.exchanged": exchanged,
    "pads.ids": padded_ids,
    "pads.row": padded_row,
    "positions.base": lambda ran: np.array(ran.files.config["position_base"], float),
    "positions.limit": lambda ran: np.array(2 * math.pi * ran.files.config["position_base"]),
}
WORDED_OF_A_SITE: dict[str, Callable[..., Array]] = {
    "emptied": emptied,
    "largest_of_pads": largest_of_pads,
    "strongest": strongest,
}
