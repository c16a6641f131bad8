"""One block: attention and feed-forward, each on a residual connection."""

from collections.abc import Callable
from typing import NamedTuple

from torch import Tensor, nn

from model.attention import MultiHeadAttention
from model.capture import NO_RECORDER, Recorder
from model.config import ModelConfig
from model.feedforward import FEEDFORWARDS
from model.norms import NORMS
from model.positions import Position

Layer = Callable[[Tensor], Tensor]


def pre_norm(x: Tensor, norm: Layer, sublayer: Layer) -> tuple[Tensor, Tensor]:
    """x + sublayer(norm(x)) (Xiong et al. 2020, fig. 1b). Returns the sum and what was added."""
    update = sublayer(norm(x))
    return x + update, update


def post_norm(x: Tensor, norm: Layer, sublayer: Layer) -> tuple[Tensor, Tensor]:
    """norm(x + sublayer(x)) (Vaswani et al. 2017, §3.1). Returns that and what was added."""
    update = sublayer(x)
    return norm(x + update), update


class NormPlacement(NamedTuple):
    """Where a block normalises, and whether the stream still needs a norm after the last block."""

    connect: Callable[[Tensor, Layer, Layer], tuple[Tensor, Tensor]]
    ends_with_norm: bool


NORM_PLACEMENTS: dict[str, NormPlacement] = {
    "pre": NormPlacement(pre_norm, ends_with_norm=True),
    "post": NormPlacement(post_norm, ends_with_norm=False),
}


class Block(nn.Module):
    """Attention moves information between tokens; the feed-forward works on each alone."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.connect = NORM_PLACEMENTS[config.norm_placement].connect
        self.attn_norm = NORMS[config.norm](config)
        self.attn = MultiHeadAttention(config)
        self.ffn_norm = NORMS[config.norm](config)
        self.ffn = FEEDFORWARDS[config.feedforward](config)

    def forward(
        self,
        resid_pre: Tensor,
        position: Position,
        *,
        mask: Tensor | None = None,
        recorder: Recorder = NO_RECORDER,
    ) -> Tensor:
        """resid_pre: (B, T, D), mask: broadcastable to (B, H, T, T). Returns (B, T, D)."""

        def attend(x: Tensor) -> Tensor:
            return self.attn(x, position, mask=mask, recorder=recorder.scope("attn"))

        resid_mid, attn_out = self.connect(resid_pre, self.attn_norm, attend)
        resid_post, ffn_out = self.connect(resid_mid, self.ffn_norm, self.ffn)
        recorder(
            resid_pre=resid_pre,
            attn_out=attn_out,
            resid_mid=resid_mid,
            ffn_out=ffn_out,
            resid_post=resid_post,
        )
        return resid_post
