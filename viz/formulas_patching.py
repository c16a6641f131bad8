"""LaTeX of what one value put into another run recovers, and of what edges are worth."""

from viz.digits import digits
from viz.formulas import Formula

PATCHED = Formula(
    r"\mathrm{patched} = \frac{m(\mathrm{base},\; x \leftarrow x_{\mathrm{source}})"
    r" - m(\mathrm{base})}{m(\mathrm{source}) - m(\mathrm{base})}",
    "Vig et al. 2020, §3; Meng et al. 2022, §2.1; as a share in Wang et al. 2023: "
    "m the metric, x the one value that is replaced",
)
ESTIMATED = Formula(
    r"m(\mathrm{base},\; x \leftarrow x_{\mathrm{source}}) \approx m(\mathrm{base}) +"
    r" \frac{\partial m}{\partial x}\bigg|_{\mathrm{base}} \cdot"
    r" (x_{\mathrm{source}} - x_{\mathrm{base}})",
    "attribution patching: Nanda 2023; Syed et al. 2023",
)
REMOVED = Formula(
    r"\Delta_{ij} = m - m(\alpha_{ij} \leftarrow 0)",
    "the other weights of the row stay as they are: it is not normalised again",
)
NORM = Formula(r"\lVert \alpha_{ij}\, v_j W_O \rVert", "Kobayashi et al. 2020, §3, for one head")
GRADIENT = Formula(
    r"\alpha_{ij} \cdot \frac{\partial m}{\partial \alpha_{ij}}",
    "gradient × input for attention weights: Serrano & Smith 2019; Barkan et al. 2021",
)
ROLLOUT = Formula(
    r"\tilde{A} = \prod_{l} \left(\tfrac12 \bar{A}^{(l)} + \tfrac12 I\right)",
    "Abnar & Zuidema 2020, §2: A the mean pattern of a layer's heads; flow is the largest flow "
    "through the same weights taken as capacities",
)
INTEGRATED = Formula(
    r"(x_j - x'_j) \cdot \int_0^1 \frac{\partial m(x' + a(x - x'))}{\partial x_j}\, \mathrm{d}a,"
    r"\qquad"
    r" \sum_j = m(x) - m(x')",
    "Sundararajan et al. 2017, eq. 1 and proposition 1; x' is the mean embedding of the "
    "vocabulary, of a picture that of a black one",
)


def patched_with_numbers(base: float, source: float, patched: float) -> str:
    """The share of one cell."""
    low, high, found = (digits(x, 4) for x in (base, source, patched))
    share = digits((patched - base) / (source - base), 4)
    return rf"\frac{{{found} - ({low})}}{{{high} - ({low})}} = {share}"


def removed_with_numbers(whole: float, effect: float) -> str:
    """The effect of one edge."""
    return rf"{digits(whole, 4)} - ({digits(whole - effect, 4)}) = {digits(effect, 4)}"


def complete_with_numbers(total: float, value: float, baseline: float) -> str:
    """What the attributions sum to, and what they should."""
    return (
        rf"{digits(total, 4)} \approx {digits(value, 4)} - ({digits(baseline, 4)})"
        rf" = {digits(value - baseline, 4)}"
    )
