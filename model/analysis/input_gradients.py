"""Integrated gradients of the input embeddings (Sundararajan et al. 2017)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from model.analysis.branching import MOST_AT_ONCE, Branch, logits_at, values_of
from model.analysis.explanation import Arrows
from model.analysis.interventions import batch_of, is_picture
from model.device import wide
from model.tap import Gradients, attach

STEPS = (16, 32, 64, 128, 256, 512)  # of the path, tried until the sum is complete
AT_ONCE = 8192  # embeddings: all of a large vocabulary are much memory
COMPLETE = 0.005  # of the difference that the sum may miss


@dataclass(frozen=True, eq=False)
class Integrated:
    """Attributions of each of a question's tokens, and the difference that they are to sum to.

    The path runs from the mean embedding of the vocabulary to the tokens' own, of a picture from a
    black one, in `n_steps`.
    """

    attributions: np.ndarray
    value: float
    baseline: float
    n_steps: int

    @property
    def error(self) -> float:
        """Completeness: how much of the difference the sum misses (§3, proposition 1)."""
        difference = self.value - self.baseline
        missed = abs(float(self.attributions.sum()) - difference)
        return missed / abs(difference) if difference else missed


def integrated(question: Arrows, steps: tuple[int, ...] = STEPS) -> Iterator[Integrated | None]:
    """Gradients along the path, a few at a time; yields None until the last, which is the result.

    Gauss-Legendre quadrature, with more steps until the completeness error is at most 0.5 %.
    """
    ends = _ends(question)
    value, baseline = (_metrics(question, ends[i][None])[0] for i in (1, 0))
    for n_steps in steps:
        total = torch.zeros(len(ends[0]), dtype=torch.float64)
        nodes, shares = np.polynomial.legendre.leggauss(n_steps)
        size = max(1, MOST_AT_ONCE // len(ends[0]) // 2)  # a gradient takes twice the time more
        for first in range(0, n_steps, size):
            some = slice(first, first + size)
            total += _along(question, ends, (nodes[some] + 1) / 2, shares[some] / 2)
            yield None
        result = Integrated(total.numpy(), value, baseline, n_steps)
        if result.error <= COMPLETE or n_steps == steps[-1]:
            yield result
            return


@torch.inference_mode()
def _ends(question: Arrows) -> Tensor:
    """The beginning and the end of the path, (2, N, D), of the tokens of all stacks."""
    values = values_of(question.model, question.given, {"embed"})
    own = torch.cat([values[f"{name}.embed"][0] for name in question.lengths])
    return torch.stack([_beginning(question).expand_as(own), own]).clone()


def _beginning(question: Arrows) -> Tensor:
    """The mean embedding of the vocabulary, (D,); of a picture that of a black one, (P + 1, D)."""
    model = question.model
    if is_picture(question.given):
        (pixels,) = batch_of(model, question.given)
        return model.embedding(torch.zeros_like(pixels))[0]
    every = torch.arange(len(model.embedding.get_parameter("weight")), device=model.device)
    sums = [model.embedding(some[None])[0].sum(dim=0) for some in every.split(AT_ONCE)]
    return torch.stack(sums).sum(dim=0) / len(every)


def _metrics(question: Arrows, embedded: Tensor) -> list[float]:
    """The metric of rows of embeddings (B, N, D)."""
    with torch.inference_mode():
        tap = attach(*_rows(question, embedded))
        position = question.metric.position
        logits = logits_at(question.model, question.given, position, tap, len(embedded))
        return question.metric.of(logits).tolist()


def _rows(question: Arrows, embedded: Tensor) -> list[Branch]:
    """What puts rows of embeddings in the place of those of each stack."""
    lengths = question.lengths
    parts = embedded.split(list(lengths.values()), dim=1)
    return [
        Branch(f"{name}.embed", [((slice(None),), row) for row in part])
        for name, part in zip(lengths, parts, strict=True)
    ]


def _along(question: Arrows, ends: Tensor, places: np.ndarray, shares: np.ndarray) -> Tensor:
    """Σ share · gradient · (end − beginning) at places from 0 to 1, summed over D. (N,)."""
    ends = ends.clone()  # made where no gradient is kept, which autograd refuses
    at = torch.tensor(places, dtype=ends.dtype, device=ends.device)[:, None, None]
    gradients = Gradients({"embed"})
    with torch.enable_grad():
        rows = ends[0] + at * (ends[1] - ends[0])
        tap = attach(*_rows(question, rows), gradients)
        position = question.metric.position
        logits = logits_at(question.model, question.given, position, tap, len(rows))
        slopes = gradients.of(question.metric.of(logits).sum())
    slope = torch.cat([wide(slopes[f"{name}.embed"]) for name in question.lengths], dim=1)
    weights = torch.tensor(shares)[:, None]
    return ((slope * wide(ends[1] - ends[0])).sum(dim=-1) * weights).sum(dim=0)
