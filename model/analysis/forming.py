"""Heads that come to attend after copies in a training: the patterns of one text at its steps."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from model.analysis.heads import induction
from model.analysis.measures import ROLES


class Formed(NamedTuple):
    """The first frame from which a head stays named for induction, and which."""

    frame: int
    head: tuple[int, int]


def frame_induction(frame: np.ndarray, mask: np.ndarray, tokens: Sequence[str]) -> np.ndarray:
    """`induction` of every head at one step, (L, H).

    frame: (L, H, T, T) of the T tokens, with the mask (T, T).
    """
    n, ids = len(tokens), np.unique(tokens, return_inverse=True)[1]
    patterns = np.asarray(frame, np.float32).reshape(-1, n, n)
    return induction(patterns, mask, ids).values.reshape(frame.shape[:2])


def formed(scores: np.ndarray) -> Formed | None:
    """When the first head is named for good, of several the strongest at last; None without one.

    scores: `frame_induction` of every step, (S, L, H).
    """
    is_named = np.nan_to_num(scores) >= ROLES["induction"].at
    stays = np.logical_and.accumulate(is_named[::-1])[::-1]
    if not stays.any():
        return None
    first = int(stays.any(axis=(1, 2)).argmax())
    last = np.where(stays[first], np.nan_to_num(scores[-1]), -1)
    layer, head = divmod(int(last.argmax()), last.shape[1])
    return Formed(first, (layer, head))
