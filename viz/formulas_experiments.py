"""LaTeX of the experiments: shares in a logit, and what an edit costs."""

from collections.abc import Sequence

from viz.formulas import Formula, operand, result

_SCALED = {
    "layer": r"J x = \frac{x - \overline{x}}{\sigma} \odot g",
    "rms": r"J x = \frac{x}{\mathrm{rms}} \odot g",
}


def attribution(*, norm: str, norm_placement: str, has_two: bool) -> Formula:
    """A logit as a sum over the parts p of the stream, every norm's scale taken as it was."""
    row, logit = (r"u_t - u_s", r"\ell_t - \ell_s") if has_two else ("u_t", r"\ell_t")
    norms = "J" if norm_placement == "pre" else r"J_K \cdots J_p"
    scaled = _SCALED.get(norm, _SCALED["layer"])
    return Formula(
        rf"{logit} = \sum_p \langle {row},\; {norms}\, x_p \rangle + b,\qquad {scaled}",
        "Elhage et al. 2021, “direct logit attribution”; u the rows of the unembedding, x_p what "
        "part p wrote, σ and rms those of the whole stream in this run, b all biases together",
    )


def attribution_with_numbers(names: Sequence[str], parts: Sequence[float], logit: float) -> str:
    """The shares of a logit as a sum, the sublayers of each kind together."""
    totals: dict[str, float] = {}
    for name, part in zip(names, parts, strict=True):
        kind = name.partition(" ")[2] or name
        totals[kind] = totals.get(kind, 0.0) + float(part)
    terms = " + ".join(
        rf"\underbrace{{{_term(total)}}}_{{\text{{{kind}}}}}" for kind, total in totals.items()
    )
    return rf"{terms} {result(logit)}"


def _term(value: float) -> str:
    """A number as a term of a sum."""
    return f"({operand(value)})" if value < 0 else operand(value)
