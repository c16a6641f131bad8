"""The whole model, assembled from blocks: ids in, logits of every position out."""

import math

import torch
from torch import Tensor, nn

from model.blocks import NORM_PLACEMENTS, Block
from model.capture import NO_RECORDER, Recorder
from model.config import ModelConfig
from model.masks import MASKS
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
        self, ids: Tensor, *, mask: Tensor | None = None, recorder: Recorder = NO_RECORDER
    ) -> Tensor:
        """Logits of every position.

        ids: (B, T). mask: bool, broadcastable to (B, H, T, T), taken instead of the config's own;
        combine it with that by `&`, as for padding. Returns (B, T, V).
        Raises ValueError when T is 0 or above `max_seq_len`.
        """
        seq_len = ids.shape[1]
        self._check_length(seq_len)
        if mask is None:
            mask = MASKS[self.config.mask](self.config, seq_len, ids.device)  # (T, T)
        resid = self.embed_tokens(ids, recorder)  # (B, T, D)
        for layer, block in enumerate(self.blocks):
            scope = recorder.scope(f"blocks.{layer}")
            resid = block(resid, self.position, mask=mask, recorder=scope)
        return self.unembed(self.final_norm(resid))

    def embed_tokens(self, ids: Tensor, recorder: Recorder = NO_RECORDER) -> Tensor:
        """What enters the first block: embeddings, with positions where they are added. (B, T, D).

        ids: (B, T).
        """
        embed = self.embed(ids) * self.embed_scale  # (B, T, D)
        positions = self.position.added(torch.arange(ids.shape[1], device=ids.device))
        recorder(embed=embed, positions=positions)
        return embed if positions is None else embed + positions

    def _check_length(self, seq_len: int) -> None:
        if seq_len == 0:
            raise ValueError("the text has 0 tokens; give at least 1")
        if seq_len > self.config.max_seq_len:
            raise ValueError(
                f"the text has {seq_len} tokens but the model's context is "
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
