"""One number on screen and where it comes from: formula, code, its value and the other one."""

import re

import numpy as np

from model.trace import Trace
from viz.live.about import OF_HEADS, OF_PAGES, OF_SITES, About
from viz.live.about_costs import OF_COSTS
from viz.live.about_experiments import MORE_OF_EXPERIMENTS
from viz.live.about_lessons import MORE_OF_LESSONS, SITES_OF_LESSONS
from viz.live.about_recurrence import OF_RECURRENCE
from viz.live.about_views import MORE_OF_HEADS, MORE_OF_VIEWS, SITES_OF_VIEWS
from viz.live.core.wire import Data
from viz.live.store import Independent

_ATTEND, _PROJECT = "model.attention.attention_pattern", "model.attention.MultiHeadAttention"
_SCORES = "model.attention.attention_scores"
_BLOCK, _LENS = "model.blocks.Block", "model.analysis.lens.logit_lens"
_CACHE = "model.decoding.kv_cache.KVCache"
OVER = ("layer", "head", "all")
# By the last part of an address.
OF_TRACE: dict[str, About] = {
    "embed": About("row of the embedding, × √d_model where scaled", "torch.nn.Embedding"),
    "positions": About("the vector of the position", "model.positions.Position.added"),
    "q": About("W_Q x, rotated under RoPE", f"{_PROJECT}.project_queries"),
    "k": About("W_K x, rotated under RoPE", f"{_PROJECT}.project_keys"),
    "v": About("W_V x", f"{_PROJECT}.project_values"),
    "product": About("q · k", _SCORES),
    "scaled": About("q · k / √d_head", _SCORES),
    "bias": About("what the scheme adds to a score", "model.positions.Position.bias"),
    "mask": About("1 where the query may attend to the key", "model.masks.MASKS"),
    "scores": About("q · k / √d_head + bias", _SCORES),
    "pattern": About("softmax over the keys of q · k / √d_head + bias + mask", _ATTEND),
    "mean_pattern": About(
        "mean over heads of the pattern", "model.analysis.summary.summarise_patterns"
    ),
    "z": About("Σ over keys of weight × value", "model.attention.scaled_dot_product"),
    "attn_out": About("W_O z of all heads", f"{_PROJECT}.forward"),
    "ffn_out": About("W_down f(W_up x)", "model.feedforward.FeedForward.forward"),
    "resid_pre": About("what enters the block", f"{_BLOCK}.forward"),
    "resid_mid": About("what entered + attention", f"{_BLOCK}.forward"),
    "resid_post": About("that + feed-forward", f"{_BLOCK}.forward"),
    "output": About("W_U · norm(x): the logits", "model.architectures.decoder.DecoderTransformer"),
}
OF_FIGURES: dict[str, About] = {
    "lens.top": About(
        "max softmax(W_U · norm(x)); row 0: the input, before the first block", _LENS
    ),
    "lens.entropy": About("−Σ p ln p, in nats", _LENS),
    "lens.place": About("how many tokens are more likely than the answer, + 1", _LENS),
    "lens.words": About("ids by softmax(W_U · norm(x)), largest first", _LENS),
    "lens.bold": About("1: the final answer is the most likely already", _LENS),
    "lens.falling": About("softmax(W_U · norm(x)), largest first", _LENS),
    "losses": About("−ln p(next token)", "model.analysis.probabilities.next_token_losses"),
    "positions.table": About("the vector of each position", "model.positions.Position.added"),
    "positions.cosines": About("a · b / |a||b|", "model.analysis.cosine.cosine_similarity"),
    "positions.wavelengths": About("2π · base^(2i/d)", "model.analysis.positions.rotation_speeds"),
    "positions.embedded": About("embedding + position", _BLOCK),
    "positions.slopes": About("2^(−8(h+1)/H)", "model.positions.alibi_slopes"),
    "mask.allowed": About("1 where a query may attend", "model.masks.MASKS"),
    "mask.reach": About("steps along the mask", "model.analysis.masking.layers_to_reach"),
    "mask.future": About("Σ weight on later tokens / Σ", "model.analysis.masking.future_share"),
    "cache.keys": About("√(Σ k²)", _CACHE),
    "cache.values": About("√(Σ v²)", _CACHE),
    "cache.mean_keys": About("mean over KV heads of √(Σ k²)", _CACHE),
    "cache.mean_values": About("mean over KV heads of √(Σ v²)", _CACHE),
}
_SITES = {**OF_SITES, **SITES_OF_VIEWS, **SITES_OF_LESSONS}
_PAGES = {**OF_PAGES, **MORE_OF_VIEWS, **MORE_OF_EXPERIMENTS, **MORE_OF_LESSONS}
_NUMBERS = re.compile(r"(\.\d+)+$")  # on which an array depends, at the end of its name
_HEADS, _SUMMARY = "model.analysis.heads", "model.analysis.summary.summarise_patterns"
# What instruments show beyond a trace, by the last part of an address.
OF_INSTRUMENTS: dict[str, About] = {
    "probs": About("softmax of the logits", "model.analysis.probabilities.leading_tokens"),
    "sharpness": About("mean over rows of max p", f"{_HEADS}.sharpness"),
    "layer_sharpness": About("mean of its heads' sharpness", f"{_HEADS}.sharpness"),
    "head_sharpness": About("mean of its layers' sharpness", f"{_HEADS}.sharpness"),
    **OF_HEADS,
    "n_layers": About("blocks one after the other", "model.trace.HeadGroup"),
    "n_heads": About("patterns of one layer", "model.trace.AttentionRecord"),
    **MORE_OF_HEADS,
    **{f"mean_{over}": About("mean over heads of p", _SUMMARY) for over in OVER},
    **{f"maximum_{over}": About("maximum over heads of p", _SUMMARY) for over in OVER},
    "mean_entropy": About("mean over rows of −Σ p log₂ p", "viz/live/core/measures.js: mean"),
}
# Derived in the browser from a trace's scores, which hold scale and bias.
_UNMASKED = "unmasked_"


def origin_of(trace: Trace, independent: Independent, address: str) -> Data:
    """What there is to say of one number: its formula and function, the model's value where the

    trace has it, and the independent run's. ValueError where an address names no single number.
    """
    reference = independent.array(address)
    if reference.ndim:
        raise ValueError(f"{address} names {reference.size} numbers; say which one in brackets")
    name, _, part = address.partition("[")
    last = _NUMBERS.sub("", name).rpartition(".")[-1].removeprefix(_UNMASKED)
    about = (
        OF_FIGURES.get(name)
        or _PAGES.get(_NUMBERS.sub("", name))
        or OF_COSTS.get(_NUMBERS.sub("", name))
        or OF_RECURRENCE.get(name)
        or OF_TRACE.get(last)
        or _SITES.get(last)
        or OF_INSTRUMENTS.get(last)
        or About("", "")
    )
    found = dict(trace.arrays()).get(name.replace(_UNMASKED, ""))
    value = None if found is None else _at(found, part.rstrip("]"))
    return {
        "address": address,
        "formula": about.formula,
        "source": about.source,
        "value": _finite(value),
        "reference": _finite(float(reference)),
    }


def _at(array: np.ndarray, part: str) -> float | None:
    """One number of a trace's array; None where the array has no such place, as a shared mask."""
    try:
        found = array[tuple(map(int, part.split(",")))] if part else array
    except (ValueError, IndexError):
        return None
    return float(found) if np.ndim(found) == 0 else None


def _finite(value: float | None) -> float | None:
    return value if value is not None and np.isfinite(value) else None
