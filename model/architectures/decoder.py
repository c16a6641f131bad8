"""A stack of blocks over one sentence, as in GPT: ids in, logits of every position out."""

from torch import Tensor, nn

from model.architectures.stack import CausalStack
from model.config import DecoderConfig
from model.embeddings import TokenEmbedding
from model.kv_cache import KVCache
from model.tap import NO_TAP, Tap

STACK = "decoder"  # the first part of every address


class DecoderTransformer(CausalStack):
    """Predicts the next token at every position from what the mask lets it attend to."""

    config: DecoderConfig

    def __init__(self, config: DecoderConfig) -> None:
        super().__init__(config, STACK, TokenEmbedding(config))
        self.unembed = nn.Linear(config.d_model, config.vocab_size, bias=False)
        self.tie_weights()

    @property
    def tied(self) -> dict[str, str]:
        """The unembedding, where it is the embedding itself (Press & Wolf 2017)."""
        return {"unembed.weight": "embed.weight"} if self.config.tied_embeddings else {}

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
        stream = self.stream(ids, mask=mask, tap=tap, cache=cache)  # (B, Tq, D)
        return tap("logits", self.unembed(stream))
