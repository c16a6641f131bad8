"""Formulas of the lessons, with the numbers on screen."""

from viz.formulas import Formula, operand


def variance(d: int, measured: float) -> Formula:
    """The variance of a sum of d products of independent numbers."""
    return Formula(
        r"\mathrm{Var}(q \cdot k) = \sum_{i=1}^{d} \mathrm{Var}(q_i k_i) = d,\qquad "
        rf"d = {d}:\ {operand(measured)}\ \text{{measured}}",
        "Vaswani et al. 2017, footnote 4: components independent, mean 0, variance 1",
    )
