"""Texts cut into windows of equal length: what all objectives on running text learn from."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from torch import Tensor

from model.data.text import Corpus, TokenWindows, encode_texts, read_corpus
from model.data.tokenizer import Tokenizer
from model.training.objectives.base import Objective
from model.training.plan import Plan


class WindowedText(Objective):
    """An objective on windows of text; each stage has its length."""

    def __init__(self, tokenizer: Tokenizer, data: Corpus, plan: Plan) -> None:
        """ValueError when the corpus is too short for a stage."""
        super().__init__(tokenizer, data, plan)
        self.tokenizer, self.held_out = tokenizer, data.held_out
        ids = encode_texts(tokenizer, data.texts)
        self.n_tokens = len(ids)
        self.stages = [
            (stage, TokenWindows(ids, stage.seq_len, plan.batch_size(stage), plan.seed))
            for stage in plan.stages
        ]

    @classmethod
    def read(cls, corpus: Sequence[Path], held_out: Sequence[Path]) -> Corpus:
        """Text files."""
        return read_corpus(corpus, held_out)

    def windows(self, steps_done: int) -> Iterator[Tensor]:
        """Windows with the token after each, (B, T + 1), of the steps still to come."""
        first = 0
        for stage, windows in self.stages:
            for step in range(max(steps_done - first, 0), stage.steps):
                yield windows.batch(step)
            first += stage.steps
