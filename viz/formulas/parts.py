"""Formulas of the model's own parts, as the model that runs has them, and with its numbers."""

import math
from collections.abc import Sequence

from model.worked_out import STAGES
from viz.formulas import FORMULAS, Formula, operand, result, scientific


def with_causal(name: str) -> str:
    """A formula of a mask, combined with the causal one by `&`."""
    known, causal = FORMULAS[name].latex, _condition(FORMULAS["model.masks.causal"])
    seen = _condition(FORMULAS[name])
    return known.replace(seen, rf"({seen}) \ \text{{ and }} \ {causal}")


def _condition(mask: Formula) -> str:
    """When query i may attend to key j."""
    return mask.latex.partition(" 0 & ")[2].partition(r" \\ ")[0]


_SUBLAYERS = {"attn": "attention", "cross": r"cross\text{-}attention", "ffn": "FFN"}


def block(
    norm_placement: str, *, has_cross: bool, adds_normed: bool = False, at_once: bool = False
) -> Formula:
    """What one block does to the residual stream, a line for each sublayer.

    adds_normed: whether what is added goes through a norm of its own. at_once: whether all read the
    same x, so that there is one line.
    """
    is_pre = norm_placement == "pre"
    names = [name for key, name in _SUBLAYERS.items() if has_cross or key != "cross"]
    read = r"\mathrm{norm}(x)" if is_pre else "x"
    added = [rf"\mathrm{{{name}}}({read})" for name in names]
    added = [rf"\mathrm{{norm}}({each})" if adds_normed else each for each in added]
    sums = [f"x + {' + '.join(added)}"] if at_once else [f"x + {each}" for each in added]
    ends = sums if is_pre else [rf"\mathrm{{norm}}({each})" for each in sums]
    lines = [rf"x &\leftarrow {each}" for each in ends]
    where = "Xiong et al. 2020, fig. 1b" if is_pre else "Vaswani et al. 2017, §3.1"
    where = "Gemma Team 2024, §2" if adds_normed else where
    where = "Black et al. 2022, §2.1" if at_once else where
    inside = r" \\ ".join(lines)
    return Formula(rf"\begin{{aligned}} {inside} \end{{aligned}}", where)


PAPERS_BASE = 10_000  # of the waves of Vaswani et al. 2017 and of RoPE


def with_base(name: str, base: float) -> Formula:
    """A formula whose waves have a model's own base, which need not be its paper's."""
    known = FORMULAS[name]
    if base == PAPERS_BASE:
        return known
    latex = known.latex.replace(str(PAPERS_BASE), _plain(base))
    return Formula(latex, f"{known.reference}; there with base {PAPERS_BASE:,}")


def attention(stages: Sequence[str], *, scale: float | None, has_mask: bool) -> Formula:
    """Attention as one head has it, by its stages (`model.worked_out.STAGES` and others).

    A scale of None is the usual 1/√d_head.
    """
    known = FORMULAS["model.attention.scaled_dot_product"]
    scores = r"\frac{QK^{\top}}{\sqrt{d_{\mathrm{head}}}}"
    if scale is not None:
        scores = "QK^{\\top}" if scale == 1 else rf"{scale:.4g}\,QK^{{\top}}"
    scores += " + B" if "biased" in stages else ""
    scores = rf"c \tanh\frac{{{scores}}}{{c}}" if "capped" in stages else scores
    scores += " + M" if has_mask else ""
    weights = r"\mathrm{softmax}\!\left(%s\right)"
    if "sunk" in stages:
        weights = r"\mathrm{softmax}\!\left(\left[\,%s\,;\ s_{\mathrm{sink}}\,\right]\right)"
    other = [] if scale is None else ["not scaled" if scale == 1 else "scaled otherwise"]
    other += [text for name, text in _STAGES.items() if name in stages]
    other += [f"and what is not known: {name}" for name in stages if name not in STAGES]
    return Formula(weights % scores + "V", "; ".join([known.reference, *other]))


