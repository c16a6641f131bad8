"""Sentences and their translations, as batches of about one length."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from model.data.text import HELD_OUT_SHARE, digest, read_text
from model.data.tokenizer import PADDING, START_OF_TEXT, Tokenizer
from model.files import names_of


@dataclass(frozen=True)
class Pairs:
    """Sources and targets, line by line, and the pairs to evaluate on by their name in the log."""

    sources: list[str]
    targets: list[str]
    held_out: dict[str, "Pairs"] = field(default_factory=dict)

    @property
    def texts(self) -> list[str]:
        """All sentences of both sides, each after a space as a tokenizer reads a first word."""
        return [f" {line}" for line in (*self.sources, *self.targets)]

    @property
    def digest(self) -> str:
        """What changes with any character of the pairs to train on."""
        return digest([*self.sources, *self.targets])


def read_pairs(corpus: Sequence[Path], held_out: Sequence[Path] = ()) -> Pairs:
    """Pairs of text files, source then target; without held-out ones the last hundredth is that.

    Raises ValueError when a file is missing or empty, has no partner or another number of lines,
    or a line of it is empty.
    """
    both = _joined([read_pair(*two) for two in _two_by_two(corpus)])
    if held_out:
        pairs = _two_by_two(held_out)
        names = names_of([source for source, _ in pairs], by_stem=True)
        named = {name: read_pair(*two) for name, two in zip(names, pairs, strict=True)}
        return Pairs(both.sources, both.targets, named)
    cut = int(len(both.sources) * (1 - HELD_OUT_SHARE))
    last = {"corpus": Pairs(both.sources[cut:], both.targets[cut:])}
    return Pairs(both.sources[:cut], both.targets[:cut], last)


def _two_by_two(paths: Sequence[Path]) -> list[tuple[Path, Path]]:
    if len(paths) % 2:
        raise ValueError(
            f"{len(paths)} files for pairs of sentences; give each source with its target: "
            "train.en train.de"
        )
    return list(zip(paths[::2], paths[1::2], strict=True))


def read_pair(source: Path, target: Path) -> Pairs:
    """Two text files whose lines say the same; ValueError as `read_pairs`."""
    sources, targets = _lines(source), _lines(target)
    if len(sources) != len(targets):
        raise ValueError(
            f"{source} has {len(sources)} lines but {target} has {len(targets)}; line by line they "
            "must say the same"
        )
    return Pairs(sources, targets)


def _lines(path: Path) -> list[str]:
    lines = [line.strip() for line in read_text(path).rstrip("\n").split("\n")]
    if "" in lines:
        raise ValueError(f"{path} line {lines.index('') + 1} is empty; remove it on both sides")
    return lines


def _joined(parts: Sequence[Pairs]) -> Pairs:
    return Pairs([x for p in parts for x in p.sources], [x for p in parts for x in p.targets])


@dataclass(frozen=True, eq=False)
class EncodedPairs:
    """Pairs as ids: sources with an end, targets with a start and an end."""

    sources: list[list[int]]
    targets: list[list[int]]
    padding_id: int

    @classmethod
    def of(cls, pairs: Pairs, tokenizer: Tokenizer) -> "EncodedPairs":
        """The pairs as a tokenizer reads them."""
        start, end = tokenizer.id_of(START_OF_TEXT), tokenizer.end_id
        return cls(
            [[*tokenizer.encode(line), end] for line in pairs.sources],
            [[start, *tokenizer.encode(line), end] for line in pairs.targets],
            tokenizer.id_of(PADDING),
        )

    @cached_property
    def lengths(self) -> np.ndarray:
        """Tokens to predict of each target, and tokens of each source, (N, 2)."""
        pairs = zip(self.sources, self.targets, strict=True)
        return np.array([(len(target) - 1, len(source)) for source, target in pairs])

    @property
    def longest(self) -> int:
        """Tokens of the longest side of any pair, as a model reads it."""
        return int(self.lengths.max())

    def padded_sources(self, rows: Sequence[int]) -> tuple[Tensor, Tensor]:
        """Sources of some pairs, (B, Ts), and their lengths, (B,)."""
        return self._padded([self.sources[row] for row in rows])

    def padded_targets(self, rows: Sequence[int]) -> tuple[Tensor, Tensor]:
        """Targets of some pairs with start and end, (B, Tt + 1), and their lengths, (B,)."""
        return self._padded([self.targets[row] for row in rows])

    def _padded(self, texts: list[list[int]]) -> tuple[Tensor, Tensor]:
        lengths = torch.tensor([len(text) for text in texts])
        ids = torch.full((len(texts), int(lengths.max())), self.padding_id)
        for row, text in zip(ids, texts, strict=True):
            row[: len(text)] = torch.tensor(text)
        return ids, lengths


@dataclass(frozen=True, eq=False)
class LengthBuckets:
    """Batches of pairs of about one length, each pair once per epoch.

    A batch has as many pairs as fit into `batch_tokens` tokens of the target, padding included.
    Pairs of equal length are mixed, and the batches come, in another order each epoch, both from
    the seed; where the batches are cut depends on lengths alone, so every epoch has as many, and
    the batch of a step can be had without those before it. Raises ValueError when a pair is longer
    than `seq_len`.
    """

    pairs: EncodedPairs
    seq_len: int
    batch_tokens: int
    seed: int

    def __post_init__(self) -> None:
        longest = self.pairs.longest
        if longest > self.seq_len:
            number = int(self.pairs.lengths.max(axis=1).argmax())
            raise ValueError(
                f"pair {number + 1} has {longest} tokens; the stage has seq_len {self.seq_len}: "
                f"raise it to {longest}, or leave the pair out"
            )

    @cached_property
    def cuts(self) -> list[tuple[int, int]]:
        """First and last place, in the order of length, of the pairs of each batch."""
        by_length = self.pairs.lengths[
            _order(self.pairs.lengths, np.arange(len(self.pairs.lengths)))
        ]
        cuts, first = [], 0
        for place, (n_tokens, _) in enumerate(by_length):
            if n_tokens * (place + 1 - first) > self.batch_tokens and place > first:
                cuts.append((first, place))
                first = place
        return [*cuts, (first, len(by_length))]

    @property
    def batches_per_epoch(self) -> int:
        """Batches in which every pair comes once."""
        return len(self.cuts)

    def rows(self, step: int) -> list[int]:
        """Which pairs are the batch of a step."""
        epoch, number = divmod(step, self.batches_per_epoch)
        order, batches = _epoch(self, epoch)
        first, stop = self.cuts[batches[number]]
        return order[first:stop].tolist()

    def tokens_until(self, step: int) -> int:
        """Tokens of the targets in the first `step` batches, without padding."""
        epochs, rest = divmod(step, self.batches_per_epoch)
        whole = epochs * int(self.pairs.lengths[:, 0].sum())
        first = epochs * self.batches_per_epoch
        rows = [row for number in range(rest) for row in self.rows(first + number)]
        return whole + int(self.pairs.lengths[rows, 0].sum()) if rows else whole


@lru_cache(maxsize=4)
def _epoch(buckets: LengthBuckets, epoch: int) -> tuple[np.ndarray, np.ndarray]:
    """The pairs by length, equal ones mixed, and the order of the batches."""
    generator = np.random.default_rng([buckets.seed, epoch, buckets.seq_len])
    mixed = generator.permutation(len(buckets.pairs.lengths))
    return _order(buckets.pairs.lengths, mixed), generator.permutation(len(buckets.cuts))


def _order(lengths: np.ndarray, mixed: np.ndarray) -> np.ndarray:
    """Pairs by the length of their target, then of their source, else as they were mixed."""
    return mixed[np.lexsort((lengths[mixed, 1], lengths[mixed, 0]))]
