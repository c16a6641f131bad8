"""Runs that differ in one value: what comes before that value is computed once for all of them."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from model.adopted.model import AdoptedModel
from model.analysis.interventions import Given, is_picture
from model.architectures.base import Transformer
from model.architectures.encoder_decoder import EncoderDecoderTransformer
from model.architectures.stack import Stack
from model.architectures.vision import VisionTransformer
from model.tap import NO_TAP, Tap

Index = tuple[int | slice, ...]


class Branch:
    """Splits one run into a batch where a value goes through: row b has `changes[b]` made to it.

    A change is an index into the value without its batch axis, and what is put there. Until then
    the batch has one row. Attach it after what records the run as it was.
    """

    def __init__(self, address: str, changes: Sequence[tuple[Index, Tensor | float]]) -> None:
        self.address, self.changes = address, changes

    def wants(self, address: str) -> bool:
        """Whether this is the value that is changed."""
        return address == self.address

    def __call__(self, address: str, value: Tensor) -> Tensor:
        """value: (1, …). Returns (B, …)."""
        rows = value.expand(len(self.changes), *value.shape[1:]).clone()
        for row, (index, to) in zip(rows, self.changes, strict=True):
            row[index] = to
        return rows


def logits_at(
    model: Transformer, given: Given, position: int, tap: Tap = NO_TAP, n_rows: int = 1
) -> Tensor:
    """What one input is predicted to be at a position, (B, V): B is 1 unless the tap makes it more.

    given: ids (T,), of a translation those of source and target, or pixels (S, S), of which the
    class token alone predicts. The unembedding of our models runs at that position only. n_rows:
    the B that the tap makes; models of others must have as many rows from the start.
    """
    arguments = batch_of_one(model, given)
    if isinstance(model, AdoptedModel):
        output = model(arguments[0].expand(n_rows, *arguments[0].shape[1:]), tap=tap)
        return output if is_picture(given) else output[:, position]
    if isinstance(model, EncoderDecoderTransformer):
        source, target = arguments
        memory = model.encode(source, tap=tap)
        stream = model.decoder.stream(target, memory=memory, tap=tap)
        return model.unembed(stream[:, position])
    if isinstance(model, VisionTransformer):
        return model(*arguments, tap=tap)
    if not isinstance(model, Stack):
        raise ValueError(f"a {type(model).__name__} predicts no token at a position")
    stream = model.stream(*arguments, tap=tap)  # (B, T, D)
    return model.get_submodule("unembed")(stream[:, position])


def batch_of_one(model: Transformer, given: Given) -> tuple[Tensor, ...]:
    """What a model's forward takes, each with one row."""
    if isinstance(model, EncoderDecoderTransformer):
        return tuple(torch.tensor(np.asarray(ids), device=model.device)[None] for ids in given)
    kind = torch.float32 if is_picture(given) else torch.long
    return (torch.tensor(np.asarray(given), dtype=kind, device=model.device)[None],)