_STAGES = {
    "biased": "B: the bias added to scores here",
    "capped": "c: the soft cap, Gemma 2 (2024), §2",
    "sunk": "s_sink: the head’s sink, one more score without a value, whose share is left out, as "
    "in Xiao et al. 2024, §3.3",
}


def learned_position(*, scale_embeddings: bool) -> Formula:
    """What enters the first layer where positions are a trained table."""
    known = FORMULAS["model.positions.LearnedPosition"]
    if not scale_embeddings:
        return known
    latex = known.latex.replace("W_E[t_p]", r"\sqrt{d_{\mathrm{model}}}\,W_E[t_p]")
    return Formula(latex, f"{known.reference}; √d_model from Vaswani et al. 2017, §3.4")


def alibi(n_heads: int) -> Formula:
    """ALiBi's scores with the slopes of a number of heads."""
    known, below = FORMULAS["model.positions.alibi_bias"], 2 ** int(math.log2(n_heads))
    if below == n_heads:
        return known
    slopes = (
        rf"s_h = \begin{{cases}} 2^{{-8(h+1)/{below}}} & h < {below} \\"
        rf" 2^{{-4(2(h-{below})+1)/{below}}} & \text{{otherwise}} \end{{cases}}"
    )
    latex = known.latex.replace("s_h = 2^{-8(h+1)/H}", slopes)
    return Formula(latex, f"{known.reference}; H = {n_heads} is not a power of 2: as in their code")


def lens(*, has_final_norm: bool) -> Formula:
    """The logit lens; a model without a final norm has none to apply."""
    known = FORMULAS["model.analysis.lens.logit_lens"]
    if has_final_norm:
        return known
    latex = known.latex.replace(r"\mathrm{norm}_{\mathrm{final}}(x)", "x")
    return Formula(latex, f"{known.reference}; this model has no final norm")


def _plain(number: float) -> str:
    """A number as LaTeX has it, whole ones with all of their digits."""
    return str(int(number)) if float(number).is_integer() else f"{number:g}"


def minus(number: float) -> str:
    """A number to be subtracted, without a double sign; enough digits for four of e^x."""
    return f"{'+' if number < 0 else '-'} {operand(abs(number), 5)}"


def wave_with_numbers(
    position: int, dimension: int, d_model: int, base: float, value: float
) -> str:
    """One value of the sinusoidal encoding from its own numbers."""
    wave, pair = ("sin" if dimension % 2 == 0 else "cos"), dimension // 2
    return (
        rf"\mathrm{{PE}}({position}, {dimension}) = \{wave}\!\left("
        rf"\frac{{{position}}}{{{_plain(base)}^{{{2 * pair}/{d_model}}}}}\right) {result(value)}"
    )


def rotation_with_numbers(pair: int, offset: int, frequency: float) -> str:
    """The rotation of one pair by an offset, from its own numbers."""
    angle = frequency * offset
    cos, sin = math.cos(angle), math.sin(angle)
    return (
        rf"i = {pair},\ k = {offset}:\qquad \omega_i k {result(angle, 5)},\qquad"
        rf"\begin{{pmatrix}} {operand(cos)} & {operand(sin)} \\"
        rf" {operand(-sin)} & {operand(cos)} \end{{pmatrix}}"
    )


def distance_with_numbers(places: tuple[int, int], shift: int, here: float, moved: float) -> str:
    """One score of RoPE at two places and at the same distance elsewhere."""
    query, key = places
    return (
        rf"s({query}, {key}) {result(here, 6)},"
        rf"\qquad s({query + shift}, {key + shift}) {result(moved, 6)},"
        rf"\qquad |\Delta| = {scientific(abs(moved - here))}"
    )


def bias_with_numbers(product: float, d_head: int, slope: float, distance: int) -> str:
    """One score of ALiBi from its own numbers: product, scale, slope and distance."""
    score = product / d_head**0.5 - slope * distance
    return (
        rf"\mathrm{{score}} = \frac{{{operand(product)}}}{{\sqrt{{{d_head}}}}}"
        rf" - {slope:.5g} \cdot {distance} {result(score)}"
    )


