"""By what angle queries and keys turn per position, in float64, for each kind of rotation."""

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np


class Scaling(NamedTuple):
    """What a kind of rotation is worked out of: n values of a head turn, of `width`.

    `longest` is the context, `first` that which was trained first.
    """

    said: Mapping[str, Any]
    base: float
    n: int
    width: int
    n_tokens: int
    longest: int
    first: int

    @property
    def plain(self) -> np.ndarray:
        """base^(−2i/n) (Su et al. 2021, §3.2.2)."""
        return self.base ** (-np.arange(0, self.n, 2) / self.n)

    @property
    def factor(self) -> float:
        """By how much the context is stretched."""
        return self.said.get("factor") or self.longest / self.first


def _plain(s: Scaling) -> tuple[np.ndarray, float]:
    return s.plain, 1.0


def _linear(s: Scaling) -> tuple[np.ndarray, float]:
    return s.plain / s.factor, 1.0


def _dynamic(s: Scaling) -> tuple[np.ndarray, float]:
    """Of a base that grows with a text beyond the context."""
    beyond = max(s.n_tokens, s.longest) / s.longest
    grown = s.base * (s.factor * beyond - s.factor + 1) ** (s.n / (s.n - 2))
    return s._replace(base=grown).plain, 1.0


def _llama3(s: Scaling) -> tuple[np.ndarray, float]:
    """Slow turns are slowed by the factor, fast ones not, those between in part."""
    turns = s.first * s.plain / (2 * math.pi)  # over the first context
    low, high = s.said["low_freq_factor"], s.said["high_freq_factor"]
    kept = np.clip((turns - low) / (high - low), 0.0, 1.0)
    return s.plain * (kept + (1 - kept) / s.factor), 1.0


def _yarn(s: Scaling) -> tuple[np.ndarray, float]:
    """Peng et al. 2023, §3.2 and §3.4: a ramp over pairs by how often they turn."""

    def pair(turns: float) -> float:
        return s.n * math.log(s.first / (turns * 2 * math.pi)) / (2 * math.log(s.base))

    low, high = pair(s.said.get("beta_fast") or 32), pair(s.said.get("beta_slow") or 1)
    if s.said.get("truncate", True):
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, s.n - 1)
    ramp = (np.arange(len(s.plain)) - low) / (high - low if high != low else 0.001)
    slowed = np.clip(ramp, 0.0, 1.0)
    return s.plain * (1 - slowed + slowed / s.factor), _of_yarn(s)


def _of_yarn(s: Scaling) -> float:
    def grown(weight: float) -> float:
        return 1.0 if s.factor <= 1 else 0.1 * weight * math.log(s.factor) + 1.0

    own, of_all = s.said.get("mscale"), s.said.get("mscale_all_dim")
    usual = grown(own) / grown(of_all) if own and of_all else grown(1.0)
    return usual if s.said.get("attention_factor") is None else s.said["attention_factor"]


def _longrope(s: Scaling) -> tuple[np.ndarray, float]:
    """Ding et al. 2024: each pair by a factor of its own, another one for long texts."""
    name = "long_factor" if s.n_tokens > s.first else "short_factor"
    usual = math.sqrt(1 + math.log(s.factor) / math.log(s.first)) if s.factor > 1 else 1.0
    given = s.said.get("attention_factor")
    return s.plain / np.array(s.said[name], float), usual if given is None else given


def _proportional(s: Scaling) -> tuple[np.ndarray, float]:
    """The first pairs turn as if all did, the others not."""
    angles = s._replace(n=s.width).plain / (s.said.get("factor") or 1.0)
    return np.where(np.arange(len(angles)) < s.n // 2, angles, 0.0), 1.0


KINDS: dict[str, Callable[[Scaling], tuple[np.ndarray, float]]] = {
    "default": _plain, "none": _plain, "linear": _linear, "dynamic": _dynamic, "llama3": _llama3,
    "yarn": _yarn, "longrope": _longrope, "su": _longrope, "proportional": _proportional,
}  # fmt: skip
