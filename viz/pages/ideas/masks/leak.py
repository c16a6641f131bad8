"""The model without its mask: its loss, where its attention goes, and what leaks back."""

import numpy as np

from model.analysis.mask_kinds import MaskSizes, mask_of_kind, own_mask
from model.analysis.masking import future_shares
from model.analysis.probabilities import most_likely_other, next_token_losses
from viz import runs
from viz.digits import digits
from viz.figures.masks import change_bars, loss_bars, share_map
from viz.formulas import loss_with_numbers
from viz.frame import inspector, layout, words
from viz.frame.said import Word
from viz.frame.view import View
from viz.labels import visible
from viz.runs import Run, masks

WITH, WITHOUT = "with its mask", "without a mask"


def draw(view: View) -> None:
    """Draw the view."""
    n_tokens = len(view.tokens)
    everything = mask_of_kind("everything", MaskSizes(), n_tokens)
    open_run = masks.masked(view.handle, view.ids, everything)
    if n_tokens < 2:
        words.notice("One token has neither past nor future: type a sentence of two or more.")
        return
    _loss(view, open_run)
    _future(view, open_run)
    _past(view, everything)
    inspector.checked(WITHOUT, open_run.checking.result)
    inspector.source(
        "model.analysis.probabilities.next_token_losses", "model.analysis.masking.future_share"
    )
    inspector.export(view, {})


def _loss(view: View, open_run: Run) -> None:
    layout.section(
        "Loss with label leakage",
        "This model learnt with its mask: does it help to remove it, or confuse?",
        "In training each position must predict the next token, and without a mask it could attend "
        "to that very token. A model trained so would learn to copy it and nothing else.",
    )
    losses = {
        WITH: next_token_losses(view.run.trace.logits, view.run.trace.ids),
        WITHOUT: next_token_losses(open_run.trace.logits, open_run.trace.ids),
    }
    layout.show_chart(loss_bars(losses, view.tokens), key="losses")
    before, after = (float(values.mean()) for values in losses.values())
    n_ahead = _n_ahead(view)
    words.notice(
        f"Mean loss {WITH}: {digits(before)} nats per token. {WITHOUT.capitalize()}: "
        f"{digits(after)}, {_verdict(before, after, n_ahead)}. {_leakage(view, n_ahead)}"
    )
    inspector.formula("model.analysis.probabilities.next_token_losses")
    for name, values in losses.items():
        inspector.note(f"{name}:")
        inspector.formula(
            "model.analysis.probabilities.next_token_losses",
            loss_with_numbers(float(values.sum()), len(values)),
        )


def _n_ahead(view: View) -> int:
    """How many tokens of the sentence attend to the next one under the model's own mask."""
    return int(np.diagonal(own_mask(view.config, len(view.ids)), 1).sum())


def _verdict(before: float, after: float, n_ahead: int) -> str:
    """What became of the loss, and why where the mask shows nothing that lies ahead."""
    if after == before:
        return "the same"
    if after < before:
        return f"lower by {digits(before - after)}: what it can now attend to helps it"
    never = "" if n_ahead else "it never learnt to use what lies ahead, and "
    by = digits(after - before)
    return f"higher by {by}: {never}{'it ' if n_ahead else ''}is confused by it"


def _leakage(view: View, n_ahead: int) -> str:
    """Which of the two numbers say nothing of how well the model predicts."""
    if not n_ahead:
        return (
            "The second number says nothing of how well it predicts: label leakage, tokens "
            "attended to their own targets."
        )
    return (
        f"Neither number says how well it predicts: under its own mask, too, {n_ahead:,} of "
        f"{len(view.ids):,} tokens attended to their own targets (label leakage)."
    )


def _future(view: View, open_run: Run) -> None:
    shares = future_shares(open_run.trace)
    own = future_shares(view.run.trace)
    layout.section(
        "Attention that goes to the future",
        "Of all attention of a head over this sentence, the share on later tokens.",
    )
    title = "Share of attention on later tokens, without a mask"
    layout.show_chart(share_map(shares, title), key="future")
    most = np.unravel_index(shares.argmax(), shares.shape)
    words.notice(
        f"Without a mask {digits(100 * shares.mean(), 1)}% of all attention goes to later tokens, "
        f"most in L{most[0]} H{most[1]} ({digits(100 * shares.max(), 1)}%). With its mask: "
        f"{digits(100 * own.mean(), 1)}%."
    )


def _past(view: View, everything: np.ndarray) -> None:
    """Change the last token: what was predicted before it must not change."""
    ids, trace = view.ids, view.run.trace
    guess = most_likely_other(trace.logits[-2], ids[-1])
    own = own_mask(view.config, len(ids))
    last = len(ids) - 1
    n_before = int(own[:last, last].sum())
    changes = {
        name: masks.change_of_the_past(view.handle, ids, mask, last, guess)[:-1]
        for name, mask in ((WITH, own), (WITHOUT, everything))
    }
    names = list(map(runs.tokenizer(view.handle).name, (ids[-1], guess)))
    layout.section(
        "What leaks into the past",
        "Change the last token alone: do predictions before it stay as they are?",
        "If they change, the past has attended to the future."
        + (f" Its own mask lets {n_before} earlier tokens attend to it." if n_before else ""),
    )
    old, new = map(visible, names)
    words.token_row("Last token, and what it becomes", names)
    title = "Largest change of a next-token probability, after each token before it"
    layout.show_chart(change_bars(changes, view.tokens[:-1], title), key="past")
    words.notice(
        [
            "“",
            Word(old),
            "” becomes “",
            Word(new),
            "”. With its mask the probabilities before it change by at most "
            f"{digits(changes[WITH].max())}; without, by up to {digits(changes[WITHOUT].max())}.",
        ]
    )
