"""What masks do: to weights, to what can influence what, and to attention on the future."""

from dataclasses import dataclass

import numpy as np
import torch

from model.analysis.probabilities import AT_ONCE, probabilities
from model.attention import additive_mask, attention_pattern
from model.trace import Trace


def masking_alternatives(scores: np.ndarray, mask: np.ndarray) -> dict[str, np.ndarray]:
    """One head's scores turned into weights in three ways, of which only the first is right.

    - "before": −inf in masked cells before softmax. Rows sum to one, masked cells are zero.
    - "score_zero": score 0 in masked cells before softmax. e⁰ = 1, so they get weight all the same.
    - "after": softmax over all cells, masked weights set to zero after. Rows sum to less than one,
      because the hidden cells have already taken their share.

    scores and mask: (Tq, Tk), scores before the mask. Returns (Tq, Tk) for each name.
    """
    s, m = torch.tensor(scores), torch.tensor(mask)
    return {
        "before": attention_pattern(s, m).numpy(),
        "score_zero": attention_pattern(s.masked_fill(~m, 0.0)).numpy(),
        "after": attention_pattern(s).masked_fill(~m, 0.0).numpy(),
    }


def layers_to_reach(mask: np.ndarray) -> np.ndarray:
    """How many layers until token i can be influenced by token j; −1 where it never can.

    One layer carries what a token holds to all that may attend to it, so after n layers i can be
    influenced by whatever a path of n steps through the mask joins it to; by itself after 0.

    mask: (T, T) bool, True = may attend. Returns (T, T) whole numbers.
    """
    steps = mask.astype(np.float32)
    known = np.eye(len(mask), dtype=bool)
    layers = np.where(known, 0, -1)
    for layer in range(1, len(mask) + 1):
        reached = known | (steps @ known > 0)
        if (reached == known).all():
            break
        layers[reached & ~known] = layer
        known = reached
    return layers


def future_share(pattern: np.ndarray) -> float:
    """Share of all attention that goes to later tokens. pattern: (..., T, T), rows sum to one."""
    total = pattern.sum(dtype=np.float64)
    return float(np.triu(pattern, 1).sum(dtype=np.float64) / total) if total else 0.0


def future_shares(trace: Trace) -> np.ndarray:
    """Share of each head's attention that goes to later tokens. (L, H)."""
    return np.array([[future_share(x) for x in record.pattern] for record in trace.attention])


def largest_changes(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Largest change of any next-token probability at each position. (T, V) each → (T,)."""
    n_pieces = 1 + before.size // AT_ONCE
    pieces = zip(*(np.array_split(x, n_pieces) for x in (before, after)), strict=True)
    changes = [(probabilities(y) - probabilities(x)).abs().amax(dim=-1) for x, y in pieces]
    return torch.cat(changes).numpy()


@dataclass(frozen=True, eq=False)
class EmptyRow:
    """One row of scores (Tk,) with every cell masked: by softmax alone, and as the model has it."""

    plain: np.ndarray
    ours: np.ndarray


def empty_row(scores: np.ndarray) -> EmptyRow:
    """What becomes of a row that may attend to nothing. scores: (Tk,)."""
    row = torch.tensor(scores)[None]
    nothing = torch.zeros(row.shape, dtype=torch.bool)
    plain = (row + additive_mask(nothing, row.dtype)).softmax(dim=-1)
    return EmptyRow(plain[0].numpy(), attention_pattern(row, nothing)[0].numpy())
