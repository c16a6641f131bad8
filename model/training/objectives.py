"""What a model is trained for: its batches, the loss of one, its scores on other data.

A new objective is a class with these three methods, and its entry in `OBJECTIVES`.
"""

from collections.abc import Callable, Iterator
from typing import Protocol

import torch.nn.functional as F
from torch import Tensor

from model.architectures.base import Transformer
from model.data.text import Corpus, TokenWindows, encode_texts
from model.data.tokenizer import Tokenizer
from model.training.evaluation import Evaluation, evaluate
from model.training.plan import Plan


class Objective(Protocol):
    """What a model learns from, and how well it does. Knows nothing of steps and optimizers."""

    def batches(self, steps_done: int) -> Iterator[Tensor]:
        """The batches still to come after so many steps.

        Each depends on its step and the seed alone, so that a resumed run sees what it would have.
        """
        ...

    def loss(self, model: Transformer, batch: Tensor) -> Tensor:
        """What the optimizer makes smaller: the mean over a batch, a scalar, differentiable."""
        ...

    def evaluate(self, model: Transformer) -> dict[str, Evaluation]:
        """Scores on each held-out text by its name; the model is in `eval` mode."""
        ...


class LanguageModelling:
    """Predict the next token at every position; the loss is in nats per token."""

    def __init__(self, tokenizer: Tokenizer, corpus: Corpus, plan: Plan) -> None:
        """ValueError when the corpus is too short for a stage."""
        self.tokenizer, self.held_out = tokenizer, corpus.held_out
        ids = encode_texts(tokenizer, corpus.texts)
        self.stages = [
            (stage, TokenWindows(ids, stage.seq_len, plan.batch_size(stage), plan.seed))
            for stage in plan.stages
        ]

    def batches(self, steps_done: int) -> Iterator[Tensor]:
        """Windows (B, T + 1): inputs are [:, :-1], targets [:, 1:]."""
        first = 0
        for stage, windows in self.stages:
            for step in range(max(steps_done - first, 0), stage.steps):
                yield windows.batch(step)
            first += stage.steps

    def loss(self, model: Transformer, batch: Tensor) -> Tensor:
        """Cross-entropy of the next tokens, the mean over all positions."""
        logits = model(batch[:, :-1])  # (B, T, V)
        return F.cross_entropy(logits.flatten(0, 1).float(), batch[:, 1:].flatten())

    def evaluate(self, model: Transformer) -> dict[str, Evaluation]:
        """How well the model predicts each held-out text."""
        return {name: evaluate(model, self.tokenizer, text) for name, text in self.held_out.items()}


OBJECTIVES: dict[str, Callable[[Tokenizer, Corpus, Plan], Objective]] = {
    "language_modelling": LanguageModelling,
}
