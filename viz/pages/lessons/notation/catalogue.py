"""Every formula of the app in letters, by the page that shows it: what the printed sheet has."""

from collections.abc import Iterator
from dataclasses import dataclass

from viz import formulas_cheaper as cheaper
from viz import formulas_cost as cost
from viz import formulas_experiments as experiments
from viz import formulas_lessons as lessons
from viz import formulas_patching as patching
from viz import formulas_recurrence as recurrence
from viz import formulas_scaling as scaling
from viz.formulas import FORMULAS, Formula, attention, block
from viz.frame.settings import SMOOTHING
from viz.pages.look_inside.heads.measures import MEASURES


@dataclass(frozen=True)
class Entry:
    """A formula, what it is of, and the page where it stands with a run's numbers."""

    page: str
    title: str
    formula: Formula


# Formulas of `viz.formulas`, by page: what each is of, and the function it is keyed by.
_NAMED = {
    "Tokens": {
        "Byte-pair encoding: the next merge": "model.analysis.merges.merged",
        "Loss of a text": "model.analysis.probabilities.next_token_losses",
    },
    "Attention": {"Scaled dot-product attention": "model.attention.scaled_dot_product"},
    "Logit lens": {"Logit lens": "model.analysis.lens.logit_lens"},
    "Next token": {"Temperature, top-k, top-p, min-p": "model.decoding.filters.filter_logits"},
    "Beam search": {"Score of a text": "model.decoding.beam.normalised_score"},
    "KV cache": {"Size of the cache": "model.decoding.kv_cache.cache_bytes"},
    "Positional encoding": {
        "Sinusoidal": "model.positions.sinusoidal_encoding",
        "Sinusoidal: a shift is a rotation": "model.positions.shift_waves",
        "Sinusoidal: the product of two positions": "model.positions.wave_product",
        "Learned": "model.positions.LearnedPosition",
        "RoPE": "model.positions.rotate_pairs",
        "RoPE: scores depend on the distance": "model.analysis.positions.rope_scores",
        "ALiBi": "model.positions.alibi_bias",
        "None: permutation equivariance": "model.positions.Position",
    },
    "Order": {"Rows in another order": "model.positions.Position"},
    "Masks": {
        "Causal": "model.masks.causal",
        "Sliding window": "model.masks.sliding_window",
        "Prefix": "model.masks.prefix",
        "Global tokens": "model.masks.global_tokens",
        "Padding": "model.masks.padding",
        "None": "model.masks.full",
        "Receptive field": "model.analysis.masking.layers_to_reach",
    },
    "Masked language model": {"Pseudo-perplexity": "model.analysis.blanks.predicted_in_turn"},
    "Vision": {"Patches become a row of vectors": "model.embeddings.PatchEmbedding"},
    "Translation": {
        "Cross-attention": "model.blocks.CrossBlock",
        "Alignment error rate": "model.analysis.alignment.agreement",
    },
}
_STANDS_IN = {"zero": "zero", "mean": "the mean", "survey": "the survey’s mean", "other": "another"}
_STAGES = {
    "biased": "a bias added to the scores",
    "capped": "a soft cap",
    "sunk": "a sink",
}
_WITH: dict[str, dict[str, Formula]] = {
    "Attention": {
        f"With {what}": attention((stage,), scale=1.0, has_mask=True)
        for stage, what in _STAGES.items()
    },
    "Contributions": {
        "Share in a logit (LayerNorm)": experiments.attribution(
            norm="layer", norm_placement="pre", has_two=False
        ),
        "Share in a difference of logits (RMSNorm, post-norm)": experiments.attribution(
            norm="rms", norm_placement="post", has_two=True
        ),
    },
    "Ablation": {
        f"Off: {name} in its place": experiments.ablation(way) for way, name in _STANDS_IN.items()
    },
    "Patching": {
        "Patched": patching.PATCHED,
        "Attribution patching": patching.ESTIMATED,
    },
    "Explanation": {
        "Edge removed": patching.REMOVED,
        "Value-weighted norm": patching.NORM,
        "Gradient × attention": patching.GRADIENT,
        "Rollout": patching.ROLLOUT,
        "Integrated gradients": patching.INTEGRATED,
    },
    "Cost": {
        "Parameters": cost.PARAMETERS,
        "Operations": cost.OPERATIONS,
        "Memory": cost.MEMORY,
        "Layers beside each other": cost.LAYERS,
        "Time of a pass: a fit, and by operations": cost.TIMES,
    },
    "Embeddings and similarity": {
        "Dot product and cosine": lessons.DOT_PRODUCT,
        "Lengths and direction": lessons.product_of_lengths(),
    },
    "Kernels": {
        **{
            f"Regression: {SMOOTHING.words(kind)} kernel": lessons.regression(kind)
            for kind in lessons.HEIGHTS
        },
        "Distances as dot products": lessons.distance_as_product(),
        "Additive attention": lessons.ADDITIVE,
    },
    "Why √d?": {"Variance of a dot product": lessons.VARIANCE},
    "Multi-head attention": {
        "Heads side by side, and as a sum": lessons.SEVERAL_HEADS,
        "Effective rank": lessons.effective_rank(),
    },
    "Transformer block": {
        **{f"{name.capitalize()}-norm": formula for name, formula in lessons.PLACED.items()},
        "LayerNorm": lessons.LAYER_NORM,
        "RMSNorm": lessons.RMS_NORM,
        **{
            f"Feed-forward: {about.partition(':')[0]}": lessons.neurons(kind)
            for kind, (_, about) in lessons.ACTIVATIONS.items()
        },
    },
    "Why the residual?": {
        "Gradient with the sum and without": lessons.through_residual(),
        "Gradient of the loss": lessons.gradient_of_loss(),
    },
    "Cheaper attention": {
        "Window": cheaper.way("window", "w", "g", "r"),
        "Window and global tokens": cheaper.way("global", "w", "g", "r"),
        "Linear attention": cheaper.way("linear", "w", "g", "r"),
        "Low rank": cheaper.way("low_rank", "w", "g", "r"),
        "Tiles": cheaper.TILES,
        "Bytes of maps and of tiles": cheaper.MAPS,
    },
    "Recurrence": {
        "A gated unit": recurrence.GATED_UNIT,
        "Additive attention in a translation": recurrence.LOOKED,
        "Steps one after the other": recurrence.STEPS,
    },
    "Scaling": {
        "Loss by size and tokens, Chinchilla": scaling.PARAMETRIC,
        "Loss by size and tokens, Kaplan": scaling.KAPLAN,
        "What the fit makes smallest": scaling.HUBER,
    },
    "Diagram": {
        "A block, pre-norm": block("pre", has_cross=False),
        "A block with cross-attention, post-norm": block("post", has_cross=True),
    },
}
PAGES = (
    *("Tokens", "Attention", "Heads", "Logit lens", "Next token", "Beam search", "KV cache"),
    *(
        "Contributions",
        "Ablation",
        "Patching",
        "Explanation",
        "Positional encoding",
        "Masks",
        "Cost",
    ),
    *(
        "Embeddings and similarity",
        "Kernels",
        "Why √d?",
        "Multi-head attention",
        "Transformer block",
        "Why the residual?",
    ),
    *(
        "Order",
        "Cheaper attention",
        "Recurrence",
        "Scaling",
        "Diagram",
        "Masked language model",
        "Translation",
        "Vision",
    ),
)


def _of(page: str) -> Iterator[Entry]:
    if page == "Heads":
        for one in MEASURES.values():
            yield Entry(page, one.name, Formula(one.latex, one.reference))
    for title, name in _NAMED.get(page, {}).items():
        yield Entry(page, title, FORMULAS[name])
    for title, formula in _WITH.get(page, {}).items():
        yield Entry(page, title, formula)


CATALOGUE: tuple[Entry, ...] = tuple(entry for page in PAGES for entry in _of(page))
