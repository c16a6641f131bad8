"""What order and position mean to a model: its tokens moved, swapped, or stripped of their bias."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch

from model.adopted.model import AnyDecoder
from model.analysis.masking import largest_changes
from model.analysis.positions import moved_logits, permutation_error
from model.masks import full
from model.trace import AttentionRecord, Trace

SAME = 1e-5  # relative; less is float32's own rounding


@torch.inference_mode()
def in_two_orders(
    model: AnyDecoder, ids: Sequence[int], order: Sequence[int], is_masked: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Logits after the last of T tokens, (V,), and after it where the tokens change places.

    order: where each token of the other text stands in this one. With the model's mask or none.
    """
    mask = None if is_masked else full(len(ids)).to(model.device)
    last = len(ids) - 1
    one, other = (
        model(torch.tensor([x], device=model.device), mask=mask)[0, at].float().cpu().numpy()
        for x, at in ((list(ids), last), ([ids[i] for i in order], list(order).index(last)))
    )
    return one, other


def rolled(model: AnyDecoder, ids: Sequence[int]) -> float | None:
    """The largest change of an output, without the mask, when the first token becomes the last.

    Relative to the largest output. None where all tokens are the same.
    """
    if len(set(ids)) < 2:
        return None
    order = (*range(1, len(ids)), 0)
    return permutation_error(model, ids, order, full(len(ids)).numpy())


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
