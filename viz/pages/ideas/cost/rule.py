"""The rule of 12 · d_model² weights a block, beside what a text has in its place."""

from model.analysis.sizes import attention_parameters, feedforward_parameters
from viz.digits import digits
from viz.frame import words
from viz.frame.numbers import Piece, Said, count, number
from viz.frame.view import View
from viz.pages.ideas.cost.sized import Sized


def table(view: View, chosen: Sized) -> None:
    """12 · d_model² a block, what a text has in its place, and what a block really has."""
    shape, address = chosen.shape, chosen.address("block")
    attention, feedforward = attention_parameters(shape), feedforward_parameters(shape)
    square = shape.d_model**2
    block = attention + feedforward
    counted = number(view.run, f"{address}[5]", block / square, digits(block / square, 2))
    rows: list[tuple[Said, Said, Said]] = [
        (
            "12 · d_model²",
            count(view.run, f"{address}[0]", 12 * square),
            "4 · d_model² of attention (W_Q, W_K, W_V, W_O) and 8 of a feed-forward of 4 · d_model",
        ),
        (
            "6 · d_model², met in a tutorial",
            count(view.run, f"{address}[1]", 6 * square),
            "4 of attention leave 2 for the feed-forward, whose two matrices are 4 each: wrong",
        ),
        (
            ["counted, ", counted, " · d_model²"],
            count(view.run, f"{address}[2]", block),
            [
                count(view.run, f"{address}[3]", attention),
                " of attention, ",
                count(view.run, f"{address}[4]", feedforward),
                " of the feed-forward",
                *_why_not_twelve(view, chosen),
            ],
        ),
    ]
    names, counts, reasons = zip(*rows, strict=True)
    words.table(
        {"weights of one block": names, "": counts, "why": reasons},
        texts=("why",),
    )


def _why_not_twelve(view: View, chosen: Sized) -> list[Piece]:
    """What makes a block differ from the rule, in words."""
    shape = chosen.shape
    ratio = shape.d_ff / shape.d_model
    wider = number(view.run, f"{chosen.address('block')}[6]", ratio, digits(ratio, 2))
    reasons: list[list[Piece]] = [
        *([["biases"]] if shape.biases else []),
        *([["a gate"]] if shape.gated else []),
        *([["d_ff = ", wider, " · d_model"]] if shape.d_ff != 4 * shape.d_model else []),
        *([["shared KV heads"]] if shape.n_kv_heads < shape.n_heads else []),
        *([["heads that are not d_model wide together"]]
          if shape.n_heads * shape.d_head != shape.d_model else []),
    ]  # fmt: skip
    before = ["; not 12 because of ", *[", "] * (len(reasons) - 1)]
    return [piece for i, reason in enumerate(reasons) for piece in (before[i], *reason)]
