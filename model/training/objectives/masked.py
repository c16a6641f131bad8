"""Fill in tokens that were hidden: the masked language model of BERT (Devlin et al. 2019, §3.1)."""

from collections.abc import Iterator
from typing import cast

import torch
import torch.nn.functional as F
from torch import Tensor

from model.architectures.base import Model
from model.architectures.encoder import EncoderTransformer
from model.data.tokenizer import MASK, Tokenizer
from model.training.objectives.base import IGNORED, Accuracy, Examples, accuracy
from model.training.objectives.windows import WindowedText
from model.training.randomness import generator_of

CHOSEN = 0.15  # of all tokens are to be predicted;
HIDDEN, SWAPPED = 0.8, 0.1  # of these become [MASK], or any token; the others stay as they are


def hide(
    ids: Tensor, tokenizer: Tokenizer, generator: torch.Generator, hidden: float = HIDDEN
) -> Examples:
    """Choose 15 % of the tokens to be predicted, and hide most of them.

    ids: (B, T). Of the chosen ones the share `hidden` becomes [MASK], SWAPPED another token at
    random, and the rest stays. The end of a text is never chosen, so each target is a token. Where
    chance chooses none it draws again. ValueError where no token is there to be chosen.
    """
    can_be_chosen = ids != tokenizer.end_id
    if not can_be_chosen.any():
        raise ValueError(
            f"a batch of {ids.numel()} tokens has no token but the end of a text, so nothing can "
            "be hidden; give more text"
        )
    chosen = torch.zeros_like(can_be_chosen)
    while not chosen.any():
        chosen = (_drawn(ids, generator) < CHOSEN) & can_be_chosen
    fate = _drawn(ids, generator)
    ordinary = torch.tensor([i for i in range(tokenizer.vocab_size) if not tokenizer.is_added(i)])
    others = ordinary[torch.randint(len(ordinary), ids.shape, generator=generator)]
    given = torch.where(chosen & (fate >= 1 - SWAPPED), others, ids)
    given = torch.where(chosen & (fate < hidden), tokenizer.id_of(MASK), given)
    return Examples({"ids": given}, torch.where(chosen, ids, IGNORED))


def hidden_windows(tokenizer: Tokenizer, text: str, seq_len: int) -> Iterator[Examples]:
    """A text in windows, 15 % of its tokens hidden behind [MASK], each time the same ones.

    The tokens after the last whole window are left out.
    """
    ids = torch.tensor([tokenizer.end_id, *tokenizer.encode_documents(text)])
    length = min(seq_len, len(ids))
    windows = ids[: len(ids) // length * length].view(-1, length)
    generator = torch.Generator().manual_seed(0)
    for rows in windows.split(32):
        yield hide(rows, tokenizer, generator, hidden=1.0)


class MaskedTokens(WindowedText):
    """Predict the chosen tokens of each window from all others; the loss is in nats per token."""

    architectures = ("encoder",)
    specials = (MASK,)

    def batches(self, steps_done: int) -> Iterator[Examples]:
        """Windows (B, T) with other tokens hidden each time they come (Liu et al. 2019, §4.1)."""
        for step, windows in enumerate(self.windows(steps_done), start=steps_done):
            yield hide(windows[:, :-1], self.tokenizer, generator_of(self.plan.seed, step))

    def loss(self, model: Model, batch: Examples) -> Tensor:
        """Cross-entropy of the chosen tokens; logits of the others are not even computed."""
        encoder = cast("EncoderTransformer", model)
        chosen = batch.targets != IGNORED
        stream = encoder.stream(batch.inputs["ids"])[chosen]  # (N, D)
        return F.cross_entropy(
            encoder.unembed(stream).float(),
            batch.targets[chosen],
            label_smoothing=self.plan.label_smoothing,
        )

    def evaluate(self, model: Model) -> dict[str, Accuracy]:
        """How many tokens behind [MASK] the model finds in each held-out text."""
        window = model.config.max_seq_len
        return {
            name: accuracy(model, hidden_windows(self.tokenizer, text, window))
            for name, text in self.held_out.items()
        }


def _drawn(ids: Tensor, generator: torch.Generator) -> Tensor:
    return torch.rand(ids.shape, generator=generator)
