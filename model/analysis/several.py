"""Several heads: a slice of q, k and v for each, all of them made from all of x; summed by W_O.

MultiHead(Q, K, V) = Concat(head_1, …, head_H) W_O (Vaswani et al. 2017, §3.2.2). Side by side times
W_O is a sum: each head's z times the rows of W_O that are its own (Elhage et al. 2021).
"""

from typing import NamedTuple

import numpy as np
import torch

from model.analysis.cosine import cosine_similarity
from model.architectures.base import Transformer
from model.device import wide
from model.trace import AttentionRecord, Site


class Weights(NamedTuple):
    """What a layer's heads go through, float64: W_V (H, Dh, D) and W_O (H, Dh, D) of each.

    Where heads share a key-value head (Ainslie et al. 2023) they have the same W_V. It is None
    where no one matrix was seen that makes v of x.
    """

    values: np.ndarray | None
    outputs: np.ndarray


@torch.inference_mode()
def weights_of(model: Transformer, site: Site) -> Weights:
    """The weights of the heads at a site; ValueError where the model has none there."""
    values, outputs = model.value_weights(site), model.output_weights(site)
    w_v = None if values is None else wide(values).numpy()
    return Weights(w_v, wide(outputs).numpy())


def contributions(record: AttentionRecord, weights: Weights) -> np.ndarray:
    """What each head adds to the stream: z·W_O of its own slice, (H, Tq, D)."""
    return record.z.astype(np.float64) @ weights.outputs


def spectra(values: np.ndarray, outputs: np.ndarray) -> np.ndarray:
    """Singular values of each head's W_V·W_O, largest first, (H, Dh); the other D − Dh are 0.

    With W_V = (Q R)ᵀ and W_O = (P S)ᵀ they are those of the small matrix R·Sᵀ.
    """
    singular = []
    for w_v, w_o in zip(values, outputs, strict=True):
        r, s = (np.asarray(np.linalg.qr(matrix.T, mode="r")) for matrix in (w_v, w_o))
        singular.append(np.linalg.svd(r @ s.T, compute_uv=False))
    return np.stack(singular)


def effective_rank(values: np.ndarray) -> np.ndarray:
    """exp of the entropy of singular values as shares (Roy & Vetterli 2007, eq. 3–4). (H, n).

    n where all are equal, 1 where one alone is not 0. Returns (H,).
    """
    totals = values.sum(axis=-1, keepdims=True)
    shares = np.divide(values, totals, out=np.zeros_like(values), where=totals > 0)
    logs = np.log(shares, out=np.zeros_like(shares), where=shares > 0)
    return np.exp(-(shares * logs).sum(axis=-1))


def alike(arrays: np.ndarray) -> np.ndarray:
    """The cosine of every two heads' arrays, each taken as one long vector. (H, …) → (H, H)."""
    return cosine_similarity(arrays.reshape(len(arrays), -1))


def most_alike(patterns: np.ndarray) -> tuple[int, int, int]:
    """Layer and the two heads in it whose patterns have the largest cosine. (L, H, Tq, Tk).

    ValueError for layers of one head.
    """
    if patterns.shape[1] < 2:
        raise ValueError("a layer of one head has no two to compare")
    cosines = np.stack([np.triu(alike(layer), 1) for layer in patterns])
    layer, one, other = np.unravel_index(int(cosines.argmax()), cosines.shape)
    return int(layer), int(one), int(other)
