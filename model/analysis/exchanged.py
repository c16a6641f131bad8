"""The same words in another order, and random words said twice: what heads are tried on."""

from collections.abc import Collection, Sequence

import numpy as np

from model.analysis.heads import Averages, induction, pooled
from model.architectures.base import Transformer
from model.capture import capture

SEED = 0
LENGTH = 64  # random tokens before they are said again, where the context has room for twice that
SEQUENCES = 16


def exchanged(ids: Sequence[int], fixed: Collection[int] = ()) -> list[int]:
    """The same tokens in another order, drawn from the number of tokens alone.

    Those in `fixed`, such as the end of a text, stay in their places.
    """
    places = [place for place, token in enumerate(ids) if token not in fixed]
    drawn = np.random.default_rng([SEED, len(ids)]).permutation(len(places))
    swapped = list(ids)
    for place, other in zip(places, drawn, strict=True):
        swapped[place] = ids[places[other]]
    return swapped


def exchanged_patches(image: np.ndarray, size: int) -> np.ndarray:
    """A picture (S, S) with its patches of size × size pixels in another order."""
    side = len(image) // size
    tiles = image.reshape(side, size, side, size).swapaxes(1, 2).reshape(-1, size, size)
    drawn = np.random.default_rng([SEED, len(tiles)]).permutation(len(tiles))
    return tiles[drawn].reshape(side, side, size, size).swapaxes(1, 2).reshape(image.shape)


def repeated(plain: np.ndarray, n: int, number: int) -> np.ndarray:
    """n different random tokens, and the same once more, (2n,).

    plain: ids to draw from, without special tokens. number: which of the sequences.
    """
    drawn = np.random.default_rng([SEED, n, number]).permutation(plain)[:n]
    return np.concatenate([drawn, drawn])


def length_of_half(context: int, n_plain: int) -> int:
    """How many random tokens are said twice; ValueError where there is no room for two."""
    n = min(LENGTH, context // 2, n_plain)
    if n < 2:
        raise ValueError(
            f"a context of {context} tokens and a vocabulary of {n_plain} have no room for random "
            "tokens said twice; 2 are needed, and 4 places"
        )
    return n


def prefix_matching(model: Transformer, plain: np.ndarray) -> Averages:
    """The prefix-matching score of each head (Olsson et al. 2022, "argument 3"), (L, H).

    On random tokens said twice: the mean weight of the second half's tokens on the one that came
    after the same token in the first. Nothing but looking back for it can find that key.
    plain: ids to draw from.
    """
    n = length_of_half(model.config.max_seq_len, len(plain))
    parts = []
    for number in range(SEQUENCES):
        ids = repeated(plain, n, number)
        trace = capture(model, ids.tolist(), [""] * len(ids))
        layers = [induction(record.pattern, record.mask, ids) for record in trace.attention]
        parts.append(Averages(*(np.stack(part) for part in zip(*layers, strict=True))))
    return pooled(parts)
