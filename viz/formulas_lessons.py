"""Formulas of the lessons, with the numbers on screen."""

from viz.formulas import Formula, operand


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
