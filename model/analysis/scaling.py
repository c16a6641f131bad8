"""Scaling laws: the loss of a model by its size N and its tokens D, and the best N for a compute C.

Published constants stand beside a law fitted to runs of our own. C = 6·N·D throughout (Kaplan et
al. 2020, §2.1). Losses are in nats per token, each law's of its own text and tokenizer, so losses
of two laws are not compared.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

PER_PARAMETER = 6  # operations of one parameter for one token, forward and backward
PF_DAY = 1e15 * 24 * 3600  # operations of a day at 10¹⁵ a second
GOPHER = 5.76e23  # operations of Gopher's training (Hoffmann et al. 2022, fig. 2 and 3)

Loss = Callable[[np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Parametric:
    """L = E + A/N^α + B/D^β (Hoffmann et al. 2022, eq. 2)."""

    floor: float
    a: float
    b: float
    alpha: float
    beta: float

    def loss(self, n: np.ndarray, d: np.ndarray) -> np.ndarray:
        """Nats per token of models of N parameters after D tokens."""
        return self.floor + self.a / n**self.alpha + self.b / d**self.beta

    @property
    def exponent(self) -> float:
        """The power of C with which the best size grows."""
        return self.beta / (self.alpha + self.beta)

    def best_size(self, compute: np.ndarray) -> np.ndarray:
        """N of the lowest loss where C = 6·N·D (Hoffmann et al. 2022, eq. 4)."""
        ratio = self.alpha * self.a / (self.beta * self.b)
        return ratio ** (1 / (self.alpha + self.beta)) * (compute / PER_PARAMETER) ** self.exponent


# Hoffmann et al. 2022, eq. 10; Besiroglu et al. 2024, §3.
PRINTED = Parametric(1.69, 406.4, 410.7, 0.34, 0.28)
REFITTED = Parametric(1.8172, 482.01, 2085.43, 0.3478, 0.3658)


def kaplan_loss(n: np.ndarray, d: np.ndarray) -> np.ndarray:
    """L(N, D) of Kaplan et al. 2020, eq. 1.5 with table 2; N without embeddings."""
    alpha_n, alpha_d, n_c, d_c = 0.076, 0.103, 6.4e13, 1.8e13
    return ((n_c / n) ** (alpha_n / alpha_d) + d_c / d) ** alpha_d


def kaplan_size(compute: np.ndarray) -> np.ndarray:
    """The best N, without embeddings (Kaplan et al. 2020, table 6), which takes C in PF-days."""
    return 1.3e9 * (compute / PF_DAY) ** 0.73


def _through(size: float, exponent: float) -> Callable[[np.ndarray], np.ndarray]:
    """A power of C that gives `size` at Gopher's compute."""
    return lambda compute: size * (compute / GOPHER) ** exponent


@dataclass(frozen=True)
class Law:
    """What one paper says: the best N for C, and the loss where it gives one."""

    name: str
    source: str
    exponent: float
    best_size: Callable[[np.ndarray], np.ndarray]
    loss: Loss | None = None


LAWS: Mapping[str, Law] = {
    "kaplan": Law("Kaplan", "Kaplan et al. 2020, table 6, eq. 1.5", 0.73, kaplan_size, kaplan_loss),
    "envelope": Law(
        "Chinchilla 1", "Hoffmann et al. 2022, §3.1: training curves", 0.50, _through(67e9, 0.50)
    ),
    "profiles": Law(
        "Chinchilla 2", "Hoffmann et al. 2022, §3.2: equal compute", 0.49, _through(63e9, 0.49)
    ),
    "printed": Law(
        "Chinchilla 3, as printed",
        "Hoffmann et al. 2022, §3.3, eq. 10",
        PRINTED.exponent,
        PRINTED.best_size,
        PRINTED.loss,
    ),
    "refitted": Law(
        "Chinchilla 3, refitted",
        "Besiroglu et al. 2024, §3",
        REFITTED.exponent,
        REFITTED.best_size,
        REFITTED.loss,
    ),
}


@dataclass(frozen=True)
class KnownRun:
    """A published model: its parameters and the tokens it was trained on."""

    name: str
    parameters: float
    tokens: float
    source: str

    @property
    def compute(self) -> float:
        """6·N·D."""
        return PER_PARAMETER * self.parameters * self.tokens


KNOWN_RUNS = (
    KnownRun("GPT-3", 175e9, 300e9, "Brown et al. 2020, table 2.1"),
    KnownRun("Gopher", 280e9, 300e9, "Rae et al. 2021, §3"),
    KnownRun("Chinchilla", 70e9, 1.4e12, "Hoffmann et al. 2022, §4"),
)

LOWEST, HIGHEST = 17.0, 27.0  # powers of ten of the computes drawn
COMPUTES = 10 ** np.linspace(LOWEST, HIGHEST, 41)
OCTAVES = np.linspace(-5, 5, 41)  # sizes beside the best one, as powers of two


@dataclass(frozen=True)
class Choice:
    """A model for a given compute; `loss` is NaN where the law has none."""

    size: float
    tokens: float
    loss: float


def chosen(law: Law, compute: float, octaves: float = 0.0) -> Choice:
    """The best model for a compute, or one `octaves` powers of two larger at the same compute."""
    size = float(law.best_size(np.array(compute))) * 2.0**octaves
    tokens = compute / (PER_PARAMETER * size)
    loss = math.nan if law.loss is None else float(law.loss(np.array(size), np.array(tokens)))
    return Choice(size, tokens, loss)


def iso_compute(loss: Loss, compute: float, sizes: np.ndarray) -> np.ndarray:
    """Losses of models of many sizes that all take the same compute, the shape of `sizes`."""
    return loss(sizes, compute / (PER_PARAMETER * sizes))
