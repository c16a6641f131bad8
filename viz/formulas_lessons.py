"""Formulas of the lessons, with the numbers on screen."""

from collections.abc import Sequence

from viz.formulas import Formula, operand, result


def variance(d: int, measured: float) -> Formula:
    """The variance of a sum of d products of independent numbers."""
    return Formula(
        r"\mathrm{Var}(q \cdot k) = \sum_{i=1}^{d} \mathrm{Var}(q_i k_i) = d,\qquad "
        rf"d = {d}:\ {operand(measured)}\ \text{{measured}}",
        "Vaswani et al. 2017, footnote 4: components independent, mean 0, variance 1",
    )


_HEIGHTS = {
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
        rf" K(u) = {_HEIGHTS[kind]}",
        "Nadaraya 1964, Watson 1964",
    )


def distance_as_product() -> Formula:
    """Why a Gaussian kernel is a softmax of dot products where keys are of one length."""
    return Formula(
        r"\mathrm{softmax}_j\!\left(-\tfrac{\lVert q - k_j \rVert^2}{2\sqrt{d}}\right) ="
        r" \mathrm{softmax}_j\!\left("
        r"\tfrac{q \cdot k_j - \lVert k_j \rVert^2 / 2}{\sqrt{d}}\right)",
        "Tsai et al. 2019: attention as a kernel smoother",
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
        "Salton et al. 1975: texts as vectors, compared by the cosine of their angle",
    )


def product_of_lengths() -> Formula:
    """What the score of a pair is made of: two lengths and a direction."""
    return Formula(
        r"q \cdot k = \lVert q \rVert\, \lVert k \rVert \cos\theta,\qquad"
        r" \mathrm{score} = \frac{q \cdot k}{\sqrt{d_{\mathrm{head}}}}",
        "Vaswani et al. 2017, eq. 1",
    )


def several_heads(n_heads: int, d_head: int, d_model: int) -> Formula:
    """Heads side by side times W_O, and the sum that is."""
    return Formula(
        r"[\,z_0 \;\; z_1 \;\dots\; z_{H-1}]\, W_O = \sum_{h=0}^{H-1} z_h W_O^{(h)},\qquad"
        rf" H = {n_heads},\ z_h \in \mathbb{{R}}^{{{d_head}}},\ "
        rf" W_O^{{(h)}} \in \mathbb{{R}}^{{{d_head} \times {d_model}}}",
        "Vaswani et al. 2017, §3.2.2; as a sum: Elhage et al. 2021",
    )


def effective_rank() -> Formula:
    """How many directions a matrix has, counted by how evenly it uses them."""
    return Formula(
        r"\mathrm{erank} = \exp\!\Big(-\sum_i p_i \ln p_i\Big),\qquad"
        r" p_i = \frac{\sigma_i}{\sum_j \sigma_j}",
        "Roy & Vetterli 2007",
    )


def additive(d_head: int) -> Formula:
    """The score of a small network, and how many numbers it has to learn."""
    return Formula(
        r"s(q, k) = v^{\top} \tanh(W q + U k),\qquad"
        rf" W, U: {d_head} \times {d_head},\ v: {d_head},\ \text{{so }}"
        rf" 2 \cdot {d_head}^2 + {d_head} = {2 * d_head**2 + d_head}\ \text{{parameters}}",
        "Bahdanau et al. 2015, appendix A.1.2",
    )
