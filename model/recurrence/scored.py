"""How many rows a translator gets right, by their length."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch

from model.recurrence.task import END, LETTERS, LONGEST, TASKS, examples
from model.recurrence.translators import Translator, write

SEED = 2015  # of the rows to score with; training draws from other seeds
AT_ONCE = 256


@dataclass(frozen=True)
class Score:
    """Rows of one task and length: how many there were, came out exactly, and their letters."""

    task: str
    n_letters: int
    n_rows: int
    n_exact: int
    n_right: int  # letters at their place, of n_letters · n_rows


def rows_of(task: str, n_letters: int, n_rows: int) -> np.ndarray:
    """Letters to score with, (n_rows, n_letters); the same each time."""
    rng = np.random.default_rng((SEED, list(TASKS).index(task), n_letters))
    return rng.integers(0, len(LETTERS), (n_rows, n_letters))


def score(model: Translator, task: str, letters: np.ndarray) -> Score:
    """Write a target for each row, greedily, and count. letters: (B, n).

    A row is exact where all letters and the end are right; a letter is right at its own place.
    """
    n_exact, n_right = 0, 0
    for first in range(0, len(letters), AT_ONCE):
        sources, answers = examples(task, letters[first : first + AT_ONCE])
        written = write(model, sources, answers.shape[1])  # (B, at most n + 1)
        short = answers.shape[1] - written.shape[1]
        same = torch.nn.functional.pad(written, (0, short), value=END) == answers
        n_exact += int(same.all(dim=-1).sum())
        n_right += int(same[:, :-1].sum())
    return Score(task, letters.shape[1], len(letters), n_exact, n_right)


def scores(model: Translator, n_rows: int) -> Iterator[Score]:
    """Each task at each length."""
    for task in TASKS:
        for n_letters in range(1, LONGEST + 1):
            yield score(model, task, rows_of(task, n_letters, n_rows))
