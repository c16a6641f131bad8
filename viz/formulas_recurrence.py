"""Formulas of the lesson on recurrence, with the numbers on screen."""

from collections.abc import Sequence

from viz.formulas import Formula, operand, result

GATED_UNIT = Formula(
    r"z = \sigma(W_z x + U_z h + b_z),\quad r = \sigma(W_r x + U_r h + b_r),\quad"
    r" \tilde h = \tanh(W x + U (r \odot h) + b),\qquad h' = (1 - z) \odot h + z \odot \tilde h",
    "Cho et al. 2014, eq. 5 to 8; z as in Bahdanau et al. 2015, appendix A.1.1",
)
LOOKED = Formula(
    r"e_{i,j} = v^{\top} \tanh(W s_{i-1} + U h_j),\quad"
    r" \alpha_{i,j} = \frac{e^{e_{i,j}}}{\sum_k e^{e_{i,k}}},\quad"
    r" c_i = \sum_k \alpha_{i,k} h_k",
    "Bahdanau et al. 2015, §3.1 and appendix A.1.2",
)
STEPS = Formula(
    r"\text{recurrent: } (n + 2) + (n + 1),\qquad"
    r" \text{Transformer: } L_{\mathrm{encoder}} + L_{\mathrm{decoder}}",
    "Vaswani et al. 2017, table 1: O(n) sequential operations against O(1)",
)


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
        LOOKED.reference,
    )


def steps(n: int, n_source: int, n_target: int, n_blocks: int) -> Formula:
    """How many steps one after the other a known target of n letters takes."""
    return Formula(
        rf"\text{{recurrent: }} (n + 2) + (n + 1) = {n_source} + {n_target} ="
        rf" {n_source + n_target},\qquad \text{{Transformer: }} L_{{\mathrm{{encoder}}}} +"
        rf" L_{{\mathrm{{decoder}}}} = {n_blocks}\ \text{{blocks}},\qquad n = {n}",
        STEPS.reference,
    )
