"""Runs that differ in one value: what comes before that value is computed once for all of them."""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from model.analysis.interventions import Given, batch_of
from model.architectures.base import Transformer
from model.records import Recording, Row
from model.tap import NO_TAP, Attachment, Edit, Editor, Recorder, Tap, attach
from model.trace import Facts, Stream, Trace

Index = tuple[int | slice, ...]
Change = tuple[Index, Tensor | float]
Changes = Sequence[Change]
MOST_AT_ONCE = 512  # tokens of a batch: a piece of work that keeps nobody waiting
MOST_CELLS = 20_000_000  # of all patterns, which are kept with their gradients


class Branch:
    """Splits one run into a batch where a value goes through: row b has `changes[b]` made to it.

    A change is an index into the value without its batch axis, and what is put there; None leaves
    a row as it is. Until then the batch has one row. Attach it after what records the run as it
    was.
    """

    def __init__(self, address: str, changes: Sequence[Change | None]) -> None:
        self.address, self.changes = address, changes

    def wants(self, address: str) -> bool:
        """Whether this is the value that is changed."""
        return address == self.address

    def __call__(self, address: str, value: Tensor) -> Tensor:
        """value: (1, …). Returns (B, …)."""
        rows = value.expand(len(self.changes), *value.shape[1:]).clone()
        for row, change in zip(rows, self.changes, strict=True):
            if change is not None:
                row[change[0]] = change[1]
        return rows


@dataclass(frozen=True, eq=False)
class Branches:
    """Runs of one input that differ in one value each; see `logits_at`.

    A model of others has as many rows from the start. Where it lets blocks be left out, those
    before the change are: the stream of the run as it is goes on from there, from `known` values
    where there are any.
    """

    model: Transformer
    given: Given
    position: int | slice
    known: dict[str, Tensor] = field(default_factory=dict)

    @torch.inference_mode()
    def logits(self, addresses: Sequence[str], changes: Changes) -> Tensor:
        """What is predicted with each of these changes made alone, each of a value of one block."""
        before, first = self.before(addresses[0])
        pairs = list(zip(addresses, changes, strict=True))
        split = [
            Branch(address, [change if at == address else None for at, change in pairs])
            for address in dict.fromkeys(addresses)
        ]
        tap = attach(*before, *split)
        return logits_at(self.model, self.given, self.position, tap, len(changes), first)

    def before(self, address: str) -> tuple[list[Attachment], int]:
        """What stands in for the blocks before a value, and how many these are."""
        if not self.model.is_chain:
            return [], 0
        stack, _, number, *_ = address.split(".")
        name = f"{stack}.blocks.{number}.resid_pre"
        stream = self._streams[name]
        going_on = Edit(name, lambda value: stream[:, -value.shape[1] :].expand_as(value))
        return [Editor(going_on)], int(number)

    @cached_property
    def _streams(self) -> dict[str, Tensor]:
        if self.known:
            return self.known
        return values_of(self.model, self.given, ("resid_pre",))


@torch.inference_mode()
def values_of(model: Transformer, given: Given, names: Collection[str]) -> dict[str, Tensor]:
    """Values of one run by address, those whose last part is among `names`, each a batch of one."""
    recorder = Recorder(names)
    logits_at(model, given, 0, attach(recorder))
    return recorder.values


@torch.inference_mode()
def trace_of(model: Transformer, given: Given) -> Trace:
    """One run of a model of one stack of words, its tokens without names. given: ids (T,)."""
    recording, ids = Recording(()), np.array(given)
    logits_at(model, given, 0, recording.tap)
    row, stack = Row(recording.values(), 0), model.name
    text = Stream(stack, "text", ("",) * len(ids), ids=ids)
    return Trace(
        facts=Facts(architecture=model.config.architecture),
        streams=(row.stream(text, model.n_blocks(stack)),),
        attention=tuple(row.attention(site) for site in model.sites),
    )


def logits_at(
    model: Transformer,
    given: Given,
    position: int | slice,
    tap: Tap = NO_TAP,
    n_rows: int = 1,
    first: int = 0,
) -> Tensor:
    """What one input is predicted to be at a position, (B, V): B is 1 unless the tap makes it more.

    given: ids (T,), of a translation those of source and target, or pixels (S, S), of which the
    class token alone predicts. The unembedding runs at that position only; at several it gives
    (B, T, V). n_rows: the B that the tap makes; models of others must have as many rows from the
    start, and may leave out the blocks before the `first`.
    """
    rows = batch_of(model, given, 1 if model.splits else n_rows)
    return model.predict(rows, position, tap=tap, first=first)


def check_gradients(model: Transformer, longest: int) -> None:
    """ValueError for a text of which there is too much to keep for a backward pass."""
    n_heads = len(model.sites) * model.config.n_heads
    if n_heads * longest**2 > MOST_CELLS:
        raise ValueError(
            f"the sentence has {longest} tokens; gradients of {n_heads} heads are kept for up to "
            f"{math.isqrt(MOST_CELLS // n_heads)}: shorten it"
        )


def longest_of(given: Given) -> int:
    """Tokens of the longest part of an input; of a picture its pixels along a side."""
    return max(len(np.asarray(part)) for part in (given if isinstance(given, tuple) else (given,)))
