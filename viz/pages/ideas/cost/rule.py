"""The rule of 12 · d_model² weights a block, beside what a text has in its place."""

from model.analysis.sizes import attention_parameters, feedforward_parameters
from viz.digits import digits
from viz.frame import words
from viz.frame.numbers import Said, count
from viz.frame.view import View
from viz.pages.ideas.cost.sized import Sized


def table(view: View, chosen: Sized) -> None:
    """12 · d_model² a block, what a text has in its place, and what a block really has."""
    shape, address = chosen.shape, chosen.address("block")
    attention, feedforward = attention_parameters(shape), feedforward_parameters(shape)
    square = shape.d_model**2
    block = attention + feedforward
    rows: dict[str, tuple[Said, str]] = {
        "12 · d_model²": (
            count(view.run, f"{address}[0]", 12 * square),
            "4 · d_model² of attention (W_Q, W_K, W_V, W_O) and 8 of a feed-forward of 4 · d_model",
        ),
        "6 · d_model², met in a tutorial": (
            count(view.run, f"{address}[1]", 6 * square),
            "4 of attention leave 2 for the feed-forward, whose two matrices are 4 each: wrong",
        ),
        f"counted, {digits(block / square, 2)} · d_model²": (
            count(view.run, f"{address}[2]", block),
            f"{attention:,} of attention, {feedforward:,} of the feed-forward"
            f"{_why_not_twelve(chosen)}",
        ),
    }
    words.table(
        {
            "weights of one block": list(rows),
            "": [said for said, _ in rows.values()],
            "why": [why for _, why in rows.values()],
        },
        texts=("why",),
    )


def _why_not_twelve(chosen: Sized) -> str:
    """What makes a block differ from the rule, in words."""
    shape = chosen.shape
    reasons = [
        *(["biases"] if shape.biases else []),
        *(["a gate"] if shape.gated else []),
        *([f"d_ff = {digits(shape.d_ff / shape.d_model, 2)} · d_model"]
          if shape.d_ff != 4 * shape.d_model else []),
        *(["shared KV heads"] if shape.n_kv_heads < shape.n_heads else []),
        *(["heads that are not d_model wide together"]
          if shape.n_heads * shape.d_head != shape.d_model else []),
    ]  # fmt: skip
    return f"; not 12 because of {', '.join(reasons)}" if reasons else ""
