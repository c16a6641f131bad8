"""What every architecture is to the rest of the house."""

import torch
from torch import Tensor, nn

from model.blocks import Sublayer
from model.config import BlockConfig
from model.trace import Site


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

    @property
    def sites(self) -> tuple[Site, ...]:
        """Every attention, in the order of a pass."""
        raise NotImplementedError

    @property
    def embedding(self) -> nn.Module:
        """What makes vectors (B, T, D) of ids (B, T), with whatever they are multiplied by."""
        raise NotImplementedError

    @property
    def sublayers(self) -> tuple[Sublayer, ...]:
        """What writes into the stream that logits are read from, in the order of a pass."""
        raise NotImplementedError

    @property
    def ending(self) -> tuple[nn.Module, nn.Linear]:
        """What makes logits of that stream: the last norm, and the unembedding.

        ValueError where logits are made in another way.
        """
        raise NotImplementedError

    def read_out(self, stream: Tensor) -> Tensor:
        """Logits (…, V) of a residual stream (…, D), as after the last block.

        ValueError as `ending`.
        """
        norm, unembed = self.ending
        return unembed(norm(stream))

    @property
    def limit(self) -> str:
        """As many tokens as it runs, called by what bounds them."""
        return f"the model's context of {self.config.max_seq_len:,} tokens"

    def check_length(self, n_new: int, n_cached: int = 0) -> None:
        """ValueError when there is no token, or more than the context has room for."""
        if n_new == 0:
            raise ValueError("the text has 0 tokens; give at least 1")
        if n_cached + n_new > self.config.max_seq_len:
            cached = f", {n_cached} of them in the cache," if n_cached else ""
            raise ValueError(
                f"the text has {n_cached + n_new} tokens{cached} but the model's context is "
                f"{self.config.max_seq_len}; shorten it to {self.config.max_seq_len} tokens"
            )
