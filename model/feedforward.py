"""The feed-forward half of a block: each token on its own, wider and back."""

from collections.abc import Callable
from functools import partial

import torch.nn.functional as F
from torch import Tensor, nn

from model.config import BlockConfig
from model.tap import NO_TAP, Tap


class FeedForward(nn.Module):
    """down(activation(up(x))) (Vaswani et al. 2017, eq. 2, there with ReLU)."""

    def __init__(self, config: BlockConfig, activation: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.activation = activation
        self.up = nn.Linear(config.d_model, config.d_ff, bias=config.bias)
        self.down = nn.Linear(config.d_ff, config.d_model, bias=config.bias)

    def forward(self, x: Tensor, tap: Tap = NO_TAP) -> Tensor:
        """x: (B, T, D). Returns (B, T, D)."""
        return self.down(tap("activation", self.activation(self.up(x))))


class SwiGLU(nn.Module):
    """down(silu(gate(x)) · up(x)) (Shazeer 2020, eq. 6)."""

    def __init__(self, config: BlockConfig) -> None:
        super().__init__()
        self.gate = nn.Linear(config.d_model, config.d_ff, bias=config.bias)
        self.up = nn.Linear(config.d_model, config.d_ff, bias=config.bias)
        self.down = nn.Linear(config.d_ff, config.d_model, bias=config.bias)

    def forward(self, x: Tensor, tap: Tap = NO_TAP) -> Tensor:
        """x: (B, T, D). Returns (B, T, D)."""
        return self.down(tap("activation", F.silu(self.gate(x)) * self.up(x)))


FEEDFORWARDS: dict[str, Callable[[BlockConfig], nn.Module]] = {
    "relu": partial(FeedForward, activation=F.relu),
    "gelu": partial(FeedForward, activation=F.gelu),
    "gelu_tanh": partial(FeedForward, activation=partial(F.gelu, approximate="tanh")),
    "swiglu": SwiGLU,
}
