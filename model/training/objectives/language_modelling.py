"""Predict the next token at every position."""

from collections.abc import Iterator
from functools import cached_property

import torch
from torch import Tensor

from model.architectures.base import Model
from model.architectures.decoder import DecoderTransformer
from model.decoding.filters import Sampling
from model.decoding.sampling import generate
from model.training.evaluation import Evaluation, evaluate
from model.training.objectives.base import (
    IGNORED,
    Accuracy,
    Examples,
    accuracy,
    cross_entropy,
    reading_itself,
)
from model.training.objectives.windows import WindowedText

N_SAMPLED = 12  # tokens
N_BEGINNINGS, BEGINNING, WRITTEN = 64, 16, 16  # held-out beginnings; tokens given, and written


class LanguageModelling(WindowedText):
    """Predict the next token at every position; the loss is in nats per token."""

    def batches(self, steps_done: int) -> Iterator[Tensor]:
        """Windows (B, T + 1): inputs are [:, :-1], targets [:, 1:]."""
        return self.windows(steps_done)

    def loss(self, model: Model, batch: Tensor) -> Tensor:
        """Cross-entropy of the next tokens, smoothed as the plan says, the mean over all places."""
        rows = Examples({"ids": batch[:, :-1]}, batch[:, 1:])
        return cross_entropy(model, rows, self.plan.label_smoothing)

    def sample(self, model: Model) -> str:
        """Twelve tokens that come to the model first."""
        assert isinstance(model, DecoderTransformer)
        end_id = self.tokenizer.end_id
        steps = generate(model, [end_id], Sampling(), max_new_tokens=N_SAMPLED, end_ids=(end_id,))
        return self.tokenizer.decode([step.token_id for step in steps])

    def evaluate(self, model: Model) -> dict[str, Evaluation]:
        """How well the model predicts each held-out text."""
        return {name: evaluate(model, self.tokenizer, text) for name, text in self.held_out.items()}

    def alone(self, model: Model) -> Accuracy | None:
        """Sixteen tokens after each of 64 held-out beginnings; None where there is too little."""
        if self.beginnings is None or model.config.max_seq_len < BEGINNING + WRITTEN - 1:
            return None
        return accuracy(model, [reading_itself(model, self.beginnings)])

    @cached_property
    def beginnings(self) -> Examples | None:
        """Windows of the first held-out text from its start to its end, the last half asked for."""
        length = BEGINNING + WRITTEN
        ids = torch.tensor(self.tokenizer.encode_documents(next(iter(self.held_out.values()), "")))
        if len(ids) < length + N_BEGINNINGS:
            return None
        starts = torch.linspace(0, len(ids) - length, N_BEGINNINGS).long()  # they may overlap
        windows = ids[starts[:, None] + torch.arange(length)]  # (B, T + 1)
        targets = windows[:, 1:].clone()
        targets[:, : BEGINNING - 1] = IGNORED
        return Examples({"ids": windows[:, :-1]}, targets)
