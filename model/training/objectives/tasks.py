"""Tasks that make their own data, in which heads form within seconds on one core.

A row is a prompt and its one right answer, as `cat>` and `tac`; what is learnt is the answer and,
where there is room, that the text ends there. Rows are new at every step; by a hash of its
prompt a row is either trained on or held out, in every run alike.
"""

import hashlib
import random
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from pathlib import Path
from string import ascii_letters, ascii_lowercase, digits
from typing import ClassVar

import torch
from torch import Tensor

from model.architectures.base import Model
from model.data.text import digest
from model.data.tokenizer import Tokenizer
from model.lines import quoted
from model.training.objectives.base import (
    IGNORED,
    Accuracy,
    Examples,
    Objective,
    Probe,
    accuracy,
    cross_entropy,
    probe_of,
    reading_itself,
    refuse_long_probe,
)
from model.training.plan import Plan
from model.training.randomness import drawn_number, generator_of

N_SCORED, N_WRITTEN = 300, 64  # rows that are scored, and rows that the model writes by itself
MARK = ">"  # between a word and what is made of it
SHORTEST = 3  # letters of a word

Row = tuple[str, str]  # a prompt, and its answer


@dataclass(frozen=True)
class Alphabet:
    """What a tokenizer of characters is made from, in the place of a corpus."""

    texts: list[str]
    held_out: dict[str, str] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """What changes with the alphabet."""
        return digest(self.texts)


class OwnRows(Objective):
    """What makes its own rows, new ones at each step: there is no end of them."""

    needs_corpus = False
    alphabet: ClassVar[str]
    n_tokens = 0

    @classmethod
    def read(cls, corpus: Sequence[Path], held_out: Sequence[Path]) -> Alphabet:
        """Nothing of files; ValueError when some are given."""
        if corpus or held_out:
            raise ValueError("this task makes its own rows; leave out --corpus and --held-out")
        return Alphabet([cls.alphabet])

    @abstractmethod
    def batch(self, step: int, size: int, seq_len: int) -> Examples:
        """The rows of one step."""

    def batches(self, steps_done: int) -> Iterator[Examples]:
        """Rows of the steps still to come."""
        step = 0
        for stage in self.plan.stages:
            for _ in range(stage.steps):
                if step >= steps_done:
                    yield self.batch(step, self.plan.batch_size(stage), stage.seq_len)
                step += 1

    def loss(self, model: Model, batch: Examples) -> Tensor:
        """Cross-entropy of the answers, smoothed as the plan says."""
        return cross_entropy(model, batch, self.plan.label_smoothing)


