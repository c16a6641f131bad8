"""What a decoder takes from its source: the loss of the same target when the source is damaged."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from model.analysis.probabilities import at_targets
from model.architectures.encoder_decoder import ENCODER, EncoderDecoderTransformer
from model.records import to_numpy
from model.tap import Edit, Editor, attach

AS_IT_IS = "as it is"
OUTPUT_SHUFFLED = "output shuffled"
WORDS_SHUFFLED = "words shuffled"
NO_POSITIONS = "no positions"
OUTPUT_AVERAGED = "output averaged"
MEMORY, POSITIONS = f"{ENCODER}.memory", f"{ENCODER}.positions"


@torch.inference_mode()
def target_losses(
    model: EncoderDecoderTransformer,
    source: Sequence[int],
    target: Sequence[int],
    edits: Sequence[Edit] = (),
) -> np.ndarray:
    """−ln p of each token of a target but its start, in nats, with the target fed in. (Tt − 1,).

    source and target: ids as the model takes them, the target with its start and, where that is to
    be predicted too, its end.
    """
    editor = Editor(*edits)
    given = [torch.tensor([ids], device=model.device) for ids in (source, target[:-1])]
    logits = model(given[0], given[1], tap=attach(editor) if edits else attach())
    editor.check_used()
    return -at_targets(to_numpy(logits[0]), target[1:], torch.log_softmax)


def losses_when_damaged(
    model: EncoderDecoderTransformer, source: Sequence[int], target: Sequence[int], seed: int = 0
) -> dict[str, np.ndarray]:
    """Losses of one target, (Tt − 1,) each, under what was done to its source, by name.

    Cross-attention adds no positions to its keys, so the encoder's output in another order changes
    nothing: what order there is, is in its vectors. ValueError as `forward`.
    """
    order = shuffled(len(source), seed)
    in_order = torch.tensor(order)
    # The end of the source stays where it is: only what stands before it has an order of its own.
    words = [source[i] for i in shuffled(len(source) - 1, seed)]
    damages: dict[str, tuple[Sequence[int], tuple[Edit, ...]]] = {
        AS_IT_IS: (source, ()),
        OUTPUT_SHUFFLED: (source, (Edit(MEMORY, lambda x: x[:, in_order]),)),
        WORDS_SHUFFLED: ([*words, source[-1]], ()),
        OUTPUT_AVERAGED: (source, (Edit(MEMORY, _averaged),)),
    }
    if model.config.position in ("sinusoidal", "learned"):
        damages[NO_POSITIONS] = (source, (Edit(POSITIONS, torch.zeros_like),))
    return {
        name: target_losses(model, ids, target, edits) for name, (ids, edits) in damages.items()
    }


def shuffled(n: int, seed: int) -> list[int]:
    """The numbers below n in an order that is another one, where there is another."""
    order = np.random.default_rng(seed).permutation(n).tolist()
    return order if order != list(range(n)) else [*range(1, n), *range(min(n, 1))]


def _averaged(memory: Tensor) -> Tensor:
    """Every row the mean of all rows: which words there were is left, not where. (B, Ts, D)."""
    return memory.mean(dim=1, keepdim=True).expand_as(memory)
