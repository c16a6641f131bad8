"""The model without its mask: its loss, where its attention goes, and what leaks back."""

import numpy as np

from model.analysis.mask_kinds import MaskSizes, mask_of_kind, own_mask
from model.analysis.masking import future_shares
from model.analysis.probabilities import most_likely_other, next_token_losses
from viz import runs
from viz.figures.labels import visible
from viz.figures.masks import change_bars, loss_bars, share_map
from viz.formulas import loss_with_numbers
from viz.frame import inspector, layout, tables, words
from viz.frame.view import View
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
    inspector.checked(WITHOUT, open_run.checks)
    inspector.source(
        "model.analysis.probabilities.next_token_losses", "model.analysis.masking.future_share"
    )
    labels = [visible(token) for token in view.tokens[1:]]
    inspector.export(
        view,
        {
            "Losses": lambda: tables.table_csv(
                np.stack(
                    [
                        next_token_losses(view.run.trace.logits, view.run.trace.ids),
                        next_token_losses(open_run.trace.logits, open_run.trace.ids),
                    ],
                    axis=1,
                ),
                labels,
                [WITH, WITHOUT],
                "predicted",
            )
        },
    )


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
    layout.show_figure(
        loss_bars(losses, view.tokens, view.colors),
        key="losses",
        alt="; ".join(
            f"mean loss {name} {values.mean():.4f} nats" for name, values in losses.items()
        ),
    )
    before, after = (values.mean() for values in losses.values())
    verdict = (
        "lower: what it can now attend to helps it"
        if after < before
        else "higher: it never learnt to use what lies ahead, and is confused by it"
    )
    words.notice(
        f"Mean loss {WITH}: {before:.4f} nats per token. {WITHOUT.capitalize()}: {after:.4f}, "
        f"{verdict}. The second number says nothing of how well it predicts: label leakage, tokens "
        "attended to their own targets."
    )
    inspector.formula("model.analysis.probabilities.next_token_losses")
    for name, values in losses.items():
        inspector.note(f"{name}:")
        inspector.formula(
            "model.analysis.probabilities.next_token_losses",
            loss_with_numbers(float(values.sum()), len(values)),
        )


def _future(view: View, open_run: Run) -> None:
    shares = future_shares(open_run.trace)
    own = future_shares(view.run.trace)
    layout.section(
        "Attention that goes to the future",
        "Of all attention of a head over this sentence, the share on later tokens.",
    )
    layout.show_figure(
        share_map(shares, view.colors, "Share of attention on later tokens, without a mask"),
        key="future",
        alt=f"Share of attention on later tokens in each head, {shares.mean():.3f} on average.",
    )
    most = np.unravel_index(shares.argmax(), shares.shape)
    words.notice(
        f"Without a mask {shares.mean():.1%} of all attention goes to later tokens, most in "
        f"L{most[0]} H{most[1]} ({shares.max():.1%}). With its mask: {own.mean():.1%}."
    )


def _past(view: View, everything: np.ndarray) -> None:
    """Change the last token: what was predicted before it must not change."""
    ids, trace = view.ids, view.run.trace
    guess = most_likely_other(trace.logits[-2], ids[-1])
    own = own_mask(view.config, len(ids))
    last = len(ids) - 1
    changes = {
        name: masks.change_of_the_past(view.handle, ids, mask, last, guess)[:-1]
        for name, mask in ((WITH, own), (WITHOUT, everything))
    }
    names = runs.tokenizer(view.handle).token_strings((ids[-1], guess))
    layout.section(
        "What leaks into the past",
        "Change the last token alone: predictions before it must stay as they are.",
        "If they change, the past has attended to the future.",
    )
    old, new = map(visible, names)
    words.token_row("Last token, and what it becomes", names)
    layout.show_figure(
        change_bars(
            changes,
            view.tokens[:-1],
            view.colors,
            "Largest change of a next-token probability, after each token before it",
        ),
        key="past",
        alt=f"Largest changes: {changes[WITH].max():g} with the mask, {changes[WITHOUT].max():.4f} "
        "without.",
    )
    words.notice(
        f"“{old}” becomes “{new}”. With its mask the probabilities before it change by at most "
        f"{changes[WITH].max():g}; without, by up to {changes[WITHOUT].max():.4f}."
    )
