"""What order and position mean to a model: its tokens moved, swapped, or stripped of their bias."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from model.adopted.model import AnyDecoder
from model.analysis.masking import largest_changes
from model.analysis.positions import moved_logits, outputs
from model.masks import full
from model.trace import AttentionRecord, Trace
from model.verify.check import relative_error

SAME = 1e-5  # relative; less is float32's own rounding


@dataclass(frozen=True, eq=False)
class Reordered:
    """Outputs of a sentence and of the same tokens in another order, (T, D) each.

    `difference` is what is left when the rows of the second are put back in the first one's order.
    """

    first: np.ndarray
    second: np.ndarray
    difference: np.ndarray
    error: float  # the largest difference, relative to the largest output


def reordered(
    model: AnyDecoder, ids: Sequence[int], order: Sequence[int], is_masked: bool
) -> Reordered:
    """What becomes of the outputs when the tokens change places, with the model's mask or none."""
    mask = None if is_masked else full(len(ids)).numpy()
    first = outputs(model, ids, mask)
    second = outputs(model, [ids[i] for i in order], mask)
    back = np.argsort(order)
    error = relative_error(second, first[list(order)])
    return Reordered(first, second, second[back] - first, error)


def rolled(model: AnyDecoder, ids: Sequence[int]) -> float | None:
    """The largest change of an output, without the mask, when the first token becomes the last.

    Relative to the largest output. None where all tokens are the same.
    """
    if len(set(ids)) < 2:
        return None
    return reordered(model, ids, (*range(1, len(ids)), 0), is_masked=False).error


def change_when_moved(trace: Trace, model: AnyDecoder, shift: int) -> float:
    """Largest change of a next-token probability when all tokens stand `shift` positions later."""
    after = moved_logits(model, trace.ids.tolist(), shift)
    return float(largest_changes(trace.logits, after).max())


def without_bias(record: AttentionRecord, head: int) -> np.ndarray:
    """One head's pattern from the same queries and keys, had no bias been added. (Tq, Tk)."""
    return replace(record, bias=None).pattern_of(head)


def answer_past_the_context(model: AnyDecoder) -> str:
    """What the model answers to a text one token longer than its context."""
    ids = torch.zeros(1, model.config.max_seq_len + 1, dtype=torch.long, device=model.device)
    try:
        model(ids)
    except ValueError as error:
        return str(error)
    return "It ran."
