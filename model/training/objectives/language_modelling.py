"""Predict the next token at every position."""

from collections.abc import Iterator

import torch.nn.functional as F
from torch import Tensor

from model.architectures.base import Transformer
from model.training.evaluation import Evaluation, evaluate
from model.training.objectives.windows import WindowedText


class LanguageModelling(WindowedText):
    """Predict the next token at every position; the loss is in nats per token."""

    def batches(self, steps_done: int) -> Iterator[Tensor]:
        """Windows (B, T + 1): inputs are [:, :-1], targets [:, 1:]."""
        return self.windows(steps_done)

    def loss(self, model: Transformer, batch: Tensor) -> Tensor:
        """Cross-entropy of the next tokens, the mean over all positions."""
        logits = model(batch[:, :-1])  # (B, T, V)
        return F.cross_entropy(logits.flatten(0, 1).float(), batch[:, 1:].flatten())

    def evaluate(self, model: Transformer) -> dict[str, Evaluation]:
        """How well the model predicts each held-out text."""
        return {name: evaluate(model, self.tokenizer, text) for name, text in self.held_out.items()}