def share_with_numbers(n_pairs: int, n_tokens: int) -> str:
    """The share of all pairs that a mask lets attend."""
    return (
        rf"\frac{{\text{{attended pairs}}}}{{T^2}} = \frac{{{n_pairs}}}{{{n_tokens}^2}}"
        rf" = \frac{{{n_pairs}}}{{{n_tokens**2}}} {result(n_pairs / n_tokens**2)}"
    )


def loss_with_numbers(total: float, n_predicted: int) -> str:
    """The mean loss of a sentence from its own numbers, and its perplexity."""
    loss = total / n_predicted
    return (
        rf"\mathcal{{L}} = \frac{{{operand(total)}}}{{{n_predicted}}} {result(loss)}"
        r"\ \text{nats},"
        rf"\qquad e^{{\mathcal{{L}}}} {result(math.exp(loss), 2)}"
    )


def pseudo_perplexity_with_numbers(total: float, n: int) -> str:
    """The pseudo-perplexity of a sentence from its own numbers."""
    return (
        rf"\mathrm{{PPPL}} = \exp\!\left(\frac{{{operand(total)}}}{{{n}}}\right)"
        rf" {result(math.exp(total / n), 2)}"
    )


def score_with_numbers(total: float, n_tokens: int, alpha: float, score: float) -> str:
    """The score of a text of n new tokens from its own numbers."""
    divisor = rf"\left(\frac{{5 + {n_tokens}}}{{6}}\right)^{{{alpha:g}}}"
    return rf"s = \frac{{{operand(total)}}}{{{divisor}}} {result(score)}"


def weight_with_numbers(product: float, d_head: int, score: float, log_total: float) -> str:
    """One attention weight from its own numbers: q · k, the score, and the row's sum."""
    weight = math.exp(score - log_total)
    return (
        rf"\frac{{q \cdot k}}{{\sqrt{{d_{{\mathrm{{head}}}}}}}}"
        rf" = \frac{{{operand(product)}}}{{\sqrt{{{d_head}}}}} {result(score)},"
        rf"\qquad \alpha = \frac{{e^{{{operand(score, 5)}}}}}{{\sum_j e^{{s_j}}}}"
        rf" = e^{{{operand(score, 5)} {minus(log_total)}}} {result(weight)}"
    )


def lens_with_numbers(
    logit: float, log_total: float, vocab_size: int, entropy: float, rank: int
) -> str:
    """One cell of the logit lens from its own numbers; `rank` counts from 1."""
    probability = math.exp(logit - log_total)
    return (
        rf"p = \frac{{e^{{{operand(logit, 5)}}}}}{{\sum_{{j=1}}^{{{vocab_size}}} e^{{\ell_j}}}}"
        rf" = e^{{{operand(logit, 5)} {minus(log_total)}}} {result(probability)},"
        rf"\qquad H = -\sum_j p_j \ln p_j {result(entropy)},"
        rf"\qquad \mathrm{{rank}} = {rank}"
    )


def cache_with_numbers(
    n_layers: int, n_kv_heads: int, d_head: int, n_tokens: int, bytes_per_value: int, n_bytes: int
) -> str:
    """The bytes of a cache from its own numbers."""
    sizes = (2, n_layers, n_kv_heads, d_head, n_tokens, bytes_per_value)
    grouped = f"{n_bytes:,}".replace(",", "{,}")
    return r" \cdot ".join(map(str, sizes)) + rf" = {grouped}\ \mathrm{{bytes}}"


def merge_with_numbers(parts: tuple[int, int], made: int, rank: int, n_rules: int) -> str:
    """One merge in ids; `rank` counts from 1."""
    left, right = parts
    return (
        rf"\mathrm{{rank}}({left},\, {right}) = {rank}\ \text{{of}}\ {n_rules},\qquad"
        rf" {left},\, {right} \;\to\; {made}"
    )
