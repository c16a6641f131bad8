"""Formulas of the lesson on scaling, with the numbers on screen."""

from model.analysis.scaling import Parametric
from viz.formulas import Formula, operand

PARAMETRIC = Formula(
    r"L = E + \frac{A}{N^{\alpha}} + \frac{B}{D^{\beta}}", "Hoffmann et al. 2022, eq. 2"
)
KAPLAN = Formula(
    r"L = \left[\left(\frac{N_c}{N}\right)^{\alpha_N / \alpha_D} + \frac{D_c}{D}"
    r"\right]^{\alpha_D}",
    "Kaplan et al. 2020, eq. 1.5, table 2",
)
HUBER = Formula(
    r"\min_{E, A, B, \alpha, \beta}\ \sum_i \mathrm{Huber}_{\delta}\!\left(\ln\!\left[E + "
    r"\frac{A}{N_i^{\alpha}} + \frac{B}{D_i^{\beta}}\right] - \ln L_i\right)",
    "Hoffmann et al. 2022, eq. 3",
)


def power(number: float) -> str:
    """A large number as LaTeX: 6.3 · 10²³."""
    mantissa, _, exponent = f"{number:.3e}".partition("e")
    return rf"{mantissa} \cdot 10^{{{int(exponent)}}}"


def parametric(law: Parametric, n: float, d: float, loss: float, reference: str) -> Formula:
    """E + A/N^α + B/D^β at one size and one number of tokens."""
    by_size = rf"\frac{{{operand(law.a, 2)}}}{{({power(n)})^{{{law.alpha:.4g}}}}}"
    by_tokens = rf"\frac{{{operand(law.b, 2)}}}{{({power(d)})^{{{law.beta:.4g}}}}}"
    return Formula(
        rf"{PARAMETRIC.latex} = {operand(law.floor)} + {by_size} + {by_tokens} = {operand(loss)}",
        reference,
    )


def kaplan(n: float, d: float, loss: float) -> Formula:
    """L(N, D) of Kaplan et al. at one size and one number of tokens."""
    return Formula(
        rf"{KAPLAN.latex} = \left[\left(\frac{{6.4 \cdot 10^{{13}}}}"
        rf"{{{power(n)}}}\right)^{{0.076 / 0.103}} + \frac{{1.8 \cdot 10^{{13}}}}{{{power(d)}}}"
        rf"\right]^{{0.103}} = {operand(loss)}",
        KAPLAN.reference,
    )


def huber(delta: float) -> Formula:
    """What a fit makes smallest."""
    return Formula(rf"{HUBER.latex},\qquad \delta = {delta:g}", HUBER.reference)
