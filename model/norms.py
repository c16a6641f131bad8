"""Keeping the residual stream at a known scale: LayerNorm and RMSNorm."""

import torch
from torch import Tensor, nn

from model.config import BlockConfig
from model.tap import NO_TAP, Tap


def layer_norm(x: Tensor, gain: Tensor, offset: Tensor | None, eps: float) -> Tensor:
    """(x − mean) / √(variance + eps) · gain + offset, over the last axis (Ba et al. 2016, eq. 4).

    x: (…, D), gain and offset: (D,). Returns (…, D).
    """
    return torch.nn.functional.layer_norm(x, x.shape[-1:], gain, offset, eps)


def rms_norm(x: Tensor, gain: Tensor, eps: float) -> Tensor:
    """x / √(mean(x²) + eps) · gain, over the last axis (Zhang & Sennrich 2019, eq. 4).

    x: (…, D), gain: (D,). Returns (…, D).
    """
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps) * gain


class LayerNorm(nn.Module):
    """Centres and scales each vector, then a learned gain and, with `bias`, a learned offset."""

    def __init__(self, config: BlockConfig) -> None:
        super().__init__()
        self.eps = config.norm_eps
        self.gain = nn.Parameter(torch.ones(config.d_model))
        self.offset = nn.Parameter(torch.zeros(config.d_model)) if config.bias else None

    def forward(self, x: Tensor, tap: Tap = NO_TAP) -> Tensor:
        """x: (…, D). Returns (…, D)."""
        return tap("scaled", layer_norm(x, self.gain, self.offset, self.eps))


class RMSNorm(nn.Module):
    """Scales each vector to unit root mean square, then a learned gain."""

    def __init__(self, config: BlockConfig) -> None:
        super().__init__()
        self.eps = config.norm_eps
        self.gain = nn.Parameter(torch.ones(config.d_model))

    def forward(self, x: Tensor, tap: Tap = NO_TAP) -> Tensor:
        """x: (…, D). Returns (…, D)."""
        return tap("scaled", rms_norm(x, self.gain, self.eps))


class NoNorm(nn.Module):
    """Leaves the stream as it is: after the last block of a post-norm model."""

    def forward(self, x: Tensor, tap: Tap = NO_TAP) -> Tensor:
        """x: (…, D). Returns it."""
        return x


NORMS: dict[str, type[nn.Module]] = {"layer": LayerNorm, "rms": RMSNorm}
