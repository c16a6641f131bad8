"""LaTeX of the experiments: shares in a logit, and what an edit costs."""

from collections.abc import Iterable, Sequence

from viz.formulas import Formula, operand, result

_NORMS = {  # with the scale of this run: its sign, and what it makes of x
    "layer": (r"\mathrm{LN}_{\sigma}", r"\frac{x - \overline{x}}{\sigma} \odot g"),
    "rms": (r"\mathrm{RMSNorm}_{\sigma}", r"\frac{x}{\sigma} \odot g"),
}


def attribution(*, norm: str, norm_placement: str, has_two: bool) -> Formula:
    """A logit as a sum over the parts p of the stream, every norm's scale taken as it was."""
    row, logit = (r"u_t - u_s", r"\ell_t - \ell_s") if has_two else ("u_t", r"\ell_t")
    one, scaled = _NORMS.get(norm, _NORMS["layer"])
    norms = one if norm_placement == "pre" else rf"{one}^{{(K)}} \cdots {one}^{{(p)}}"
    return Formula(
        rf"{logit} = \sum_p \langle {row},\; {norms}\, x_p \rangle + b,\qquad "
        rf"{one}\, x = {scaled}",
        "Elhage et al. 2021, “direct logit attribution”; u the columns of W_U, one of each token, "
        "x_p what part p wrote, σ the scale of the whole stream in this run, b all biases",
    )


def attribution_with_numbers(names: Sequence[str], parts: Iterable[float], logit: float) -> str:
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


_STANDS_IN = {
    "zero": r"\tilde{x}_i = 0",
    "mean": r"\tilde{x}_i = \frac{1}{T} \sum_{j=1}^{T} x_j",
    "survey": r"\tilde{x}_i = \overline{z}",
    "other": r"\tilde{x}_i = x'_i",
}


def ablation(way: str) -> Formula:
    """What stands in for a value that is off, and what that costs."""
    meaning = {
        "zero": "x what the part gives at position i",
        "mean": "x what the part gives, its mean over the T tokens of this input but special ones",
        "survey": "z̄ the head’s mean over all queries of the survey’s text",
        "other": "x' what the part gives on the other sentence",
    }[way]
    return Formula(
        rf"{_STANDS_IN[way]},\qquad"
        r" \mathrm{cost} = \mathcal{L}(\tilde{x}) - \mathcal{L}(x)",
        f"Michel et al. 2019, §2 and §4.1; {meaning}",
    )


def cost_with_numbers(after: float, before: float) -> str:
    """The change of the mean loss from its own numbers."""
    return (
        rf"\mathcal{{L}}(\tilde{{x}}) - \mathcal{{L}}(x) = {operand(after)} - {operand(before)}"
        rf" {result(after - before)}"
    )
