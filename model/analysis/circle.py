"""Numbers modulo n whose embeddings lie on a circle (Nanda et al. 2023, §4.1)."""

from typing import NamedTuple

import numpy as np


class Circle(NamedTuple):
    """The plane in which embeddings turn most alike: k times around from number 0 to n.

    points: (n, 2), where each number lies in it. share: of the variance of all embeddings.
    """

    frequency: int
    points: np.ndarray
    share: float


def circle(embeddings: np.ndarray) -> Circle:
    """The frequency that has the most of the variance of embeddings (n, D), and its plane.

    The cosine and the sine of frequency k over the numbers are two directions in the embedding's
    space, by the discrete Fourier transform along the numbers; they are made orthonormal.
    """
    centred = np.asarray(embeddings, np.float64)
    centred = centred - centred.mean(axis=0)
    waves = np.fft.rfft(centred, axis=0)  # (n // 2 + 1, D), complex
    power = (np.abs(waves) ** 2).sum(axis=1)
    frequency = int(power[1:].argmax()) + 1
    plane, _ = np.linalg.qr(np.stack([waves[frequency].real, waves[frequency].imag], axis=1))
    points = centred @ plane  # (n, 2)
    total = (centred**2).sum()
    return Circle(frequency, points, float((points**2).sum() / total) if total else 0.0)
