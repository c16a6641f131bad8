"""A stack of blocks in which all tokens see each other, as in BERT: what stands in each place?"""

from torch import Tensor, nn

from model.architectures.stack import Stack
from model.config import EncoderConfig
from model.embeddings import TokenEmbedding
from model.tap import NO_TAP, Tap

STACK = "encoder"  # the first part of every address


class EncoderTransformer(Stack):
    """Predicts the token at every position from all the others (Devlin et al. 2019, §3.1)."""

    config: EncoderConfig

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__(config, STACK, TokenEmbedding(config))
        self.unembed = nn.Linear(config.d_model, config.vocab_size, bias=False)
        self.tie_weights()

    @property
    def tied(self) -> dict[str, str]:
        """The unembedding, where it is the embedding itself (Press & Wolf 2017)."""
        return {"unembed.weight": "embed.weight"} if self.config.tied_embeddings else {}

    def forward(self, ids: Tensor, *, mask: Tensor | None = None, tap: Tap = NO_TAP) -> Tensor:
        """Logits of every position in `ids`.

        ids: (B, T), mask: bool, broadcastable to (B, H, T, T), as for padding; without one every
        token attends to every token. Returns (B, T, V).
        Raises ValueError when T is 0 or above `max_seq_len`.
        """
        self.check_length(ids.shape[1])
        stream = self.stream(ids, mask=mask, tap=tap)  # (B, T, D)
        return tap("logits", self.unembed(stream))