class Task(OwnRows):
    """Write the answer to a prompt; each stage's `seq_len` holds the longest row."""

    held_out_share: ClassVar[float] = 0.1  # of all prompts
    least: ClassVar[int]  # the shortest `seq_len` that holds a row

    def __init__(self, tokenizer: Tokenizer, data: Alphabet, plan: Plan) -> None:
        """ValueError when a stage is too short for a row, or a character is not one token."""
        super().__init__(tokenizer, data, plan)
        self.tokenizer, self.seq_len = tokenizer, plan.stages[-1].seq_len
        shortest = min(stage.seq_len for stage in plan.stages)
        if shortest < self.least:
            raise ValueError(
                f"recipe: a stage has seq_len {shortest}; a row of this task needs {self.least}"
            )
        ids = [tokenizer.encode(character) for character in self.alphabet]
        if len({tuple(own) for own in ids}) < len(ids) or any(len(own) != 1 for own in ids):
            raise ValueError(
                f"the tokenizer must have a token for each of {self.alphabet!r}; set tokenizer = "
                '"characters" and no tokenizer_of'
            )
        self.id_of = {x: own[0] for x, own in zip(self.alphabet, ids, strict=True)}

    @abstractmethod
    def draw(self, seq_len: int, rng: random.Random) -> Row:
        """A row of at most `seq_len` + 1 characters."""

    def is_held_out(self, prompt: str) -> bool:
        """Whether a row with this prompt is never trained on."""
        hashed = int.from_bytes(hashlib.blake2b(prompt.encode(), digest_size=4).digest())
        return hashed < self.held_out_share * 2**32

    def rows(self, n: int, seq_len: int, seed: int, *, held_out: bool) -> list[Row]:
        """Rows that are trained on, or held out, drawn from a seed."""
        rng, found = random.Random(seed), list[Row]()  # noqa: S311, no secret
        while len(found) < n:
            row = self.draw(seq_len, rng)
            if self.is_held_out(row[0]) == held_out:
                found.append(row)
        return found

    def examples(self, rows: Sequence[Row], seq_len: int) -> Examples:
        """Rows as ids (B, T), the end after them, and the next tokens of answers as targets."""
        ids = torch.full((len(rows), seq_len + 1), self.tokenizer.end_id)
        is_answer = torch.zeros(ids.shape, dtype=torch.bool)
        for number, (prompt, answer) in enumerate(rows):
            own = [self.id_of[x] for x in prompt + answer]
            ids[number, : len(own)] = torch.tensor(own)
            is_answer[number, len(prompt) : len(own) + 1] = True
        return Examples({"ids": ids[:, :-1]}, ids.where(is_answer, IGNORED)[:, 1:])

    def batch(self, step: int, size: int, seq_len: int) -> Examples:
        """The rows of one step."""
        seed = drawn_number(self.plan.seed, step)
        return self.examples(self.rows(size, seq_len, seed, held_out=False), seq_len)

    @cached_property
    def held_out(self) -> list[Row]:
        """The rows that are scored, the same in every run."""
        return self.rows(N_SCORED, self.seq_len, 0, held_out=True)

    @cached_property
    def learnt(self) -> list[Row]:
        """As many that may be trained on."""
        return self.rows(N_SCORED, self.seq_len, 0, held_out=False)

    def evaluate(self, model: Model) -> dict[str, Accuracy]:
        """How much of the answers to held-out prompts is right, the right beginning before it."""
        return {"held out": accuracy(model, [self.examples(self.held_out, self.seq_len)])}

    def trained_on(self, model: Model) -> Accuracy:
        """The same on rows of the part that is trained on."""
        return accuracy(model, [self.examples(self.learnt, self.seq_len)])

    def alone(self, model: Model) -> Accuracy:
        """The same on held-out rows, where the model reads what it has written."""
        rows = self.examples(self.held_out[:N_WRITTEN], self.seq_len)
        return accuracy(model, [reading_itself(model, rows)])

    def probes(self, texts: Sequence[str], longest: int) -> list[Probe]:
        """The given rows, or the first held-out one."""
        for text in texts:
            refuse_long_probe(text, len(text), longest)
            if unknown := set(text) - set(self.id_of):
                raise ValueError(
                    f"recipe: {quoted(text)!r} of probes has {quoted(min(unknown))!r}; this task "
                    f"has {self.alphabet!r}"
                )
        rows = texts or ["".join(self.held_out[0])[: min(self.seq_len, longest)]]
        ids = ([self.id_of[x] for x in row] for row in rows)
        return [probe_of(self.tokenizer, row, is_causal=True) for row in ids]

    def sample(self, model: Model) -> str:
        """The first held-out prompt, and what the model answers, up to the end that it writes."""
        row = reading_itself(model, self.examples(self.held_out[:1], self.seq_len))
        with torch.inference_mode():
            said = model(**row.inputs).argmax(dim=-1)[row.targets != IGNORED].tolist()
        said = said[: said.index(self.tokenizer.end_id)] if self.tokenizer.end_id in said else said
        prompt = self.held_out[0][0]
        between = "" if prompt[-1] in (MARK, "=") else " → "
        return f"{prompt}{between}{self.tokenizer.decode(said)}"


