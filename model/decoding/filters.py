"""Pure filters over logits, and the settings they take."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

# A cut that only rounding would move stays where exact arithmetic has it: ten tokens of mass 0.1
# are three at p = 0.3, in whatever order they are added up. viz/kit/sampling.js has the same.
SLACK = 1e-12
DEFAULT_ORDER = ("temperature", "top_k", "top_p", "min_p")


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """How the next token is drawn; `top_k` None or 0, `top_p` 1 and `min_p` 0 remove nothing.

    `top_k=1` is greedy decoding: `GREEDY`; one above the vocabulary keeps all. `order` names each
    filter once, in the order in which they act. The same `seed` gives the same tokens on the same
    machine. Raises ValueError with the valid range.
    """

    temperature: float = 1.0
    top_k: int | None = None
    top_p: float = 1.0
    min_p: float = 0.0
    order: tuple[str, ...] = DEFAULT_ORDER
    seed: int = 0

    def __post_init__(self) -> None:
        if not 1e-3 <= self.temperature < math.inf:
            raise ValueError(
                f"temperature is {self.temperature:g}; it must be above 0, at least 0.001 and "
                "finite (top-k 1 always takes the most likely token)"
            )
        if self.top_k is not None and self.top_k < 0:
            raise ValueError(f"top-k is {self.top_k}; it must be at least 0, which is off")
        if not 0 < self.top_p <= 1:
            raise ValueError(f"top-p is {self.top_p:g}; it must be above 0 and at most 1")
        if not 0 <= self.min_p < 1:
            raise ValueError(f"min-p is {self.min_p:g}; it must be at least 0 and below 1")
        if sorted(self.order) != sorted(DEFAULT_ORDER):
            raise ValueError(
                f"the order of filters is {', '.join(self.order)}; name each of "
                f"{', '.join(DEFAULT_ORDER)} once"
            )
        if not 0 <= self.seed < 2**63:
            raise ValueError(f"seed is {self.seed}; it must be between 0 and 2⁶³ − 1")


GREEDY = Sampling(top_k=1)


def scale_temperature(logits: Tensor, temperature: float) -> Tensor:
    """logits / T: below 1 sharpens the distribution, above 1 flattens it (Ackley et al. 1985).

    logits: (V,). Returns (V,).
    """
    return logits / temperature


def top_k(logits: Tensor, k: int) -> Tensor:
    """Keep the k largest logits, −inf elsewhere; exactly k survive, ties go to the lower id.

    (Fan et al. 2018, §5.4.) logits: (V,). Returns (V,). ValueError when k is below 1.
    """
    if k < 1:
        raise ValueError(f"top-k is {k}; it must be at least 1")
    if k >= len(logits):
        return logits
    smallest = logits.topk(k).values[-1]  # without sorting the vocabulary
    larger, equal = logits > smallest, logits == smallest  # (V,) each
    is_kept = larger | (equal & (equal.cumsum(0) <= k - larger.sum()))
    return logits.masked_fill(~is_kept, -math.inf)


def top_p(logits: Tensor, p: float) -> Tensor:
    """Keep the fewest most likely tokens whose mass reaches p, −inf elsewhere; at least one.

    (Nucleus sampling, Holtzman et al. 2020, §3.1.) logits: (V,). Returns (V,).
    """
    left = (logits > -math.inf).nonzero()[:, 0]  # ids, not more than an earlier filter kept
    values, order = logits[left].sort(descending=True, stable=True)
    probs = values.double().softmax(dim=0)
    mass_before = probs.cumsum(0) - probs  # what more likely tokens hold together
    removed = mass_before >= p - SLACK
    removed[0] = False
    return logits.index_fill(0, left[order[removed]], -math.inf)


def min_p(logits: Tensor, p: float) -> Tensor:
    """Keep the tokens at least p times as likely as the top one, −inf elsewhere.

    (Nguyen et al. 2024, §3.) logits: (V,), p: 0 to 1. Returns (V,).
    """
    # p_i ≥ p · p_max without a softmax, whose rounding could decide.
    removed = logits < logits.max() + (math.log(p) if p > 0 else -math.inf) - SLACK
    return logits.masked_fill(removed, -math.inf)


# Each takes and returns (V,), and does nothing where its setting is off.
FILTERS: dict[str, Callable[[Tensor, Sampling], Tensor]] = {
    "temperature": lambda logits, sampling: scale_temperature(logits, sampling.temperature),
    "top_k": lambda logits, sampling: top_k(logits, sampling.top_k) if sampling.top_k else logits,
    "top_p": lambda logits, sampling: (
        logits if sampling.top_p == 1 else top_p(logits, sampling.top_p)
    ),
    "min_p": lambda logits, sampling: (
        logits if sampling.min_p == 0 else min_p(logits, sampling.min_p)
    ),
}


def filter_logits(logits: Tensor, sampling: Sampling) -> Tensor:
    """Temperature, top-k, top-p and min-p in their order; at least one token survives. (V,) → (V,).

    A later filter measures only what an earlier one left. Computed and returned in float64.
    """
    logits = logits.double()
    for name in sampling.order:
        logits = FILTERS[name](logits, sampling)
    return logits


def entropy(probs: Tensor) -> float:
    """−Σ p ln p in nats: 0 when one token is certain, ln V when all are alike. probs: (V,)."""
    return torch.special.entr(probs.double()).sum().item()
