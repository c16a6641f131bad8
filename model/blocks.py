"""One block: attention and feed-forward, each on a residual connection."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from torch import Tensor, nn

from model.attention import MultiHeadAttention
from model.config import BlockConfig
from model.feedforward import FEEDFORWARDS
from model.kv_cache import LayerCache
from model.norms import NORMS
from model.parts import STREAMS, Heads, Sublayer
from model.positions import Position
from model.tap import NO_TAP, Tap
from model.trace import AttentionKind

Layer = Callable[[Tensor], Tensor]


class NormPlacement(NamedTuple):
    """Where a block normalises: what a sublayer reads, and how its output joins the stream."""

    read: Callable[[Tensor, Layer], Tensor]
    write: Callable[[Tensor, Tensor, Layer], Tensor]
    ends_with_norm: bool  # whether the stream still needs a norm after the last block


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


def matrix_of(module: nn.Module) -> Tensor:
    """What a module multiplies by, (in, out): a Conv1D of transformers keeps it so, others not."""
    weight = module.get_parameter("weight")
    return weight.T if isinstance(module, nn.Linear) else weight


class Memory(NamedTuple):
    """What cross-attention attends to: an encoder's output, and which of it is no padding.

    states: (B, Ts, D), mask: bool, broadcastable to (B, H, Tq, Ts).
    """

    states: Tensor
    mask: Tensor | None = None


class Block(nn.Module):
    """Attention moves information between tokens; the feed-forward works on each alone."""

    attends: tuple[AttentionKind, ...] = ("self",)  # what kinds of attention it has, in order

    def __init__(self, config: BlockConfig) -> None:
        super().__init__()
        self.placement = NORM_PLACEMENTS[config.norm_placement]
        self.attn_norm = NORMS[config.norm](config)
        self.attn = MultiHeadAttention(config)
        self.ffn_norm = NORMS[config.norm](config)
        self.ffn = FEEDFORWARDS[config.feedforward](config)
        self.dropout = dropout_of(config)

    def forward(
        self,
        resid_pre: Tensor,
        position: Position,
        *,
        mask: Tensor | None = None,
        memory: Memory | None = None,
        tap: Tap = NO_TAP,
        cache: LayerCache | None = None,
    ) -> Tensor:
        """resid_pre: (B, Tq, D), mask: broadcastable to (B, H, Tq, Tk). Returns (B, Tq, D).

        Tk counts the tokens in the cache too; without one Tk = Tq. `memory` is for blocks with
        cross-attention.
        """
        read, write, _ = self.placement
        attn_norm = partial(self.attn_norm, tap=tap.scope("attn_norm"))
        ffn_norm = partial(self.ffn_norm, tap=tap.scope("ffn_norm"))
        attn_tap, ffn_tap = tap.scope("attn"), tap.scope("ffn")

        resid_pre = tap("resid_pre", resid_pre)
        x = read(resid_pre, attn_norm)
        attn_out = self.attn(x, position, mask=mask, tap=attn_tap, cache=cache)
        attn_out = tap("attn_out", self.dropout(attn_out))
        resid_mid = tap("resid_mid", write(resid_pre, attn_out, attn_norm))
        resid_mid = self.consult(resid_mid, position, memory, tap, cache)
        ffn_out = self.ffn(read(resid_mid, ffn_norm), tap=ffn_tap)
        ffn_out = tap("ffn_out", self.dropout(ffn_out))
        return tap("resid_post", write(resid_mid, ffn_out, ffn_norm))

    def sublayers(self, layer: int) -> tuple[Sublayer, ...]:
        """What writes into the stream here, in order."""
        return (
            self._sublayer(layer, "attn_out", self.attn, self.attn_norm),
            self._sublayer(layer, "ffn_out", self.ffn, self.ffn_norm, len(self.attends)),
        )

    def _sublayer(
        self, layer: int, writes: str, module: nn.Module, norm: nn.Module, reads: int = 0
    ) -> Sublayer:
        is_pre, heads = self.placement.ends_with_norm, None
        if isinstance(module, MultiHeadAttention):
            width = module.q_proj.out_features // module.n_heads
            heads = Heads(module.n_heads, module.n_kv_heads, width)
        return Sublayer(
            layer,
            writes,
            module.get_submodule("out_proj" if heads else "down"),
            norm=None if is_pre else norm,
            read=norm if is_pre else None,
            reads=STREAMS[reads],
            weights=tuple(module.parameters()),
            heads=heads,
            up=None if heads else module.get_submodule("up"),
        )

    def consult(
        self,
        resid_mid: Tensor,
        position: Position,
        memory: Memory | None,
        tap: Tap,
        cache: LayerCache | None,
    ) -> Tensor:
        """What the feed-forward works on, (B, Tq, D): here the stream as it is."""
        return resid_mid


class CrossBlock(Block):
    """Between the two it attends to an encoder's output (Vaswani et al. 2017, §3.1, "decoder")."""

    attends = ("self", "cross")

    def __init__(self, config: BlockConfig) -> None:
        super().__init__(config)
        self.cross_norm = NORMS[config.norm](config)
        self.cross_attn = MultiHeadAttention(config)

    def sublayers(self, layer: int) -> tuple[Sublayer, ...]:
        """See `Block`; cross-attention stands between the two."""
        first, last = super().sublayers(layer)
        return first, self._sublayer(layer, "cross_out", self.cross_attn, self.cross_norm, 1), last

    def consult(
        self,
        resid_mid: Tensor,
        position: Position,
        memory: Memory | None,
        tap: Tap,
        cache: LayerCache | None,
    ) -> Tensor:
        """The stream with what cross-attention adds to it; without a memory it adds nothing."""
        if memory is None:
            return resid_mid
        read, write, _ = self.placement
        cross_norm = partial(self.cross_norm, tap=tap.scope("cross_norm"))
        cross_out = self.cross_attn(
            read(resid_mid, cross_norm),
            position,
            source=memory.states,
            mask=memory.mask,
            tap=tap.scope("cross_attn"),
            cache=None if cache is None else cache.cross,
        )
        cross_out = tap("cross_out", self.dropout(cross_out))
        return tap("resid_cross", write(resid_mid, cross_out, cross_norm))


def dropout_of(config: BlockConfig) -> nn.Module:
    """What drops values of a sublayer's output in training (Vaswani et al. 2017, §5.4).

    Without dropout it is the identity, so that no random numbers are drawn.
    """
    return nn.Dropout(config.dropout) if config.dropout else nn.Identity()
