"""The whole model, assembled from blocks: ids in, logits of every position out."""

import math

import torch
from torch import Tensor, nn

from model.blocks import NORM_PLACEMENTS, Block
from model.capture import NO_RECORDER, Recorder
from model.config import ModelConfig
from model.kv_cache import KVCache
from model.masks import MASKS, SEEING_AHEAD
from model.norms import NORMS
from model.positions import POSITIONS


class DecoderTransformer(nn.Module):
    """Predicts the next token at every position from what the mask lets it see."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.embed = nn.Embedding(config.vocab_size, config.d_model)
        self.position = POSITIONS[config.position](config)
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.n_layers))
        ends_with_norm = NORM_PLACEMENTS[config.norm_placement].ends_with_norm
        self.final_norm = NORMS[config.norm](config) if ends_with_norm else nn.Identity()
        self.unembed = nn.Linear(config.d_model, config.vocab_size, bias=False)
        if config.tied_embeddings:
            self.unembed.weight = self.embed.weight
        self.embed_scale = math.sqrt(config.d_model) if config.scale_embeddings else 1.0

    def forward(
        self,
        ids: Tensor,
        *,
        mask: Tensor | None = None,
        recorder: Recorder = NO_RECORDER,
        cache: KVCache | None = None,
    ) -> Tensor:
        """Logits of every position in `ids`.

        ids: (B, Tq), with a cache the tokens behind those in it, which it then holds too: Tk in
        all. mask: bool, broadcastable to (B, H, Tq, Tk), taken instead of the config's own;
        combine it with that by `&`, as for padding. Returns (B, Tq, V).
        Raises ValueError when Tq is 0, Tk above `max_seq_len` or the cache's capacity, and when
        the mask lets tokens in the cache see what comes now, which is too late.
        """
        start = 0 if cache is None else cache.length
        self._check_length(start, ids.shape[1])
        if cache is not None:
            cache.check_room(*ids.shape)
        if mask is None:
            mask = self._mask(start, start + ids.shape[1], ids.device, recorder)
        resid = self.embed_tokens(ids, recorder, start)  # (B, Tq, D)
        for layer, block in enumerate(self.blocks):
            scope = recorder.scope(f"blocks.{layer}")
            layer_cache = None if cache is None else cache.layers[layer]
            resid = block(resid, self.position, mask=mask, recorder=scope, cache=layer_cache)
        if cache is not None:
            cache.advance(ids.shape[1])
        return self.unembed(self.final_norm(resid))

    def embed_tokens(self, ids: Tensor, recorder: Recorder = NO_RECORDER, start: int = 0) -> Tensor:
        """What enters the first block: embeddings, with positions where they are added. (B, T, D).

        ids: (B, T), the first of them at position `start`.
        """
        embed = self.embed(ids) * self.embed_scale  # (B, T, D)
        positions = torch.arange(start, start + ids.shape[1], device=ids.device)
        positions = self.position.added(positions)  # (T, D) or None
        recorder(embed=embed, positions=positions)
        return embed if positions is None else embed + positions

    def _mask(
        self, start: int, stop: int, device: torch.device, recorder: Recorder
    ) -> Tensor | None:
        """Rows `start` to `stop` of the config's mask, (Tq, Tk); None where one row hides nothing.

        The fused kernel is faster without a mask, and a single new token mostly sees everything.
        """
        n_first = SEEING_AHEAD[self.config.mask](self.config)
        if 0 < start < n_first:
            raise ValueError(
                f"the first {n_first} tokens see each other but the cache was given {start} of "
                f"them alone; empty it and give the first {n_first} tokens at once"
            )
        mask = MASKS[self.config.mask](self.config, stop, device, start)
        is_needless = stop - start == 1 and not recorder.active and bool(mask.all())
        return None if is_needless else mask

    def _check_length(self, n_cached: int, n_new: int) -> None:
        if n_new == 0:
            raise ValueError("the text has 0 tokens; give at least 1")
        if n_cached + n_new > self.config.max_seq_len:
            cached = f", {n_cached} of them in the cache," if n_cached else ""
            raise ValueError(
                f"the text has {n_cached + n_new} tokens{cached} but the model's context is "
                f"{self.config.max_seq_len}; shorten it to {self.config.max_seq_len} tokens"
            )


def initialise(model: DecoderTransformer, seed: int) -> None:
    """Draw fresh weights: normal with deviation 0.02, biases zero.

    Projections that write to the residual stream are smaller by √(2·n_layers), so the stream
    keeps its scale however many layers add to it (Radford et al. 2019, §2.3).
    """
    generator = torch.Generator().manual_seed(seed)
    residual_std = 0.02 / math.sqrt(2 * model.config.n_layers)
    for name, weight in model.named_parameters():
        if name.endswith(".bias"):
            nn.init.zeros_(weight)
        elif weight.ndim == 2:
            writes_residual = name.endswith(("out_proj.weight", "down.weight"))
            std = residual_std if writes_residual else 0.02
            nn.init.normal_(weight, std=std, generator=generator)


def lay_out_by_columns(model: DecoderTransformer) -> None:
    """Keep each weight matrix column by column in memory; shapes and values stay as they are.

    Decoding multiplies every matrix with one vector, which is bound by reading the matrix. As
    a sum of columns BLAS reads it up to 1.8 times as fast as by a scalar product for each row.
    """
    for weight in model.parameters():
        if weight.ndim == 2:
            weight.data = weight.data.t().contiguous().t()
