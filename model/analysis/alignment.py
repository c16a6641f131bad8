"""Attention as an alignment of words, beside one made by hand."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

# The number of a source word and of a target word, from 0; of several sentences, that of the
# sentence comes first.
Link = tuple[int, ...]


@dataclass(frozen=True)
class Agreement:
    """How far found links agree with those that a person is sure of, each from 0 to 1.

    Of Och & Ney 2003, with all links sure: precision is the share of the found ones that are
    right, recall the share of the right ones that were found, and the alignment error rate
    1 − 2 · right / (found + sure): 0 where both are the same.
    """

    precision: float
    recall: float
    error_rate: float


def merged_to_words(pattern: np.ndarray, rows: Sequence[int], columns: Sequence[int]) -> np.ndarray:
    """A pattern between words: weights to the pieces of a word summed, those from them averaged.

    (Clark et al. 2019, §4.1.) pattern: (Tq, Tk); rows and columns: the word of each token, numbered
    from 0 in order. Returns (words, words); rows keep their sums.
    """
    to = np.zeros((len(columns), max(columns) + 1))
    to[np.arange(len(columns)), columns] = 1
    of = np.zeros((max(rows) + 1, len(rows)))
    of[rows, np.arange(len(rows))] = 1
    return (of / of.sum(axis=1, keepdims=True)) @ pattern.astype(np.float64) @ to


def strongest_links(words: np.ndarray) -> set[Link]:
    """Each target word linked to the source word it attends to most. words: (target, source)."""
    return {(int(source), target) for target, source in enumerate(words.argmax(axis=1))}


def agreement(links: Collection[Link], sure: Collection[Link]) -> Agreement:
    """How far links agree with sure ones. ValueError where either has none."""
    if not links or not sure:
        raise ValueError(
            f"{len(links)} links found and {len(sure)} by hand; both must have at least one"
        )
    right = len(set(links) & set(sure))
    return Agreement(
        right / len(links), right / len(sure), 1 - 2 * right / (len(links) + len(sure))
    )


def rows_of_target(n_tokens: int, *, is_input: bool) -> range:
    """The rows of a cross-attention pattern that belong to the n tokens of a target, in order.

    Row 0 is the start token's. A token is predicted in the row before its own, where the weights
    are of what was looked up to write it; with `is_input` it is the row it is fed in, which Chen et
    al. 2020 find to align better.
    """
    return range(1, n_tokens + 1) if is_input else range(n_tokens)
