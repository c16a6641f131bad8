"""A row of blocks with what comes before and after it: embeddings, positions, the last norm."""

from collections.abc import Sequence
from typing import cast

import torch
from torch import Tensor, nn

from model.architectures.base import Transformer
from model.blocks import NORM_PLACEMENTS, Block, Memory, dropout_of
from model.config import BlockConfig
from model.kv_cache import KVCache
from model.masks import MASKS, CausalConfig, bidirectional_prefix
from model.norms import NORMS, NoNorm
from model.parts import StackParts, Step
from model.positions import POSITIONS
from model.tap import NO_TAP, Tap
from model.trace import Site

ADDED = ("sinusoidal", "learned")  # schemes that add a vector to each embedding


class Stack(Transformer):
    """Blocks in which every token attends to every other, unless a mask says otherwise.

    `name` is the first part of every address, and the name of the stream that it processes.
    """

    blocks: Sequence[Block]

    def __init__(
        self,
        config: BlockConfig,
        name: str,
        embed: nn.Module,
        *,
        n_layers: int | None = None,
        block: type[Block] = Block,
    ) -> None:
        super().__init__(config)
        self.name = name
        self.embed = embed
        self.position = POSITIONS[config.position](config)
        self.dropout = dropout_of(config)
        blocks = nn.ModuleList(block(config) for _ in range(n_layers or config.n_layers))
        self.blocks = cast("Sequence[Block]", blocks)  # a ModuleList does not say what it holds
        ends_with_norm = NORM_PLACEMENTS[config.norm_placement].ends_with_norm
        self.final_norm = NORMS[config.norm](config) if ends_with_norm else NoNorm()

    @property
    def sites(self) -> tuple[Site, ...]:
        """See `Transformer`."""
        return tuple(
            Site(self.name, kind, layer)
            for layer, block in enumerate(self.blocks)
            for kind in block.attends
        )

    @property
    def embedding(self) -> nn.Module:
        """See `Transformer`."""
        return self.embed

    @property
    def stacks(self) -> tuple[StackParts, ...]:
        """See `Transformer`."""
        sublayers = tuple(x for n, block in enumerate(self.blocks) for x in block.sublayers(n))
        width, norm = self.config.d_model, self.final_norm
        before = [self.first_step]
        if self.config.position in ADDED:
            before.append(Step("positions", width, tuple(self.position.parameters())))
        has_norm = not isinstance(norm, NoNorm)
        after = (Step("final_norm", width, tuple(norm.parameters()), norm=norm),) * has_norm
        ends = tuple(self.last_steps)
        return (StackParts(self.name, width, tuple(before), sublayers, (*after, *ends)),)

    @property
    def first_step(self) -> Step:
        """What makes vectors of what it is given."""
        scale = getattr(self.embed, "scale", 1.0)
        detail = f"× √{self.config.d_model}" if scale != 1.0 else ""
        return Step("embedding", self.config.d_model, tuple(self.embed.parameters()), detail=detail)

    def score_bias(self, n_tokens: int) -> Tensor | None:
        """See `Transformer`."""
        places = torch.arange(n_tokens, device=self.device)
        return self.position.bias(places, places)

    def predict(
        self, rows: Sequence[Tensor], position: int | slice, *, tap: Tap = NO_TAP, first: int = 0
    ) -> Tensor:
        """See `Transformer`."""
        _, unembed = self.ending
        return unembed(self.stream(*rows, tap=tap)[:, position])

    @property
    def ending(self) -> tuple[nn.Module, nn.Linear]:
        """See `Transformer`."""
        return self.final_norm, cast("nn.Linear", self.get_submodule("unembed"))

    def stream(
        self,
        given: Tensor,
        *,
        mask: Tensor | None = None,
        memory: Memory | None = None,
        tap: Tap = NO_TAP,
        cache: KVCache | None = None,
    ) -> Tensor:
        """The residual stream after the last block and its norm, (B, Tq, D).

        given: what `embed` takes, for text ids (B, Tq), with a cache the tokens after those in it.
        mask: bool, broadcastable to (B, H, Tq, Tk), taken instead of the stack's own. memory: what
        blocks with cross-attention attend to. Raises ValueError as `forward` of a model does.
        """
        tap = tap.scope(self.name)
        start = 0 if cache is None else cache.length
        embed = self.embed_tokens(given, tap, start)  # (B, Tq, D)
        n_new = embed.shape[1]
        if mask is None:
            mask = self.own_mask(start, start + n_new, embed.device)
            # A lone new token mostly attends to everything, and without a mask that is faster.
            is_needless = n_new == 1 and not tap.scope("blocks.0.attn").wants("mask")
            mask = None if mask is None or (is_needless and bool(mask.all())) else mask
        resid = self.dropout(embed)
        for layer, block in enumerate(self.blocks):
            scope = tap.scope(f"blocks.{layer}")
            layer_cache = None if cache is None else cache.layers[layer]
            resid = block(
                resid, self.position, mask=mask, memory=memory, tap=scope, cache=layer_cache
            )
        if cache is not None:
            cache.advance(n_new)
        return self.final_norm(resid, tap.scope("final_norm"))

    def embed_tokens(self, given: Tensor, tap: Tap = NO_TAP, start: int = 0) -> Tensor:
        """What enters the first block: embeddings, with positions where they are added. (B, T, D).

        given: ids (B, T) or whatever `embed` takes, the first of them at position `start`.
        """
        embed = tap("embed", self.embed(given))  # (B, T, D)
        positions = torch.arange(start, start + embed.shape[1], device=embed.device)
        positions = tap("positions", self.position.added(positions))  # (T, D) or None
        return embed if positions is None else embed + positions

    def own_mask(self, start: int, stop: int, device: torch.device) -> Tensor | None:
        """Rows `start` to `stop` of the stack's mask, (Tq, Tk); None where all may attend."""
        return None


class CausalStack(Stack):
    """Blocks under the mask of the config, so that keys and values can be kept in a cache."""

    def stream(
        self,
        given: Tensor,
        *,
        mask: Tensor | None = None,
        memory: Memory | None = None,
        tap: Tap = NO_TAP,
        cache: KVCache | None = None,
    ) -> Tensor:
        """See `Stack`. given: ids (B, Tq)."""
        self.check_length(given.shape[1], 0 if cache is None else cache.length)
        if cache is not None:
            cache.check_room(*given.shape)
        return super().stream(given, mask=mask, memory=memory, tap=tap, cache=cache)

    def own_mask(self, start: int, stop: int, device: torch.device) -> Tensor:
        """See `Stack`."""
        config = cast("CausalConfig", self.config)
        n_first = bidirectional_prefix(config)
        if 0 < start < n_first:
            raise ValueError(
                f"the first {n_first} tokens see each other but the cache was given {start} of "
                f"them alone; empty it and give the first {n_first} tokens at once"
            )
        return MASKS[config.mask](config, stop, device, start)
