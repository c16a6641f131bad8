"""What every architecture is to the rest of the house."""

import torch
from torch import nn

from model.config import BlockConfig


class Transformer(nn.Module):
    """A model with its config; it runs where its weights are."""

    def __init__(self, config: BlockConfig) -> None:
        super().__init__()
        self.config = config

    @property
    def tied(self) -> dict[str, str]:
        """Weights that are another one under a second name: that name, and the other's."""
        return {}

    @property
    def tied_weights(self) -> frozenset[str]:
        """The second names, under which nothing is stored."""
        return frozenset(self.tied)

    def tie_weights(self) -> None:
        """Make tied weights the same tensor again after others were put in place."""
        for name, other in self.tied.items():
            module, _, weight = name.rpartition(".")
            setattr(self.get_submodule(module), weight, self.get_parameter(other))

    @property
    def device(self) -> torch.device:
        """Where the model runs."""
        return next(self.parameters()).device

    @property
    def dtype(self) -> torch.dtype:
        """In which precision it runs."""
        return next(self.parameters()).dtype
