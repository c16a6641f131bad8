"""The Transformer of the paper: an encoder, and a decoder that attends to what it gives."""

from collections.abc import Callable, Sequence

from torch import Tensor, nn

from model.architectures.base import Transformer
from model.architectures.stack import CausalStack, Stack
from model.blocks import CrossBlock, Memory
from model.config import EncoderDecoderConfig
from model.embeddings import TokenEmbedding
from model.kv_cache import KVCache
from model.parts import StackParts
from model.tap import NO_TAP, Tap
from model.trace import Site

ENCODER, DECODER = "encoder", "decoder"  # the first parts of the addresses


class EncoderDecoderTransformer(Transformer):
    """Predicts the next token of a target from those before it and a source.

    Source and target share one embedding (Vaswani et al. 2017, §3.4 and fig. 1).
    """

    config: EncoderDecoderConfig

    def __init__(self, config: EncoderDecoderConfig) -> None:
        super().__init__(config)
        embed = TokenEmbedding(config)
        self.encoder = Stack(config, ENCODER, embed, n_layers=config.n_encoder_layers)
        self.decoder = CausalStack(config, DECODER, embed, block=CrossBlock)
        self.unembed = nn.Linear(config.d_model, config.vocab_size, bias=False)
        self.tie_weights()

    @property
    def tied(self) -> dict[str, str]:
        """The embedding of the target is that of the source; the unembedding may be it too."""
        shared = "encoder.embed.weight"
        unembed = {"unembed.weight": shared} if self.config.tied_embeddings else {}
        return {"decoder.embed.weight": shared, **unembed}

    @property
    def sites(self) -> tuple[Site, ...]:
        """See `Transformer`."""
        return *self.encoder.sites, *self.decoder.sites

    @property
    def embedding(self) -> nn.Module:
        """See `Transformer`."""
        return self.encoder.embed

    @property
    def stacks(self) -> tuple[StackParts, ...]:
        """See `Transformer`."""
        (encoder,), (decoder,) = self.encoder.stacks, self.decoder.stacks
        return encoder, decoder._replace(after=(*decoder.after, *self.last_steps))

    @property
    def ending(self) -> tuple[nn.Module, nn.Linear]:
        """See `Transformer`."""
        return self.decoder.final_norm, self.unembed

    def forward(
        self,
        source_ids: Tensor,
        target_ids: Tensor,
        *,
        source_mask: Tensor | None = None,
        tap: Tap = NO_TAP,
    ) -> Tensor:
        """Logits of the token after each position of the target.

        source_ids: (B, Ts), target_ids: (B, Tt), source_mask: bool, broadcastable to
        (B, H, Tq, Ts), as for padding. Padding on the right of a target needs none: nothing
        attends to it. Returns (B, Tt, V).
        Raises ValueError when Ts or Tt is 0 or above `max_seq_len`.
        """
        memory = self.encode(source_ids, mask=source_mask, tap=tap)
        return self.decode(target_ids, memory, tap=tap)

    def outputs(
        self, rows: Sequence[Tensor], *, tap: Tap = NO_TAP, one_source: bool = False
    ) -> Tensor:
        """See `Transformer`."""
        if len(rows) != 2:
            raise ValueError(
                "the input is one text; an encoder-decoder takes a source and a target"
            )
        source, target = rows
        if not one_source:
            return self(source, target, tap=tap)
        states = self.encode(source[:1]).states
        return self.decode(target, Memory(states.expand(len(target), -1, -1)), tap=tap)

    def predict(
        self, rows: Sequence[Tensor], position: int | slice, *, tap: Tap = NO_TAP, first: int = 0
    ) -> Tensor:
        """See `Transformer`; of a source and a target."""
        source, target = rows
        stream = self.decoder.stream(target, memory=self.encode(source, tap=tap), tap=tap)
        return self.unembed(stream[:, position])

    def encode(
        self, source_ids: Tensor, *, mask: Tensor | None = None, tap: Tap = NO_TAP
    ) -> Memory:
        """What the decoder attends to: the encoder's output (B, Ts, D), under the same mask."""
        self.encoder.check_length(source_ids.shape[1])
        stream = self.encoder.stream(source_ids, mask=mask, tap=tap)  # (B, Ts, D)
        return Memory(tap.scope(ENCODER)("memory", stream), mask)

    def decode(
        self,
        target_ids: Tensor,
        memory: Memory,
        *,
        tap: Tap = NO_TAP,
        cache: KVCache | None = None,
    ) -> Tensor:
        """Logits of the token after each position of the target, (B, Tq, V).

        target_ids: (B, Tq), with a cache the tokens after those in it. The cache also keeps the
        keys and values of the memory, so it serves one memory only.
        """
        stream = self.decoder.stream(target_ids, memory=memory, tap=tap, cache=cache)  # (B, Tq, D)
        return tap("logits", self.unembed(stream))

    def begin(self, source_ids: Tensor) -> Callable[[Tensor], Tensor]:
        """Read sources, (B, Ts); what comes back writes their targets, one token per call.

        It takes the tokens that were written last, (B,), and gives logits of the next, (B, V).
        """
        memory = self.encode(source_ids)
        cache = KVCache(
            self.config, batch_size=len(source_ids), device=self.device, dtype=self.dtype
        )
        return lambda last: self.decode(last[:, None], memory, cache=cache)[:, -1]
