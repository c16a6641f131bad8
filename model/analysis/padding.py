"""Two sentences of different length in one batch, and what attends to the padding."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from model.adopted.model import AnyDecoder
from model.capture import capture_batch
from model.masks import MASKS, padding
from model.trace import Trace
from model.verify.check import Check, relative_error

PAD = "⟨pad⟩"  # how a pad token is shown
Sentences = tuple[tuple[int, ...], tuple[int, ...]]
TokenStrings = Callable[[Sequence[int]], Sequence[str]]


@dataclass(frozen=True, eq=False)
class Padded:
    """Two sentences in one batch, the shorter one padded; a trace each.

    `is_pad` (T,) marks the pad tokens of the shorter one, which is row `short`. `alone` is how far
    the logits of its own tokens are from what the sentence gets by itself.
    """

    traces: tuple[Trace, Trace]
    checks: tuple[Check, ...]
    short: int
    is_pad: np.ndarray
    alone: float


@dataclass(frozen=True, kw_only=True)
class Padding:
    """How a batch is padded: with which token, on which side, and whether a mask hides it."""

    pad_id: int
    left: bool
    is_masked: bool


@torch.inference_mode()
def run_padded(
    model: AnyDecoder,
    sentences: Sentences,
    how: Padding,
    strings: TokenStrings,
    check: Callable[[Trace, np.ndarray], tuple[Check, ...]],
) -> Padded:
    """Run two sentences as one batch. `strings` names ids for display.

    check: all checks of a trace that ran under a mask.
    """
    lengths, longest = [len(ids) for ids in sentences], max(map(len, sentences))
    batch = [_padded(ids, longest, how) for ids in sentences]
    own = MASKS[model.config.mask](model.config, longest, "cpu")
    is_text = padding(torch.tensor(lengths), longest, how.left)[:, 0]  # (2, 1, T)
    masks = (own & is_text if how.is_masked else own.expand(2, -1, -1)).numpy()
    tokens = [
        with_pads(strings(ids), pads)
        for ids, pads in zip(batch, ~is_text[:, 0].numpy(), strict=True)
    ]
    traces = capture_batch(model, batch, tokens, masks)
    short = int(np.argmin(lengths))
    is_pad = ~is_text[short, 0].numpy()
    alone = model(torch.tensor([sentences[short]], device=model.device))[0].cpu().numpy()
    return Padded(
        traces=(traces[0], traces[1]),
        checks=tuple(c for i in (0, 1) for c in check(traces[i], masks[i])),
        short=short,
        is_pad=is_pad,
        alone=relative_error(traces[short].logits[~is_pad], alone),
    )


def with_pads(strings: Sequence[str], is_pad: np.ndarray) -> list[str]:
    """Tokens for display, pad tokens by a short name."""
    return [PAD if pads else word for word, pads in zip(strings, is_pad, strict=True)]


def _padded(ids: tuple[int, ...], length: int, how: Padding) -> list[int]:
    pads = [how.pad_id] * (length - len(ids))
    return [*pads, *ids] if how.left else [*ids, *pads]
