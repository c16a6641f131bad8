"""The toy translation: a row of letters backwards, or once more as it is.

A source is the task, the letters and an end; its target begins with a start and ends with the end.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

LETTERS = "abcdefghijklmnopqrstuvwxyz"
START, END, REVERSE, COPY = range(len(LETTERS), len(LETTERS) + 4)
VOCAB_SIZE = len(LETTERS) + 4
TASKS = {"reverse": REVERSE, "copy": COPY}
TRAINED, LONGEST = 16, 32  # letters of the longest row in training, and of the longest typed
SHORTEST_DRAWN = 4
NAMES = (*LETTERS, "start", "end", *TASKS)


def ids_of(text: str) -> tuple[int, ...]:
    """The letters of what a person typed, (n,); white space is left out.

    ValueError for none, too many, or anything but the letters a to z.
    """
    letters = "".join(text.split())
    if not letters:
        raise ValueError(f"There are no letters: type 1 to {LONGEST} of a to z")
    strange = next((letter for letter in letters if letter not in LETTERS), None)
    if strange is not None:
        raise ValueError(
            f"{strange!r} is not a symbol of these models: their {len(LETTERS)} are a to z, "
            "in small letters"
        )
    if len(letters) > LONGEST:
        raise ValueError(
            f"{len(letters)} letters are more than {LONGEST}, the most these models are given; "
            f"take off {len(letters) - LONGEST}"
        )
    return tuple(LETTERS.index(letter) for letter in letters)


def drawn(rng: np.random.Generator) -> str:
    """A random row of random length, as if it were typed."""
    letters = rng.integers(0, len(LETTERS), rng.integers(SHORTEST_DRAWN, LONGEST + 1))
    return shown(letters.tolist())


def source_of(task: str, letters: Sequence[int]) -> list[int]:
    """What a model is given: the task, the letters, the end; n + 2 ids."""
    return [TASKS[task], *letters, END]


def answer_of(task: str, letters: Sequence[int]) -> list[int]:
    """What a model is to write: the letters in their new order, and the end; n + 1 ids."""
    return [*(reversed(letters) if task == "reverse" else letters), END]


def shown(ids: Sequence[int]) -> str:
    """The letters of ids, all others left out."""
    return "".join(LETTERS[i] for i in ids if i < len(LETTERS))


def examples(task: str, letters: np.ndarray) -> tuple[Tensor, Tensor]:
    """Sources (B, n + 2) and answers (B, n + 1) of rows of letters (B, n)."""
    rows = letters.tolist()
    sources = torch.tensor([source_of(task, row) for row in rows])
    return sources, torch.tensor([answer_of(task, row) for row in rows])


def begun(answers: Tensor) -> Tensor:
    """What a target is before each of its tokens: the start, then all but the last. (B, n + 1)."""
    return torch.cat([torch.full_like(answers[:, :1], START), answers[:, :-1]], dim=1)
