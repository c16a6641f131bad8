"""What makes vectors of what a model is given: token ids, or the patches of a picture."""

import math

import torch
from torch import Tensor, nn

from model.config import TextConfig, VisionConfig


class TokenEmbedding(nn.Embedding):
    """A learned vector for each token, times √d_model where the config says so.

    (Vaswani et al. 2017, §3.4.)
    """

    def __init__(self, config: TextConfig) -> None:
        super().__init__(config.vocab_size, config.d_model)
        self.scale = math.sqrt(config.d_model) if config.scale_embeddings else 1.0

    def forward(self, input: Tensor) -> Tensor:
        """input: ids (B, T). Returns (B, T, D)."""
        return super().forward(input) * self.scale


def patches_of(images: Tensor, patch_size: int) -> Tensor:
    """Cut pictures into squares of p × p pixels, row by row (Dosovitskiy et al. 2021, §3.1).

    images: (B, S, S). Returns (B, P, p·p) with P = (S / p)², the pixels of a patch row by row.
    """
    rows = images.unflatten(1, (-1, patch_size)).unflatten(3, (-1, patch_size))
    return rows.transpose(2, 3).flatten(3).flatten(1, 2)  # from (B, S/p, p, S/p, p)


class PatchEmbedding(nn.Module):
    """The class token, then each patch by one linear map (Dosovitskiy et al. 2021, eq. 1)."""

    def __init__(self, config: VisionConfig) -> None:
        super().__init__()
        self.patch_size = config.patch_size
        self.patches = nn.Linear(config.patch_size**2, config.d_model, bias=config.bias)
        self.class_token = nn.Parameter(torch.zeros(config.d_model))

    def forward(self, images: Tensor) -> Tensor:
        """images: (B, S, S). Returns (B, P + 1, D)."""
        patches = self.patches(patches_of(images, self.patch_size))  # (B, P, D)
        first = self.class_token.expand(len(images), 1, -1)  # (B, 1, D)
        return torch.cat([first, patches], dim=1)
