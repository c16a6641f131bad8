"""Write a row of letters backwards, or once more: a translation, of which each length is scored."""

from dataclasses import dataclass
from typing import cast

import numpy as np
import torch
import torch.nn.functional as F

from model.architectures.base import Model
from model.data.tokenizer import Tokenizer
from model.recurrence.reading import Translator, write
from model.recurrence.task import END, LETTERS, LONGEST, NAMES, TASKS, begun, examples
from model.training.objectives.base import Accuracy, Examples, accuracy
from model.training.objectives.tasks import Alphabet, OwnRows
from model.training.plan import Plan

N_SCORED = 500  # rows of each task and length
SEED = 2015  # of these; training draws from other seeds


@dataclass(frozen=True)
class RowScores(Accuracy):
    """How the rows of one task come out, `n_rows` of each length from 1 to LONGEST.

    `loss` and `accuracy` are of all tokens of rows as long as those in training, read after the
    right ones before them. Written greedily, `n_exact` of the rows come out with all letters and
    the end, and `n_right` letters are at their place; both by length.
    """

    n_rows: int
    n_exact: tuple[int, ...]
    n_right: tuple[int, ...]


class Letters(OwnRows):
    """Write the letters of a source in the order that its first token says.

    A batch has as many rows as hold `seq_len` tokens of a target each, all of one length, which is
    drawn each time, as many of each task.
    """

    architectures = ("encoder_decoder", "recurrent")
    alphabet = LETTERS

    def __init__(self, tokenizer: Tokenizer, data: Alphabet, plan: Plan) -> None:
        """ValueError for another vocabulary, and for a stage that holds no row of each task."""
        super().__init__(tokenizer, data, plan)
        own = tokenizer.vocab_size, tokenizer.end_id, *tokenizer.encode(LETTERS)
        if own != (len(NAMES), END, *range(len(LETTERS))):
            raise ValueError(
                f"the tokenizer must have the {len(NAMES)} tokens of this task alone; set "
                'tokenizer_of = "assets/recurrence/fixed"'
            )
        for stage in plan.stages:
            if stage.seq_len < 2 or plan.batch_size(stage) < len(TASKS):
                raise ValueError(
                    f"recipe: a stage has seq_len {stage.seq_len} and batch_tokens "
                    f"{plan.batch_tokens}; a row needs 2 or more, and a batch a row of each task"
                )
        self.longest = max(stage.seq_len for stage in plan.stages) - 1

    def batch(self, step: int, size: int, seq_len: int) -> Examples:
        """The rows of one step."""
        rng = np.random.default_rng((self.plan.seed, step))
        n = int(rng.integers(1, seq_len))
        rows = rng.integers(0, len(LETTERS), (len(TASKS), size // len(TASKS), n))
        parts = [examples(task, letters) for task, letters in zip(TASKS, rows, strict=True)]
        sources, answers = (torch.cat(part) for part in zip(*parts, strict=True))
        return Examples({"source_ids": sources, "target_ids": begun(answers)}, answers)

    def evaluate(self, model: Model) -> dict[str, RowScores]:
        """How well each task is done, by length."""
        return {task: scores(cast("Translator", model), task, self.longest) for task in TASKS}


def scores(model: Translator, task: str, longest: int) -> RowScores:
    """How the rows of a task come out; `longest` letters have those that the loss is of."""
    batches = [scored(task, n) for n in range(1, LONGEST + 1)]
    whole = accuracy(model, batches[:longest])
    counted = [count(model, batch.to(model.device)) for batch in batches]
    n_exact, n_right = zip(*counted, strict=True)
    return RowScores(whole.loss, whole.accuracy, whole.targets, N_SCORED, n_exact, n_right)


def count(model: Translator, batch: Examples) -> tuple[int, int]:
    """Rows of a batch that are written exactly, and letters at their place.

    A row is exact where all letters and the end are right; a letter is right at its own place.
    """
    answers = batch.targets  # (B, n + 1)
    written = write(model, batch.inputs["source_ids"], answers.shape[1])  # (B, at most n + 1)
    short = answers.shape[1] - written.shape[1]
    same = F.pad(written, (0, short), value=END) == answers
    return int(same.all(dim=-1).sum()), int(same[:, :-1].sum())


def rows_of(task: str, n_letters: int, n_rows: int) -> np.ndarray:
    """Letters to score with, (n_rows, n_letters); the same each time."""
    rng = np.random.default_rng((SEED, list(TASKS).index(task), n_letters))
    return rng.integers(0, len(LETTERS), (n_rows, n_letters))


def scored(task: str, n_letters: int) -> Examples:
    """The rows of a task and length that are scored."""
    sources, answers = examples(task, rows_of(task, n_letters, N_SCORED))
    return Examples({"source_ids": sources, "target_ids": begun(answers)}, answers)
