"""The model without its mask: its loss, where its attention goes, and what leaks back."""

import numpy as np

from model.analysis.mask_kinds import MaskSizes, mask_of_kind, own_mask
from model.analysis.masking import future_shares
from model.analysis.probabilities import most_likely_other, next_token_losses
from viz import runs
from viz.digits import digits
from viz.figures.labels import visible
from viz.figures.masks import change_bars, loss_bars, share_map
from viz.formulas import loss_with_numbers
from viz.frame import inspector, layout, screen, tables, words
from viz.frame.numbers import Piece, count, head, number, per_cent, word
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
    _past(view, everything, open_run)
    inspector.checked(WITHOUT, lambda: open_run.checks)
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
            f"mean loss {name} {digits(values.mean())} nats" for name, values in losses.items()
        ),
        origin=[
            *screen.origin(view.run, {(0, "y"): "losses"}, tokens="x", first_token=1),
            *screen.origin(open_run, {(1, "y"): "losses"}),
        ],
    )
    before, after = (float(values.mean()) for values in losses.values())
    n_ahead = _n_ahead(view)
    words.notice(
        [
            f"Mean loss {WITH}: ",
            number(view.run, "losses.mean", before),
            f" nats per token. {WITHOUT.capitalize()}: ",
            number(open_run, "losses.mean", after),
            ", ",
            *_verdict(open_run, before, after, n_ahead),
            ". ",
            *_leakage(view, n_ahead),
        ]
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


def _verdict(open_run: Run, before: float, after: float, n_ahead: int) -> list[Piece]:
    """What became of the loss, and why where the mask shows nothing that lies ahead."""
    if after == before:
        return ["the same"]
    if after < before:
        by = number(open_run, "losses.lower", before - after)
        return ["lower by ", by, ": what it can now attend to helps it"]
    never = "" if n_ahead else "it never learnt to use what lies ahead, and "
    by = number(open_run, "losses.higher", after - before)
    return ["higher by ", by, f": {never}{'it ' if n_ahead else ''}is confused by it"]


def _leakage(view: View, n_ahead: int) -> list[Piece]:
    """Which of the two numbers say nothing of how well the model predicts."""
    if not n_ahead:
        return [
            "The second number says nothing of how well it predicts: label leakage, tokens "
            "attended to their own targets."
        ]
    return [
        "Neither number says how well it predicts: under its own mask, too, ",
        count(view.run, "mask.ahead", n_ahead),
        " of ",
        count(view.run, "letter.t", len(view.ids)),
        " tokens attended to their own targets (label leakage).",
    ]


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
        alt="Share of attention on later tokens in each head, "
        f"{digits(shares.mean(), 3)} on average.",
        origin=screen.origin(open_run, {(0, "z"): "mask.future"}),
    )
    most = np.unravel_index(shares.argmax(), shares.shape)
    words.notice(
        [
            "Without a mask ",
            per_cent(open_run, "mask.future_mean", shares.mean()),
            "% of all attention goes to later tokens, most in ",
            *head(open_run, "mask.future", [int(i) for i in most]),
            " (",
            per_cent(open_run, "mask.future_most", shares.max()),
            "%). With its mask: ",
            per_cent(view.run, "mask.future_mean", own.mean()),
            "%.",
        ]
    )


def _past(view: View, everything: np.ndarray, open_run: Run) -> None:
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
    names = runs.tokenizer(view.handle).token_strings((ids[-1], guess))
    layout.section(
        "What leaks into the past",
        "Change the last token alone: do predictions before it stay as they are?",
        "If they change, the past has attended to the future."
        + (f" Its own mask lets {n_before} earlier tokens attend to it." if n_before else ""),
    )
    old, new = map(visible, names)
    words.token_row("Last token, and what it becomes", names, view.run, "past.exchanged")
    layout.show_figure(
        change_bars(
            changes,
            view.tokens[:-1],
            view.colors,
            "Largest change of a next-token probability, after each token before it",
        ),
        key="past",
        alt=f"Largest changes: {digits(changes[WITH].max())} with the mask, "
        f"{digits(changes[WITHOUT].max())} without.",
        origin=[
            *screen.origin(
                view.run, {(0, "y"): f"past.changes.{guess}[:{last}]"}, size=1.0, tokens="x"
            ),
            *screen.origin(open_run, {(1, "y"): f"past.changes.{guess}[:{last}]"}, size=1.0),
        ],
    )
    words.notice(
        [
            "“",
            word(view.run, "past.exchanged[0]", old),
            "” becomes “",
            word(view.run, "past.exchanged[1]", new),
            "”. With its mask the probabilities before it change by at most ",
            number(view.run, f"past.largest.{guess}", changes[WITH].max()),
            "; without, by up to ",
            number(open_run, f"past.largest.{guess}", changes[WITHOUT].max()),
            ".",
        ]
    )