class Copy(Task):
    """A word of at least three letters, written again: cat>cat."""

    alphabet = ascii_lowercase + MARK
    least = 2 * SHORTEST + 1

    def draw(self, seq_len: int, rng: random.Random) -> Row:
        """A word, as long as fits at most."""
        n_letters = rng.randint(SHORTEST, (seq_len - 1) // 2)
        word = "".join(rng.choices(self.alphabet[:-1], k=n_letters))
        return word + MARK, self.answer(word)

    @staticmethod
    def answer(word: str) -> str:
        """What is made of a word."""
        return word


class Reverse(Copy):
    """A word from its end: cat>tac."""

    @staticmethod
    def answer(word: str) -> str:
        """The word from its end."""
        return word[::-1]


class Sort(Copy):
    """Digits in order: 3018>0138."""

    alphabet = digits + MARK

    @staticmethod
    def answer(word: str) -> str:
        """The digits in order."""
        return "".join(sorted(word))


class Induction(Task):
    """Different letters in a random order, again and again: qkzq → kzqkzq."""

    alphabet = ascii_lowercase
    least = 2 * SHORTEST

    def draw(self, seq_len: int, rng: random.Random) -> Row:
        """A quarter as many letters as fit, to half as many; then the first one comes again."""
        most = min(seq_len // 2, len(self.alphabet))
        letters = "".join(rng.sample(self.alphabet, rng.randint(max(SHORTEST, most // 2), most)))
        again = letters * (seq_len // len(letters) + 1)
        return letters + letters[0], again[len(letters) + 1 : seq_len + 1]


class Brackets(Task):
    """Close all brackets that are open, the innermost first: ([]{ → })."""

    pairs: ClassVar[dict[str, str]] = {"(": ")", "[": "]", "{": "}"}
    alphabet = "()[]{}"
    least = 4

    def draw(self, seq_len: int, rng: random.Random) -> Row:
        """Up to half as many brackets as fit, the last one opening, which makes rows unique."""
        n, prompt, closing = rng.randint(2, seq_len // 2), "", ""  # closing: of those open now
        while len(prompt) < n:
            if closing and len(prompt) < n - 1 and rng.random() < 1 / 2:
                prompt, closing = prompt + closing[0], closing[1:]
            else:
                bracket = rng.choice("([{")
                prompt, closing = prompt + bracket, self.pairs[bracket] + closing
        return prompt, closing


class ModularAddition(Task):
    """Addition modulo 59, each number a character: 7+z=G; what generalises comes late (grokking).

    Power et al. 2022. The pairs are few enough to be known by heart, so that `trained_on` and
    `evaluate` come apart: every pair is scored, in the one or the other.
    """

    cycle = (digits + ascii_letters)[:59]
    alphabet = cycle + "+="
    held_out_share = 0.6
    least = 4

    def __init__(self, tokenizer: Tokenizer, data: Alphabet, plan: Plan) -> None:
        super().__init__(tokenizer, data, plan)
        self.n_tokens = self.least * len(self.learnt)

    def draw(self, seq_len: int, rng: random.Random) -> Row:
        """Two numbers."""
        return self.sum_of(*(rng.randrange(len(self.cycle)) for _ in range(2)))

    def sum_of(self, a: int, b: int) -> Row:
        """Their sum, as a row."""
        numbers = self.cycle
        return f"{numbers[a]}+{numbers[b]}=", numbers[(a + b) % len(numbers)]

    def batch(self, step: int, size: int, seq_len: int) -> Examples:
        """All pairs that are trained on where they fit, else some of them."""
        n, rows = len(self.learnt), self._all_learnt
        order = torch.randperm(n, generator=generator_of(self.plan.seed, step))[:size]
        return Examples({"ids": rows.inputs["ids"][order]}, rows.targets[order])

    @cached_property
    def held_out(self) -> list[Row]:
        """Every pair that is not trained on."""
        return [row for row in self._all() if self.is_held_out(row[0])]

    @cached_property
    def learnt(self) -> list[Row]:
        """Every pair that is."""
        return [row for row in self._all() if not self.is_held_out(row[0])]

    @cached_property
    def _all_learnt(self) -> Examples:
        return self.examples(self.learnt, self.least)

    def _all(self) -> list[Row]:
        n = range(len(self.cycle))
        rows = [self.sum_of(a, b) for a, b in product(n, n)]
        random.Random(0).shuffle(rows)  # noqa: S311, no secret
        return rows
