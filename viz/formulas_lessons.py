"""Formulas of the lessons, with the numbers on screen."""

from collections.abc import Sequence

from viz.formulas import Formula, operand, result

VARIANCE = Formula(
    r"\mathrm{Var}(q \cdot k) = \sum_{i=1}^{d} \mathrm{Var}(q_i k_i) = d",
    "Vaswani et al. 2017, footnote 4: components independent, mean 0, variance 1",
)


def variance(d: int, measured: float) -> Formula:
    """The variance of a sum of d products of independent numbers."""
    numbers = rf"d = {d}:\ {operand(measured)}\ \text{{measured}}"
    return Formula(rf"{VARIANCE.latex},\qquad {numbers}", VARIANCE.reference)


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


def distance_as_product() -> Formula:
    """Why a Gaussian kernel is a softmax of dot products where keys are of one length."""
    return Formula(
        r"\mathrm{softmax}_j\!\left(-\tfrac{\lVert q - k_j \rVert^2}{2\sqrt{d}}\right) ="
        r" \mathrm{softmax}_j\!\left("
        r"\tfrac{q \cdot k_j - \lVert k_j \rVert^2 / 2}{\sqrt{d}}\right)",
        "Tsai et al. 2019: attention as a kernel smoother",
    )


DOT_PRODUCT = Formula(
    r"a \cdot b = \sum_i a_i b_i,\qquad"
    r" \cos\theta = \frac{a \cdot b}{\lVert a \rVert \lVert b \rVert}",
    "Salton et al. 1975: texts as vectors, compared by the cosine of their angle",
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
        DOT_PRODUCT.reference,
    )


def product_of_lengths() -> Formula:
    """What the score of a pair is made of: two lengths and a direction."""
    return Formula(
        r"q \cdot k = \lVert q \rVert\, \lVert k \rVert \cos\theta,\qquad"
        r" \mathrm{score} = \frac{q \cdot k}{\sqrt{d_{\mathrm{head}}}}",
        "Vaswani et al. 2017, eq. 1",
    )


SEVERAL_HEADS = Formula(
    r"[\,z_0 \;\; z_1 \;\dots\; z_{H-1}]\, W_O = \sum_{h=0}^{H-1} z_h W_O^{(h)}",
    "Vaswani et al. 2017, §3.2.2; as a sum: Elhage et al. 2021",
)


def several_heads(n_heads: int, d_head: int, d_model: int) -> Formula:
    """Heads side by side times W_O, and the sum that is."""
    numbers = (
        rf" H = {n_heads},\ z_h \in \mathbb{{R}}^{{{d_head}}},\ "
        rf" W_O^{{(h)}} \in \mathbb{{R}}^{{{d_head} \times {d_model}}}"
    )
    return Formula(rf"{SEVERAL_HEADS.latex},\qquad{numbers}", SEVERAL_HEADS.reference)


def effective_rank() -> Formula:
    """How many directions a matrix has, counted by how evenly it uses them."""
    return Formula(
        r"\mathrm{erank} = \exp\!\Big(-\sum_i p_i \ln p_i\Big),\qquad"
        r" p_i = \frac{\sigma_i}{\sum_j \sigma_j}",
        "Roy & Vetterli 2007",
    )


PLACED = {
    "pre": Formula(
        r"x' = x + \mathrm{attn}(\mathrm{norm}(x)),\qquad "
        r"x'' = x' + \mathrm{ffn}(\mathrm{norm}(x'))",
        "pre-norm: Xiong et al. 2020, fig. 1b",
    ),
    "post": Formula(
        r"x' = \mathrm{norm}(x + \mathrm{attn}(x)),\qquad "
        r"x'' = \mathrm{norm}(x' + \mathrm{ffn}(x'))",
        "post-norm: Vaswani et al. 2017, §3.1",
    ),
}


def block(placement: str, lengths: tuple[float, float, float]) -> Formula:
    """The two steps of a block, and the lengths of the stream before, between and after them."""
    placed = PLACED[placement]
    before, between, after = map(operand, lengths)
    numbers = (
        rf"\lVert x \rVert = {before},\ \lVert x' \rVert = {between},\ "
        rf"\lVert x'' \rVert = {after}"
    )
    both = rf"\begin{{gathered}} {placed.latex} \\ {numbers} \end{{gathered}}"
    return Formula(both, placed.reference)


RMS_NORM = Formula(
    r"\hat x_i = \frac{x_i}{r}\, g_i,\qquad r = \sqrt{\tfrac1D \sum_i x_i^2 + \varepsilon}",
    "RMSNorm: Zhang & Sennrich 2019, eq. 4",
)
_DEVIATION = r"\sigma = \sqrt{\mathrm{Var}(x) + \varepsilon}"
LAYER_NORM = Formula(
    rf"\hat x_i = \frac{{x_i - \mu}}{{\sigma}}\, g_i + b_i,\qquad"
    rf" \mu = \tfrac1D \sum_i x_i,\quad {_DEVIATION}",
    "LayerNorm: Ba et al. 2016, eq. 4",
)


def norm(kind: str, mean: float, deviation: float, rms: float, *, has_offset: bool) -> Formula:
    """The model's kind of norm of one vector, with its statistics."""
    if kind == "rms":
        return Formula(rf"{RMS_NORM.latex} = {operand(rms)}", RMS_NORM.reference)
    return Formula(
        rf"\hat x_i = \frac{{x_i - \mu}}{{\sigma}}\, g_i{' + b_i' if has_offset else ''},\qquad "
        rf"\mu = {operand(mean)},\quad {_DEVIATION} = {operand(deviation)}",
        LAYER_NORM.reference,
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


def through_residual() -> Formula:
    """What a gradient passes through on its way down, with the sum and without it."""
    return Formula(
        r"\text{pre-norm: } x_{l+1} = x_l + f_l(x_l):\ \frac{\partial y}{\partial x_0} = "
        r"\frac{\partial y}{\partial x_L} \prod_l \left(I + J_l\right),\qquad "
        r"\text{without the sum: } x_{l+1} = f_l(x_l):\ \frac{\partial y}{\partial x_0} = "
        r"\frac{\partial y}{\partial x_L} \prod_l J_l",
        "He et al. 2016b, eq. 5: the sum leaves a path that no block scales; under post-norm every "
        "sum goes through a norm, whose derivative multiplies that path too (Xiong et al. 2020)",
    )


def gradient_of_loss() -> Formula:
    """The trained model's own gradient, layer by layer."""
    return Formula(
        r"g_l = \left\lVert \frac{\partial \mathcal L}{\partial x_l} \right\rVert,\qquad "
        r"\mathcal L = -\frac{1}{T-1} \sum_{t < T} \ln p(w_{t+1} \mid w_{\le t})",
        "by backpropagation (Rumelhart et al. 1986) through the model as it runs",
    )


ADDITIVE = Formula(r"s(q, k) = v^{\top} \tanh(W q + U k)", "Bahdanau et al. 2015, appendix A.1.2")


def additive(d_head: int) -> Formula:
    """The score of a small network, and how many numbers it has to learn."""
    numbers = (
        rf" W, U: {d_head} \times {d_head},\ v: {d_head},\ \text{{so }}"
        rf" 2 \cdot {d_head}^2 + {d_head} = {2 * d_head**2 + d_head}\ \text{{parameters}}"
    )
    return Formula(rf"{ADDITIVE.latex},\qquad{numbers}", ADDITIVE.reference)
