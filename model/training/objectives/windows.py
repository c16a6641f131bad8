"""Texts cut into windows of equal length: what all objectives on running text learn from."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from torch import Tensor

from model.data.text import Corpus, TokenWindows, encode_texts, read_corpus
from model.data.tokenizer import Tokenizer
from model.training.objectives.base import (
    Objective,
    Probe,
    probe_of,
    refuse_long_probe,
)
from model.training.plan import Plan

N_PROBED, LONG_TOKEN = 24, 8  # tokens that are watched, and characters of one at most, as a rule


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

    def probes(self, texts: Sequence[str], longest: int) -> list[Probe]:
        """The given texts, or the first tokens of what was held out."""
        rows = [self.tokenizer.encode(text) for text in texts]
        for text, row in zip(texts, rows, strict=True):
            refuse_long_probe(text, len(row), longest)
        if not texts:
            text = next(iter(self.held_out.values()), "")[: N_PROBED * LONG_TOKEN]
            rows = [self.tokenizer.encode(text)[: min(longest, N_PROBED)]]
        is_causal = self.architectures == ("decoder",)
        return [probe_of(self.tokenizer, row, is_causal=is_causal) for row in rows if row]

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
