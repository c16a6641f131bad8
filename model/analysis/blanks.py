"""Tokens hidden in turn: what a masked language model predicts of a whole text.

Each token is predicted once, behind [MASK] and with all others given (Salazar et al. 2020).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch

from model.architectures.base import Transformer
from model.device import wide
from model.masks import causal

MOST_AT_ONCE = 4096  # tokens of a batch
MOST_LOGITS = 16_000_000  # numbers of its output


class InTurn(NamedTuple):
    """What was predicted of each token, itself hidden.

    `losses` are −ln p of what stood there, (n,); `is_found` says where nothing was likelier, (n,).
    """

    losses: np.ndarray
    is_found: np.ndarray


def hidden_in_turn(ids: Sequence[int], mask_id: int, n: int) -> torch.Tensor:
    """The text n times, (n, T): in row i token i is [MASK]."""
    rows = torch.tensor(ids)[None].repeat(n, 1)
    rows[torch.arange(n), torch.arange(n)] = mask_id
    return rows


@torch.inference_mode()
def predicted_in_turn(
    model: Transformer,
    ids: Sequence[int],
    mask_id: int,
    *,
    n: int | None = None,
    is_causal: bool = False,
) -> InTurn:
    """−ln p of each of the first n tokens in nats, itself hidden and all others given.

    With `is_causal` each attends to itself and those before it alone. ValueError for a text without
    a token, or one longer than the context.
    """
    n = len(ids) if n is None else min(n, len(ids))
    if not n:
        raise ValueError("the text is empty; give a sentence of at least one token")
    rows = hidden_in_turn(ids, mask_id, n).to(model.device)
    mask = causal(len(ids), device=model.device) if is_causal else None
    targets = torch.tensor(ids[:n])
    most = min(MOST_AT_ONCE, MOST_LOGITS // len(model.token_table))
    size, losses, right = max(1, most // len(ids)), [], []
    for places in torch.arange(n).split(size):
        logits = model(rows[places], mask=mask)  # (b, T, V)
        own = logits[torch.arange(len(places)), places]  # (b, V): the row of what is hidden
        log_probs = wide(own).log_softmax(dim=-1)
        losses.append(-log_probs.gather(1, targets[places, None])[:, 0])
        right.append(log_probs.argmax(dim=-1) == targets[places])
    return InTurn(torch.cat(losses).numpy(), torch.cat(right).numpy())


def perplexity(losses: np.ndarray) -> float:
    """e to the mean of losses in nats; of `predicted_in_turn` it is the pseudo-perplexity."""
    return float(np.exp(losses.mean()))
