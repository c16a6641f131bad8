"""One block: attention and feed-forward, each on a residual connection."""

from collections.abc import Callable
from typing import NamedTuple

from torch import Tensor, nn

from model.attention import MultiHeadAttention
from model.capture import NO_RECORDER, Recorder
from model.config import ModelConfig
from model.feedforward import FEEDFORWARDS
from model.kv_cache import LayerCache
from model.norms import NORMS
from model.positions import Position

Layer = Callable[[Tensor], Tensor]


class NormPlacement(NamedTuple):
    """Where a block normalises: what a sublayer reads, and how its output joins the stream."""

    read: Callable[[Tensor, Layer], Tensor]
    write: Callable[[Tensor, Tensor, Layer], Tensor]
    ends_with_norm: bool  # whether the stream still needs a norm behind the last block


NORM_PLACEMENTS: dict[str, NormPlacement] = {
    # x + sublayer(norm(x)) (Xiong et al. 2020, fig. 1b)
    "pre": NormPlacement(
        read=lambda x, norm: norm(x),
        write=lambda x, update, norm: x + update,
        ends_with_norm=True,
    ),
    # norm(x + sublayer(x)) (Vaswani et al. 2017, §3.1)
    "post": NormPlacement(
        read=lambda x, norm: x,
        write=lambda x, update, norm: norm(x + update),
        ends_with_norm=False,
    ),
}


class Block(nn.Module):
    """Attention moves information between tokens; the feed-forward works on each alone."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.placement = NORM_PLACEMENTS[config.norm_placement]
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
        cache: LayerCache | None = None,
    ) -> Tensor:
        """resid_pre: (B, Tq, D), mask: broadcastable to (B, H, Tq, Tk). Returns (B, Tq, D).

        Tk counts the tokens in the cache too; without one Tk = Tq.
        """

        read, write, _ = self.placement
        attn_out = self.attn(
            read(resid_pre, self.attn_norm),
            position,
            mask=mask,
            recorder=recorder.scope("attn"),
            cache=cache,
        )
        resid_mid = write(resid_pre, attn_out, self.attn_norm)
        ffn_out = self.ffn(read(resid_mid, self.ffn_norm))
        resid_post = write(resid_mid, ffn_out, self.ffn_norm)
        recorder(
            resid_pre=resid_pre,
            attn_out=attn_out,
            resid_mid=resid_mid,
            ffn_out=ffn_out,
            resid_post=resid_post,
        )
        return resid_post
