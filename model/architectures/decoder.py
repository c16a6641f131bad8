"""A stack of blocks over one sentence, as in GPT: ids in, logits of every position out."""

import math
from collections.abc import Sequence
from typing import cast

import torch
from torch import Tensor, nn

from model.architectures.base import Transformer
from model.blocks import NORM_PLACEMENTS, Block, dropout_of
from model.config import DecoderConfig
from model.decoding.kv_cache import KVCache
from model.masks import MASKS, bidirectional_prefix
from model.norms import NORMS, NoNorm
from model.positions import POSITIONS
from model.tap import NO_TAP, Tap

STACK = "decoder"  # the first part of every address


class DecoderTransformer(Transformer):
    """Predicts the next token at every position from what the mask lets it attend to."""

    config: DecoderConfig
    blocks: Sequence[Block]

    def __init__(self, config: DecoderConfig) -> None:
        super().__init__(config)
        self.embed = nn.Embedding(config.vocab_size, config.d_model)
        self.position = POSITIONS[config.position](config)
        self.dropout = dropout_of(config)
        blocks = nn.ModuleList(Block(config) for _ in range(config.n_layers))
        self.blocks = cast("Sequence[Block]", blocks)  # a ModuleList does not say what it holds
        ends_with_norm = NORM_PLACEMENTS[config.norm_placement].ends_with_norm
        self.final_norm = NORMS[config.norm](config) if ends_with_norm else NoNorm()
        self.unembed = nn.Linear(config.d_model, config.vocab_size, bias=False)
        self.tie_weights()
        self.embed_scale = math.sqrt(config.d_model) if config.scale_embeddings else 1.0

    @property
    def tied_weights(self) -> frozenset[str]:
        """The unembedding, where it is the embedding itself (Press & Wolf 2017)."""
        return frozenset({"unembed.weight"} if self.config.tied_embeddings else ())

    def tie_weights(self) -> None:
        """See `Transformer`."""
        if self.config.tied_embeddings:
            self.unembed.weight = self.embed.weight

    def forward(
        self,
        ids: Tensor,
        *,
        mask: Tensor | None = None,
        tap: Tap = NO_TAP,
        cache: KVCache | None = None,
    ) -> Tensor:
        """Logits of every position in `ids`.

        ids: (B, Tq), with a cache the tokens after those in it, which it then holds too: Tk in
        all. mask: bool, broadcastable to (B, H, Tq, Tk), taken instead of the config's own;
        combine it with that by `&`, as for padding. Returns (B, Tq, V).
        Raises ValueError when Tq is 0, Tk above `max_seq_len` or the cache's capacity, and when
        the mask lets tokens in the cache see what comes now, which is too late.
        """
        start = 0 if cache is None else cache.length
        self._check_length(start, ids.shape[1])
        if cache is not None:
            cache.check_room(*ids.shape)
        stack = tap.scope(STACK)
        if mask is None:
            mask = self._mask(start, start + ids.shape[1], ids.device)
            # A lone new token mostly attends to everything, and without a mask that is faster.
            is_needless = ids.shape[1] == 1 and not stack.scope("blocks.0.attn").wants("mask")
            mask = None if is_needless and bool(mask.all()) else mask
        resid = self.dropout(self.embed_tokens(ids, stack, start))  # (B, Tq, D)
        for layer, block in enumerate(self.blocks):
            scope = stack.scope(f"blocks.{layer}")
            layer_cache = None if cache is None else cache.layers[layer]
            resid = block(resid, self.position, mask=mask, tap=scope, cache=layer_cache)
        if cache is not None:
            cache.advance(ids.shape[1])
        return tap("logits", self.unembed(self.final_norm(resid, stack.scope("final_norm"))))

    def embed_tokens(self, ids: Tensor, tap: Tap = NO_TAP, start: int = 0) -> Tensor:
        """What enters the first block: embeddings, with positions where they are added. (B, T, D).

        ids: (B, T), the first of them at position `start`.
        """
        embed = tap("embed", self.embed(ids) * self.embed_scale)  # (B, T, D)
        positions = torch.arange(start, start + ids.shape[1], device=ids.device)
        positions = tap("positions", self.position.added(positions))  # (T, D) or None
        return embed if positions is None else embed + positions

    def _mask(self, start: int, stop: int, device: torch.device) -> Tensor:
        """Rows `start` to `stop` of the config's mask, (Tq, Tk)."""
        n_first = bidirectional_prefix(self.config)
        if 0 < start < n_first:
            raise ValueError(
                f"the first {n_first} tokens see each other but the cache was given {start} of "
                f"them alone; empty it and give the first {n_first} tokens at once"
            )
        return MASKS[self.config.mask](self.config, stop, device, start)

    def _check_length(self, n_cached: int, n_new: int) -> None:
        if n_new == 0:
            raise ValueError("the text has 0 tokens; give at least 1")
        if n_cached + n_new > self.config.max_seq_len:
            cached = f", {n_cached} of them in the cache," if n_cached else ""
            raise ValueError(
                f"the text has {n_cached + n_new} tokens{cached} but the model's context is "
                f"{self.config.max_seq_len}; shorten it to {self.config.max_seq_len} tokens"
            )
