"""The model without its mask: its loss, where its attention goes, and what leaks back."""

import numpy as np

from model.analysis.mask_kinds import MaskSizes, mask_of_kind, own_mask
from model.analysis.masking import future_shares
from model.analysis.probabilities import most_likely_other, next_token_losses
from viz import runs
from viz.digits import digits
from viz.figures.masks import change_bars, loss_bars, share_map
from viz.formulas.parts import loss_with_numbers
from viz.frame import inspector, layout
from viz.frame.page import Numbers
from viz.frame.said import Word
from viz.frame.view import View
from viz.labels import visible
from viz.pages.ideas.masks.shared import hides_nothing
from viz.runs import masks

WITH, WITHOUT = "with its mask", "without a mask"


def draw_loss(view: View) -> Numbers:
    """The loss and where attention goes, with the model's own mask and without any."""
    own, everything = _both(view)
    if hides_nothing(own):
        return {}
    open_run = masks.masked(view.handle, view.ids, everything)
    inspector.checked(WITHOUT, open_run.checking.result)
    name = "model.analysis.probabilities.next_token_losses"
    inspector.source(name, "model.analysis.masking.future_share")
    losses = {
        what: next_token_losses(run.trace.logits, run.trace.ids)
        for what, run in ((WITH, view.run), (WITHOUT, open_run))
    }
    own_shares, shares = future_shares(view.run.trace), future_shares(open_run.trace)
    title = "Share of attention on later tokens, without a mask"
    layout.show_charts(
        {"losses": loss_bars(losses, view.tokens), "future": share_map(shares, title)}
    )
    inspector.formula(name)
    for what, values in losses.items():
        inspector.note(f"{what}:")
        inspector.formula(name, loss_with_numbers(float(values.sum()), len(values)))
    before, after = (float(values.mean()) for values in losses.values())
    n_ahead = int(np.diagonal(own, 1).sum())
    return {
        "with": digits(before),
        "without": f"{digits(after)}, {_verdict(before, after, n_ahead)}",
        "leakage": _leakage(n_ahead, len(own)),
        "future": digits(100 * shares.mean(), 1),
        "own future": digits(100 * own_shares.mean(), 1),
    }


def _both(view: View) -> tuple[np.ndarray, np.ndarray]:
    """The model's own mask over the sentence, and the one that hides nothing, (T, T) each."""
    n = len(view.ids)
    return own_mask(view.config, n), mask_of_kind("everything", MaskSizes(), n)


def _verdict(before: float, after: float, n_ahead: int) -> str:
    """What became of the loss, and why where the mask shows nothing that lies ahead."""
    if after == before:
        return "the same"
    if after < before:
        return f"lower by {digits(before - after)}: what it can now attend to helps it"
    by = digits(after - before)
    if n_ahead:
        return f"higher by {by}: it is confused by it"
    return f"higher by {by}: it never learnt to use what lies ahead, and is confused by it"


def _leakage(n_ahead: int, n: int) -> str:
    """Which of the two numbers say nothing of how well the model predicts."""
    if not n_ahead:
        return (
            "The loss without a mask says nothing of how well it predicts: label leakage, tokens "
            "attended to their own targets."
        )
    return (
        f"Neither number says how well it predicts: under its own mask, too, {n_ahead:,} of "
        f"{n:,} tokens attended to their own targets (label leakage)."
    )


def draw(view: View) -> Numbers:
    """Change the last token: what was predicted before it must not change."""
    own, everything = _both(view)
    if hides_nothing(own):
        return {}
    ids, last = view.ids, len(view.ids) - 1
    guess = most_likely_other(view.run.trace.logits[-2], ids[-1])
    changes = {
        name: masks.change_of_the_past(view.handle, ids, mask, last, guess)[:-1]
        for name, mask in ((WITH, own), (WITHOUT, everything))
    }
    title = "Largest change of a next-token probability, after each token before it"
    layout.show_chart(change_bars(changes, view.tokens[:-1], title), key="past")
    old, new = (Word(visible(runs.tokenizer(view.handle).name(i))) for i in (ids[-1], guess))
    return {
        "old": old,
        "new": new,
        "with": digits(changes[WITH].max()),
        "without": digits(changes[WITHOUT].max()),
    }
