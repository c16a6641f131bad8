"""What each translator does with one row of letters: what it writes, and what it attends to."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from model.architectures.encoder_decoder import EncoderDecoderTransformer
from model.architectures.recurrent import Looked, Recurrent
from model.capture import capture_translation
from model.recurrence.task import END, NAMES, START, answer_of, source_of

Array = np.ndarray
Translator = Recurrent | EncoderDecoderTransformer
SPARE = 3  # tokens that a target may have more than it should


@dataclass(frozen=True, eq=False)
class Attended:
    """Additive attention at each token: energies and weights (Tt, Ts), contexts (Tt, 2h)."""

    energies: Array
    weights: Array
    contexts: Array


@torch.inference_mode()
def write(model: Translator, sources: Tensor, most: int) -> Tensor:
    """Greedy targets, (B, at most `most`), up to where all have their end; ends after an end."""
    step, last, written = model.begin(sources), sources.new_full((len(sources),), START), []
    ended = torch.zeros_like(last, dtype=torch.bool)
    while len(written) < most and not ended.all():
        last = step(last).argmax(dim=-1).masked_fill(ended, END)
        written.append(last)
        ended |= last == END
    return torch.stack(written, dim=1)


@torch.inference_mode()
def written(model: Translator, task: str, letters: Sequence[int]) -> tuple[int, ...]:
    """What the model makes of a row, greedily, its end included where it came."""
    sources = torch.tensor([source_of(task, letters)])
    ids = write(model, sources, len(letters) + 1 + SPARE)[0].tolist()
    return tuple(ids[: ids.index(END) + 1] if END in ids else ids)


@torch.inference_mode()
def attended(
    model: Recurrent, task: str, letters: Sequence[int], target: Sequence[int]
) -> Attended:
    """What a model with additive attention attends to as it writes `target`."""
    looked: list[Looked] = []
    step = model.begin(torch.tensor([source_of(task, letters)]), looked)
    for last in (START, *target[:-1]):
        step(torch.tensor([last]))
    energies, weights, contexts = (
        np.concatenate([part.numpy() for part in parts]) for parts in zip(*looked, strict=True)
    )
    return Attended(energies, weights, contexts)


def cross_patterns(
    model: EncoderDecoderTransformer, task: str, letters: Sequence[int], target: Sequence[int]
) -> Array:
    """Cross-attention of every head as `target` is written, (L, H, Tt, Ts)."""
    source, begun = source_of(task, letters), (START, *target[:-1])
    both = [(ids, [NAMES[i] for i in ids]) for ids in (source, begun)]
    trace = capture_translation(model, both[0], both[1])
    return np.stack([record.pattern for record in trace.attention if record.site.kind == "cross"])


def own_places(task: str, n_letters: int) -> list[int]:
    """Where in the source each letter of the right target stands; the task is at 0."""
    places = list(range(1, n_letters + 1))
    return places[::-1] if task == "reverse" else places


def on_own_letter(patterns: Array, task: str, n_letters: int) -> Array:
    """Mean weight on the letter that is to be written, (…); patterns: (…, Tt, Ts).

    Only tokens that were written count: a target may be shorter than it should.
    """
    places = own_places(task, n_letters)[: patterns.shape[-2]]
    return patterns[..., np.arange(len(places)), places].mean(axis=-1)


def n_right(task: str, letters: Sequence[int], target: Sequence[int]) -> int:
    """Letters of a target that are right at their place."""
    return sum(a == b for a, b in zip(target, answer_of(task, letters)[:-1], strict=False))
