"""Muon in the numbers of the weights; torch's own always computes in bfloat16.

Where the hardware does not multiply bfloat16 natively that takes several times as long as the rest
of a step.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer

COEFFICIENTS = (3.4445, -4.7750, 2.0315)  # of the quintic, which grows small singular values fast
STEPS, MOMENTUM, EPS = 5, 0.95, 1e-7


def orthogonalised(matrix: Tensor) -> Tensor:
    """A matrix with the same singular vectors and singular values near 1, by Newton–Schulz steps.

    X ← aX + b(XXᵀ)X + c(XXᵀ)²X (Jordan et al. 2024). matrix: (n, m). Returns (n, m).
    """
    a, b, c = COEFFICIENTS
    is_tall = matrix.shape[0] > matrix.shape[1]
    x = matrix.T if is_tall else matrix
    x = x / x.norm().clamp(min=EPS)
    for _ in range(STEPS):
        gram = x @ x.T
        x = a * x + (b * gram + c * gram @ gram) @ x
    return x.T if is_tall else x


class Muon(Optimizer):
    """Momentum whose updates are orthogonalised, as large as Adam's (Liu et al. 2025, eq. 4)."""

    def __init__(self, matrices: list[Tensor], lr: float, weight_decay: float) -> None:
        super().__init__(matrices, {"lr": lr, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> Any:  # noqa: ANN401, as torch
        """Take one step; the gradients must be there."""
        for group in self.param_groups:
            for weight in group["params"]:
                held = self.state[weight]
                momentum = held.setdefault("momentum_buffer", torch.zeros_like(weight))
                momentum.lerp_(weight.grad, 1 - MOMENTUM)
                update = orthogonalised(weight.grad.lerp(momentum, MOMENTUM))
                size = 0.2 * max(weight.shape) ** 0.5
                weight.mul_(1 - group["lr"] * group["weight_decay"])
                weight.add_(update, alpha=-group["lr"] * size)
