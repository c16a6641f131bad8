"""The rule of 12 · d_model² weights a block, beside what a text has in its place."""

from model.analysis.sizes import Shape, attention_parameters, feedforward_parameters
from viz.digits import digits
from viz.frame import words


def table(shape: Shape) -> None:
    """12 · d_model² a block, what a text has in its place, and what a block really has."""
    attention, feedforward = attention_parameters(shape), feedforward_parameters(shape)
    square = shape.d_model**2
    block = attention + feedforward
    rows = [
        (
            "12 · d_model²",
            f"{12 * square:,}",
            "4 · d_model² of attention (W_Q, W_K, W_V, W_O) and 8 of an MLP of 4 · d_model",
        ),
        (
            "6 · d_model², met in a tutorial",
            f"{6 * square:,}",
            "4 of attention leave 2 for the MLP, whose two matrices are 4 each: wrong",
        ),
        (
            f"counted, {digits(block / square, 2)} · d_model²",
            f"{block:,}",
            f"{attention:,} of attention, {feedforward:,} of the MLP{_why_not_twelve(shape)}",
        ),
    ]
    names, counts, reasons = zip(*rows, strict=True)
    words.table({"weights of one block": names, "": counts, "why": reasons}, texts=("why",))


def _why_not_twelve(shape: Shape) -> str:
    """What makes a block differ from the rule, in words."""
    reasons = {
        "biases": shape.biases,
        "a gate": shape.gated,
        f"d_ff = {digits(shape.d_ff / shape.d_model, 2)} · d_model": shape.d_ff
        != 4 * shape.d_model,
        "shared KV heads": shape.n_kv_heads < shape.n_heads,
        "heads that are not d_model wide together": shape.n_heads * shape.d_head != shape.d_model,
    }
    named = [reason for reason, applies in reasons.items() if applies]
    return f"; not 12 because of {', '.join(named)}" if named else ""
