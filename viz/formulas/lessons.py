"""Formulas of the lessons, with the numbers on screen."""

from collections.abc import Sequence

from viz.formulas import FORMULAS, Formula, operand, result


def variance(d: int, measured: float) -> Formula:
    """The variance of a sum of d products of independent numbers."""
    numbers = rf"d_{{\mathrm{{head}}}} = {d}:\ {operand(measured)}\ \text{{measured}}"
    return FORMULAS["Variance of a dot product"].with_numbers(numbers)


HEIGHTS = {
    "gaussian": r"e^{-u^2/2}",
    "boxcar": r"1 \text{ where } |u| < 1",
    "epanechnikov": r"\max(1 - u^2, 0)",
    "triangular": r"\max(1 - |u|, 0)",
    "constant": "1",
}


def regression(kind: str) -> Formula:
    """The weighted mean, with the kernel that is chosen."""
    return Formula(
        r"f(x) = \sum_i \frac{K(u_i)}{\sum_j K(u_j)}\, y_i,\qquad u_i = \frac{x - x_i}{h},\qquad"
        rf" K(u) = {HEIGHTS[kind]}",
        "Nadaraya 1964, Watson 1964",
    )


def dot_product(
    vectors: tuple[Sequence[float], Sequence[float]],
    product: float,
    lengths: tuple[float, float],
    cosine: float,
) -> Formula:
    """Dot product and cosine of two vectors, with their numbers; without a direction no cosine."""
    terms = " + ".join(
        rf"({operand(x)}) \cdot ({operand(y)})" for x, y in zip(*vectors, strict=True)
    )
    sizes = r" \cdot ".join(map(operand, lengths))
    of_directions = (
        rf",\qquad \cos\theta = \frac{{a \cdot b}}{{\lVert a \rVert \lVert b \rVert}} ="
        rf" \frac{{{operand(product)}}}{{{sizes}}} {result(cosine)}"
    )
    return Formula(
        rf"a \cdot b = a_x b_x + a_y b_y = {terms} {result(product)}"
        f"{of_directions if all(lengths) else ''}",
        FORMULAS["Dot product and cosine"].reference,
    )


def several_heads(n_heads: int, d_head: int, d_model: int) -> Formula:
    """Heads side by side times W_O, and the sum that is."""
    numbers = (
        rf"H = {n_heads},\ z_h \in \mathbb{{R}}^{{{d_head}}},\ "
        rf" W_O^{{(h)}} \in \mathbb{{R}}^{{{d_head} \times {d_model}}}"
    )
    return FORMULAS["Heads side by side, and as a sum"].with_numbers(numbers)


def block(placement: str, lengths: tuple[float, float, float]) -> Formula:
    """The two steps of a block, and the lengths of the stream before, between and after them."""
    placed = FORMULAS[f"{placement.capitalize()}-norm"]
    known = zip(("x", "x'", "x''"), map(operand, lengths), strict=True)
    numbers = [rf"{{\lVert {x} \rVert = {length}}}" for x, length in known]
    return placed.with_numbers(r",\quad\allowbreak ".join(numbers))


_DEVIATION = r"\sigma = \sqrt{\mathrm{Var}(x) + \varepsilon}"


def norm(kind: str, mean: float, deviation: float, rms: float, *, has_offset: bool) -> Formula:
    """The model's kind of norm of one vector, with its statistics."""
    if kind == "rms":
        known = FORMULAS["RMSNorm"]
        return Formula(f"{known.latex} = {operand(rms)}", known.reference)
    return Formula(
        rf"\hat x_i = \frac{{x_i - \mu}}{{\sigma}}\, g_i{' + b_i' if has_offset else ''},\qquad "
        rf"\mu = {operand(mean)},\quad {_DEVIATION} = {operand(deviation)}",
        FORMULAS["LayerNorm"].reference,
    )


ACTIVATIONS = {
    "relu": (r"a = \max(0, x W_{\mathrm{up}})", "ReLU: Vaswani et al. 2017, eq. 2"),
    "gelu": (
        r"a = f(x W_{\mathrm{up}}),\qquad f(u) = u\, \Phi(u)",
        "GELU: Hendrycks & Gimpel 2016, §2",
    ),
    "gelu_tanh": (
        r"a = f(x W_{\mathrm{up}}),\qquad f(u) = \tfrac{u}{2}"
        r"\left(1 + \tanh\!\left(\sqrt{2/\pi}\,(u + 0.044715\, u^3)\right)\right)",
        "GELU, approximated: Hendrycks & Gimpel 2016, §2",
    ),
    "swiglu": (
        r"a = f(x W_{\mathrm{gate}}) \odot x W_{\mathrm{up}},\qquad f(u) = \frac{u}{1 + e^{-u}}",
        "SwiGLU: Shazeer 2020, eq. 6",
    ),
}


def neurons(kind: str, *, is_gated: bool = False) -> Formula:
    """The activations of the model's feed-forward."""
    latex, reference = ACTIVATIONS[kind]
    if is_gated and "gate" not in latex:
        up = r"x W_{\mathrm{up}}"
        latex = latex.replace(f"{up})", rf"x W_{{\mathrm{{gate}}}}) \odot {up}", 1)
        reference = f"{reference}; gated: Shazeer 2020, eq. 6"
    return Formula(rf"{latex},\qquad \mathrm{{ffn}}(x) = a\, W_{{\mathrm{{down}}}}", reference)


def additive(d_head: int) -> Formula:
    """The score of a small network, and how many numbers it has to learn."""
    numbers = (
        rf"W, U: {d_head} \times {d_head},\ v: {d_head},\ \text{{so }}"
        rf" 2 \cdot {d_head}^2 + {d_head} = {2 * d_head**2 + d_head}\ \text{{parameters}}"
    )
    return FORMULAS["Additive attention"].with_numbers(numbers)
