"""Formulas of the lesson on scaling, with the numbers on screen."""

from model.analysis.scaling import Parametric
from viz.formulas import FORMULAS, Formula, operand


def power(number: float) -> str:
    """A large number as LaTeX: 6.3 · 10²³."""
    mantissa, _, exponent = f"{number:.3e}".partition("e")
    return rf"{mantissa} \cdot 10^{{{int(exponent)}}}"


def parametric(law: Parametric, n: float, d: float, loss: float, reference: str) -> Formula:
    """E + A/N^α + B/D^β at one size and one number of tokens."""
    by_size = rf"\frac{{{operand(law.a, 2)}}}{{({power(n)})^{{{law.alpha:.4g}}}}}"
    by_tokens = rf"\frac{{{operand(law.b, 2)}}}{{({power(d)})^{{{law.beta:.4g}}}}}"
    known = FORMULAS["Chinchilla’s law"].latex
    return Formula(
        rf"{known} = {operand(law.floor)} + {by_size} + {by_tokens} = {operand(loss)}",
        reference,
    )


def kaplan(n: float, d: float, loss: float) -> Formula:
    """L(N, D) of Kaplan et al. at one size and one number of tokens."""
    known = FORMULAS["Kaplan’s law"]
    return Formula(
        rf"{known.latex} = \left[\left(\frac{{6.4 \cdot 10^{{13}}}}"
        rf"{{{power(n)}}}\right)^{{0.076 / 0.103}} + \frac{{1.8 \cdot 10^{{13}}}}{{{power(d)}}}"
        rf"\right]^{{0.103}} = {operand(loss)}",
        known.reference,
    )


def huber(delta: float) -> Formula:
    """What a fit makes smallest."""
    return FORMULAS["Fit of a law"].with_numbers(rf"{{\delta = {delta:g}}}")
