"""The same sentence under any mask, alone or in a padded batch, cached."""

import numpy as np

from model.analysis.masking import largest_changes
from model.analysis.padding import Padded, Padding, Sentences, run_padded, with_pads
from model.capture import capture
from model.sources.handle import ModelHandle
from viz import runs
from viz.runs.checking import begin
from viz.runs.kept import kept
from viz.runs.under_way import under_way


def masked(
    handle: ModelHandle, ids: tuple[int, ...], mask: np.ndarray, n_pads: int = 0
) -> runs.Run:
    """Capture and check tokens under a mask (T, T); the last `n_pads` are named as padding."""
    return _masked(handle, ids, mask.tobytes(), n_pads)


@kept
@under_way("Running the model with another mask")
def _masked(handle: ModelHandle, ids: tuple[int, ...], mask: bytes, n_pads: int) -> runs.Run:
    model = runs.decoder(handle)
    cells = np.frombuffer(mask, dtype=bool).reshape(len(ids), len(ids))
    is_pad = np.arange(len(ids)) >= len(ids) - n_pads
    tokens = with_pads(runs.tokenizer(handle).token_strings(ids), is_pad)
    loaded = runs.runnable(handle)
    trace = capture(model, ids, tokens, cells).marked(loaded.special_ids)
    checking = begin(trace, lambda trace: loaded.check(trace, cells))
    offers = runs.opened(handle).offers | trace.offers
    return runs.Run(trace, checking, offers)


def change_of_the_past(
    handle: ModelHandle, ids: tuple[int, ...], mask: np.ndarray, position: int, other: int
) -> np.ndarray:
    """How much each position's next-token probabilities change when one token is another. (T,).

    The largest change of any probability, at each position.
    """
    swapped = (*ids[:position], other, *ids[position + 1 :])
    before, after = (masked(handle, tokens, mask).trace.logits for tokens in (ids, swapped))
    return largest_changes(before, after)


@kept
@under_way("Running the padded sentences")
def padded(handle: ModelHandle, sentences: Sentences, left: bool, is_masked: bool) -> Padded:
    """Run two sentences as one batch, the padding hidden by a padding mask or in plain sight.

    The end-of-text token is the pad token, as users of GPT-2 have it.
    """
    tokenizer = runs.tokenizer(handle)
    how = Padding(pad_id=tokenizer.end_id, left=left, is_masked=is_masked)
    check = runs.runnable(handle).check
    return run_padded(runs.decoder(handle), sentences, how, tokenizer.token_strings, check)
