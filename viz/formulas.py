"""LaTeX for each function shown, keyed by the function's dotted name, and with numbers filled in.

Only numbers and our own symbols enter a formula, never a person's text.
"""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Formula:
    """A formula as the field writes it, and where it comes from."""

    latex: str
    reference: str


FORMULAS: dict[str, Formula] = {
    "model.attention.scaled_dot_product": Formula(
        r"\mathrm{softmax}\!\left(\frac{QK^{\top}}{\sqrt{d_{\mathrm{head}}}} + M\right)V",
        "Vaswani et al. 2017, eq. 1",
    ),
    "model.positions.sinusoidal_encoding": Formula(
        r"\mathrm{PE}(pos, 2i) = \sin\!\frac{pos}{10000^{2i/d_{\mathrm{model}}}},\qquad"
        r"\mathrm{PE}(pos, 2i{+}1) = \cos\!\frac{pos}{10000^{2i/d_{\mathrm{model}}}}",
        "Vaswani et al. 2017, §3.5",
    ),
    "model.masks.causal": Formula(
        r"M_{ij} = \begin{cases} 0 & j \le i \\ -\infty & j > i \end{cases}",
        "Vaswani et al. 2017, §3.2.3",
    ),
    "model.masks.sliding_window": Formula(
        r"M_{ij} = \begin{cases} 0 & i - w < j \le i \\ -\infty & \text{otherwise} \end{cases}",
        "Beltagy et al. 2020, §3.1, with the causal mask",
    ),
    "model.masks.prefix": Formula(
        r"M_{ij} = \begin{cases} 0 & j \le i \ \text{ or } \ i, j < n_{\mathrm{prefix}} \\"
        r" -\infty & \text{otherwise} \end{cases}",
        "Raffel et al. 2020, §3.2.1",
    ),
    "model.decoding.normalised_score": Formula(
        r"s(y) = \frac{\log p(y \mid x)}{\left(\frac{5 + |y|}{6}\right)^{\alpha}}",
        "Wu et al. 2016, eq. 14, without the coverage term",
    ),
    "model.kv_cache.cache_bytes": Formula(
        r"\mathrm{bytes} = 2 \cdot L \cdot n_{\mathrm{kv\,heads}} \cdot d_{\mathrm{head}}"
        r" \cdot T \cdot b",
        "Pope et al. 2022, §3.3; 2 for keys and values, L layers, T tokens, b bytes a value",
    ),
    "model.decoding.filter_logits": Formula(
        r"p_i = \frac{\exp(\ell_i / T)}{\sum_{j \in \mathcal{K}} \exp(\ell_j / T)}"
        r"\quad (i \in \mathcal{K}),\qquad p_i = 0 \quad (i \notin \mathcal{K})",
        "Ackley et al. 1985; Fan et al. 2018; Holtzman et al. 2020",
    ),
    "model.analysis.logit_lens": Formula(
        r"\mathrm{LogitLens}(h) = \mathrm{softmax}\big(W_U\,\mathrm{norm}_{\mathrm{final}}(h)\big)",
        "nostalgebraist 2020; Belrose et al. 2023, §2",
    ),
}


def minus(number: float) -> str:
    """A number to be taken away, without a double sign; enough digits for four of e^x."""
    return f"{-number:+.5f}".replace("+", "+ ").replace("-", "- ")


def attention_with_sizes(n_queries: int, n_keys: int, d_head: int) -> str:
    """Attention with this head's sizes under each part."""
    return (
        rf"\underbrace{{z}}_{{{n_queries}\times {d_head}}} = \mathrm{{softmax}}\!\Big("
        rf"\underbrace{{Q}}_{{{n_queries}\times {d_head}}}\,"
        rf"\underbrace{{K^{{\top}}}}_{{{d_head}\times {n_keys}}} / \sqrt{{{d_head}}}"
        rf"\;+\; \underbrace{{M}}_{{{n_queries}\times {n_keys}}}\Big)\,"
        rf"\underbrace{{V}}_{{{n_keys}\times {d_head}}}"
    )


def weight_with_numbers(product: float, d_head: int, bias: float, log_total: float) -> str:
    """One weight from its own numbers: product, scale, bias, and the row's log-sum-exp."""
    score = product / d_head**0.5 + bias
    added = "" if bias == 0 else f" {bias:+.5f}"
    weight = math.exp(score - log_total)
    return (
        rf"\mathrm{{score}} = \frac{{{product:.4f}}}{{\sqrt{{{d_head}}}}}{added} = {score:.5f},"
        rf"\qquad \mathrm{{weight}} = \frac{{e^{{{score:.5f}}}}}{{\sum_j e^{{s_j}}}}"
        rf" = e^{{{score:.5f} {minus(log_total)}}} = {weight:.4f}"
    )


def wave_with_numbers(
    position: int, dimension: int, d_model: int, base: float, value: float
) -> str:
    """One value of the sinusoidal encoding from its own numbers."""
    wave, pair = ("sin" if dimension % 2 == 0 else "cos"), dimension // 2
    return (
        rf"\mathrm{{PE}}({position}, {dimension}) = \{wave}\!\left("
        rf"\frac{{{position}}}{{{base:g}^{{{2 * pair}/{d_model}}}}}\right) = {value:.4f}"
    )


def score_with_numbers(total: float, n_tokens: int, alpha: float, score: float) -> str:
    """The score of a text of n new tokens from its own numbers."""
    divisor = rf"\left(\frac{{5 + {n_tokens}}}{{6}}\right)^{{{alpha:g}}}"
    return rf"s = \frac{{{total:.4f}}}{{{divisor}}} = {score:.4f}"


def probability_with_numbers(logit: float, temperature: float, log_total: float) -> str:
    """One probability before top-k and top-p from its own numbers."""
    scaled = logit / temperature
    probability = math.exp(scaled - log_total)
    return (
        rf"p = \frac{{e^{{{logit:.5f}/{temperature:g}}}}}{{\sum_j e^{{\ell_j/{temperature:g}}}}}"
        rf" = e^{{{scaled:.5f} {minus(log_total)}}} = {probability:.4f}"
    )


def lens_with_numbers(
    logit: float, log_total: float, vocab_size: int, entropy: float, rank: int
) -> str:
    """One cell of the logit lens from its own numbers; `rank` counts from 1."""
    probability = math.exp(logit - log_total)
    return (
        rf"p = \frac{{e^{{{logit:.5f}}}}}{{\sum_{{j=1}}^{{{vocab_size}}} e^{{\ell_j}}}}"
        rf" = e^{{{logit:.5f} {minus(log_total)}}} = {probability:.4f},"
        rf"\qquad H = -\sum_j p_j \ln p_j = {entropy:.4f},"
        rf"\qquad \mathrm{{rank}} = {rank}"
    )


def cache_with_numbers(
    n_layers: int, n_kv_heads: int, d_head: int, n_tokens: int, bytes_per_value: int, n_bytes: int
) -> str:
    """The bytes of a cache from its own numbers."""
    sizes = (2, n_layers, n_kv_heads, d_head, n_tokens, bytes_per_value)
    grouped = f"{n_bytes:,}".replace(",", "{,}")
    return r" \cdot ".join(map(str, sizes)) + rf" = {grouped}\ \mathrm{{bytes}}"
