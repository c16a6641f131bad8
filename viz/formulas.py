"""LaTeX for each function shown, keyed by the function's dotted name, and with numbers filled in.

Only numbers and our own symbols enter a formula, never a person's text.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from model.worked_out import STAGES
from viz.digits import digits, equals


@dataclass(frozen=True)
class Formula:
    """A formula as the field writes it, and where it comes from."""

    latex: str
    reference: str


# When query i may attend to key j, by the name of the function in model.masks.
_SEEN = {
    "causal": r"j \le i",
    "sliding_window": r"|i - j| < w",
    "prefix": r"j \le i \ \text{ or } \ j < n_{\mathrm{prefix}}",
    "global_tokens": r"|i - j| < w \ \text{ or } \ i < g \ \text{ or } \ j < g",
    "padding": r"j < \mathrm{length}",
    "padding_left": r"j \ge T - \mathrm{length}",
}


def _cases(seen: str) -> str:
    return rf"M_{{ij}} = \begin{{cases}} 0 & {seen} \\ -\infty & \text{{otherwise}} \end{{cases}}"


def with_causal(name: str) -> str:
    """A mask of `model.masks` combined with the causal one by `&`."""
    seen = _SEEN[name.rpartition(".")[2]]
    return _cases(rf"({seen}) \ \text{{ and }} \ {_SEEN['causal']}")


FORMULAS: dict[str, Formula] = {
    "model.attention.scaled_dot_product": Formula(
        r"\mathrm{softmax}\!\left(\frac{QK^{\top}}{\sqrt{d_{\mathrm{head}}}} + M\right)V",
        "Vaswani et al. 2017, eq. 1",
    ),
    "model.blocks.CrossBlock": Formula(
        r"Q = X_{\mathrm{German}} W_Q,\quad K = M W_K,\quad V = M W_V,\qquad"
        r" \mathrm{softmax}\!\left(\frac{QK^{\top}}{\sqrt{d_{\mathrm{head}}}}\right)V",
        "Vaswani et al. 2017, §3.2.3: queries of the decoder, keys and values of the encoder's "
        "output M",
    ),
    "model.embeddings.PatchEmbedding": Formula(
        r"X = [\,x_{\mathrm{CLS}};\; p_1 E + b;\; \dots;\; p_P E + b\,] + E_{\mathrm{pos}}",
        "Dosovitskiy et al. 2021, eq. 1: the class token, and each patch p of the picture through "
        "one matrix E",
    ),
    "model.analysis.alignment.agreement": Formula(
        r"\mathrm{AER} = 1 - \frac{|A \cap S| + |A \cap P|}{|A| + |S|},\qquad"
        r" \mathrm{precision} = \frac{|A \cap P|}{|A|},\qquad"
        r" \mathrm{recall} = \frac{|A \cap S|}{|S|}",
        "Och & Ney 2003, for attention as in Garg et al. 2019: A found, S sure, P possible links; "
        "here P = S",
    ),
    "model.positions.sinusoidal_encoding": Formula(
        r"\mathrm{PE}(\mathrm{pos}, 2i) ="
        r" \sin\!\frac{\mathrm{pos}}{10000^{2i/d_{\mathrm{model}}}},\qquad"
        r"\mathrm{PE}(\mathrm{pos}, 2i{+}1) ="
        r" \cos\!\frac{\mathrm{pos}}{10000^{2i/d_{\mathrm{model}}}}",
        "Vaswani et al. 2017, §3.5",
    ),
    "model.positions.shift_waves": Formula(
        r"\begin{pmatrix} \sin \omega_i (p{+}k) \\ \cos \omega_i (p{+}k) \end{pmatrix} ="
        r"\begin{pmatrix} \cos \omega_i k & \sin \omega_i k \\"
        r" -\sin \omega_i k & \cos \omega_i k \end{pmatrix}"
        r"\begin{pmatrix} \sin \omega_i p \\ \cos \omega_i p \end{pmatrix},"
        r"\qquad \omega_i = 10000^{-2i/d_{\mathrm{model}}}",
        "Vaswani et al. 2017, §3.5; the matrix depends on the offset k, not on the position p",
    ),
    "model.positions.wave_product": Formula(
        r"\mathrm{PE}(p) \cdot \mathrm{PE}(p{+}k) = \sum_{i=0}^{d_{\mathrm{model}}/2-1}"
        r" \cos \omega_i k",
        "Vaswani et al. 2017, §3.5, with cos a cos b + sin a sin b = cos(a − b)",
    ),
    "model.positions.LearnedPosition": Formula(
        r"x_p = E[t_p] + P[p], \qquad 0 \le p < n_{\mathrm{max}}",
        "Gehring et al. 2017, §3.1; E the embedding of token t, P the trained table",
    ),
    "model.positions.rotate_pairs": Formula(
        r"\begin{pmatrix} q'_i \\ q'_{i+d/2} \end{pmatrix} ="
        r"\begin{pmatrix} \cos m\theta_i & -\sin m\theta_i \\"
        r" \sin m\theta_i & \cos m\theta_i \end{pmatrix}"
        r"\begin{pmatrix} q_i \\ q_{i+d/2} \end{pmatrix},"
        r"\qquad \theta_i = 10000^{-2i/d_{\mathrm{head}}}",
        "Su et al. 2021, eq. 34, with dimension i paired with i + d_head/2 (halves, as in Llama)",
    ),
    "model.analysis.positions.rope_scores": Formula(
        r"\langle R_m q,\; R_n k \rangle = \langle R_{m-n}\, q,\; k \rangle",
        "Su et al. 2021, eq. 16: the score depends on the distance m − n, not on m and n",
    ),
    "model.positions.alibi_bias": Formula(
        r"\mathrm{score}_{ij} = \frac{q_i \cdot k_j}{\sqrt{d_{\mathrm{head}}}}"
        r" - s_h\,|i - j|, \qquad s_h = 2^{-8(h+1)/H}",
        "Press et al. 2022, §3, there for keys before the query alone; head h of H, from 0",
    ),
    "model.positions.Position": Formula(
        r"f(\Pi X) = \Pi f(X) \quad \text{for every permutation } \Pi",
        "Lee et al. 2019, property 1, without positions and mask",
    ),
    "model.masks.causal": Formula(_cases(_SEEN["causal"]), "Vaswani et al. 2017, §3.2.3"),
    "model.masks.sliding_window": Formula(
        _cases(_SEEN["sliding_window"]),
        "w counts the token itself and those before it, as in Jiang et al. 2023, §2, there with "
        "the causal mask; w of Beltagy et al. 2020, §3.1, is the whole width",
    ),
    "model.masks.prefix": Formula(_cases(_SEEN["prefix"]), "Raffel et al. 2020, §3.2.1"),
    "model.masks.global_tokens": Formula(
        _cases(_SEEN["global_tokens"]),
        "Beltagy et al. 2020, §3.1: a window, and g global tokens, here the first ones; w counts "
        "the token itself and those before it, as in Jiang et al. 2023, §2",
    ),
    "model.masks.padding": Formula(
        _cases(_SEEN["padding"]), "as for BERT's sentences of different length, Devlin et al. 2019"
    ),
    "model.masks.full": Formula(
        r"M_{ij} = 0", "Devlin et al. 2019, §3.1: each token attends to all, on both sides"
    ),
    "model.analysis.masking.layers_to_reach": Formula(
        r"\mathrm{known}_0 = I, \qquad \mathrm{known}_{n+1} = \mathrm{known}_n \,\lor\,"
        r" (\mathrm{mask} \cdot \mathrm{known}_n)",
        "the receptive field of Beltagy et al. 2020, §3.1, for any mask",
    ),
    "model.analysis.probabilities.next_token_losses": Formula(
        r"\mathcal{L} = -\frac{1}{T-1} \sum_{t=1}^{T-1} \ln p(x_{t+1} \mid x_1, \dots, x_t)",
        "Bengio et al. 2003, §2; in nats, the mean over the tokens predicted",
    ),
    "model.analysis.blanks.predicted_in_turn": Formula(
        r"\mathrm{PLL}(x) = \sum_{t=1}^{T} \ln p(x_t \mid x_{\setminus t}),\qquad"
        r" \mathrm{PPPL}(x) = \exp\!\left(-\frac{1}{T}\,\mathrm{PLL}(x)\right)",
        "Salazar et al. 2020, eq. 1 and 3, of one sentence; x without token t has [MASK] in its "
        "place",
    ),
    "model.analysis.merges.merged": Formula(
        r"i^{*} = \min\, \arg\min_i \, \mathrm{rank}(s_i, s_{i+1}),\qquad"
        r" \dots\, s_{i^{*}} \,,\, s_{i^{*}+1} \dots \;\to\; \dots\, s_{i^{*}} s_{i^{*}+1} \dots",
        "Sennrich et al. 2016, §3.2, on bytes as Radford et al. 2019, §2.2; again and again, until "
        "no pair of neighbours is in the list of merges",
    ),
    "model.decoding.beam.normalised_score": Formula(
        r"s(y) = \frac{\log p(y \mid x)}{\left(\frac{5 + |y|}{6}\right)^{\alpha}}",
        "Wu et al. 2016, eq. 14, without the coverage term",
    ),
    "model.decoding.kv_cache.cache_bytes": Formula(
        r"\mathrm{bytes} = 2 \cdot L \cdot n_{\mathrm{kv\,heads}} \cdot d_{\mathrm{head}}"
        r" \cdot T \cdot b",
        "Pope et al. 2022, §3.3; 2 for keys and values, L layers, T tokens, b bytes per value",
    ),
    "model.decoding.filters.filter_logits": Formula(
        r"p_i = \frac{\exp(\ell_i / T)}{\sum_{j \in \mathcal{K}} \exp(\ell_j / T)}"
        r"\quad (i \in \mathcal{K}),\qquad p_i = 0 \quad (i \notin \mathcal{K})",
        "temperature: Ackley et al. 1985; top-k: Fan et al. 2018; top-p: Holtzman et al. 2020; "
        "min-p: Nguyen et al. 2024",
    ),
    "model.analysis.lens.logit_lens": Formula(
        r"\mathrm{LogitLens}(h) = \mathrm{norm}_{\mathrm{final}}(h)\,W_U,\qquad"
        r" p = \mathrm{softmax}\big(\mathrm{LogitLens}(h)\big)",
        "nostalgebraist 2020; Belrose et al. 2023, §2: the lens gives logits, the softmax is added "
        "here",
    ),
}


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
    latex = known.latex.replace("E[t_p]", r"\sqrt{d_{\mathrm{model}}}\,E[t_p]")
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
    latex = known.latex.replace(r"\mathrm{norm}_{\mathrm{final}}(h)", "h")
    return Formula(latex, f"{known.reference}; this model has no final norm")


def _plain(number: float) -> str:
    """A number as LaTeX has it, whole ones with all of their digits."""
    return str(int(number)) if float(number).is_integer() else f"{number:g}"


def operand(number: float, places: int = 4) -> str:
    """A number among others in a formula; in powers of ten where `digits` could but say `<`."""
    text = digits(number, places)
    return scientific(number) if text[0] in "<>" else text.replace("−", "-")


def result(number: float, places: int = 4) -> str:
    """What a formula gives, with its relation sign."""
    return equals(number, places).replace("−", "-")


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
        rf"\frac{{\text{{attended pairs}}}}{{n^2}} = \frac{{{n_pairs}}}{{{n_tokens}^2}}"
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


def scientific(number: float) -> str:
    """A small number as LaTeX: 3.1 · 10⁻⁷."""
    mantissa, _, exponent = f"{number:.1e}".partition("e")
    return rf"{mantissa} \cdot 10^{{{int(exponent)}}}" if number else "0"


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
        rf"\qquad w = \frac{{e^{{{operand(score, 5)}}}}}{{\sum_j e^{{s_j}}}}"
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
