"""Formulas of the lesson on recurrence, with the numbers on screen."""

from collections.abc import Sequence

from viz.formulas import FORMULAS, Formula, operand, result


def looked(i: int, j: int, energy: float, weight: float, context: Sequence[float]) -> Formula:
    """One cell of the map of additive attention: energy, softmax over the source, context.

    i: the token written, j: the token of the source, both from 1; context: its first numbers.
    """
    first = ",\\ ".join(operand(x, 3) for x in context)
    return Formula(
        rf"e_{{{i},{j}}} = v^{{\top}} \tanh(W s_{{{i - 1}}} + U h_{{{j}}}) {result(energy)},\quad"
        rf" \alpha_{{{i},{j}}} = \frac{{e^{{e_{{{i},{j}}}}}}}{{\sum_k e^{{e_{{{i},k}}}}}}"
        rf" {result(weight)},\quad"
        rf" c_{{{i}}} = \sum_k \alpha_{{{i},k}} h_k = ({first}, \ldots)",
        FORMULAS["Additive attention to the source"].reference,
    )


def steps(n: int, n_source: int, n_target: int, n_blocks: int) -> Formula:
    """How many steps one after the other a known target of n letters takes."""
    return Formula(
        rf"\text{{recurrent: }} (n + 2) + (n + 1) = {n_source} + {n_target} ="
        rf" {n_source + n_target},\qquad \text{{Transformer: }} L_{{\mathrm{{encoder}}}} +"
        rf" L_{{\mathrm{{decoder}}}} = {n_blocks}\ \text{{blocks}},\qquad n = {n}",
        FORMULAS["Steps"].reference,
    )
