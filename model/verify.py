"""The self-check: recompute what is shown, by another route, and say how far off it is.

Attention is recomputed in numpy float64 from the trace alone; what needs weights is recomputed
by the model's own modules from the traced inputs. Nothing here reads a value it is checking.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from model.attention import fused_attention, merge_heads, share_kv_heads
from model.blocks import Block
from model.capture import RESIDUAL_NAMES, AttentionRecord, Recorder, ResidualRecord, Trace
from model.kv_cache import KVCache
from model.masks import SEEING_AHEAD
from model.transformer import DecoderTransformer


@dataclass(frozen=True)
class Check:
    """One identity, the worst error found, and the error it must not exceed.

    Errors are the largest absolute difference, divided by the largest value involved where that
    is above one, so that a large residual stream is not blamed for float32's own rounding.
    """

    name: str
    error: float
    bound: float

    @property
    def passed(self) -> bool:
        """Whether the error is within the bound; NaN never is."""
        return self.error <= self.bound


def worst(checks: Iterable[Check]) -> Check:
    """The check to show on a badge: a failed one if there is any, else the largest error."""
    return max(checks, key=lambda item: (not item.passed, item.error))


@torch.inference_mode()
def check(
    trace: Trace, model: DecoderTransformer, mask: np.ndarray | None = None
) -> tuple[Check, ...]:
    """All checks of one trace against the model it came from.

    mask: the (T, T) mask it was captured under, if not the model's own. Then nothing is said of
    cached decoding, which has no meaning where a token may see what comes behind it.
    """
    attention = [
        Check(name, max(map(error, trace.attention)), bound)
        for name, bound, error in ATTENTION_CHECKS
    ]
    through_model = [Check(name, error(trace, model), bound) for name, bound, error in MODEL_CHECKS]
    plain = Check(UNCAPTURED, _capture_changes_nothing(trace, model, mask), 1e-5)
    cached = () if mask is not None else (Check(CACHED, _cached_is_whole(trace, model), 1e-5),)
    return (*attention, *through_model, plain, *cached)


def relative_error(actual: np.ndarray, expected: np.ndarray) -> float:
    """max |actual − expected| / max(1, max |expected|); infinite where anything is not finite."""
    are_finite = np.isfinite(actual).all() and np.isfinite(expected).all()
    if actual.shape != expected.shape or not are_finite:
        return math.inf
    difference = np.abs(actual.astype(np.float64) - expected).max(initial=0.0)
    return float(difference / max(1.0, np.abs(expected).max(initial=0.0)))


def recomputed_scores(record: AttentionRecord) -> np.ndarray:
    """q·kᵀ/√Dh + bias in float64. Returns (H, Tq, Tk)."""
    q, k = record.q.astype(np.float64), _shared(record.k, len(record.q))
    scores = q @ k.swapaxes(-2, -1) / math.sqrt(q.shape[-1])
    return scores if record.bias is None else scores + record.bias


def recomputed_pattern(record: AttentionRecord) -> np.ndarray:
    """Softmax over the visible keys, in float64; rows that see nothing are zero. (H, Tq, Tk)."""
    scores = np.where(record.mask, recomputed_scores(record), -np.inf)
    peak = scores.max(axis=-1, keepdims=True)
    weights = np.exp(scores - np.where(np.isfinite(peak), peak, 0.0))
    total = weights.sum(axis=-1, keepdims=True)
    return np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)


def _shared(x: np.ndarray, n_heads: int) -> np.ndarray:
    return np.repeat(x.astype(np.float64), n_heads // len(x), axis=0)


def _row_sums(record: AttentionRecord) -> float:
    sums = record.pattern.sum(axis=-1, dtype=np.float64)  # (H, Tq)
    expected = np.broadcast_to(record.mask.any(axis=-1), sums.shape).astype(np.float64)
    return relative_error(sums, expected)


def _masked_cells(record: AttentionRecord) -> float:
    hidden = np.broadcast_to(~record.mask, record.pattern.shape)
    return relative_error(record.pattern[hidden], np.zeros(hidden.sum()))


def _weighted_values(record: AttentionRecord) -> float:
    expected = record.pattern.astype(np.float64) @ _shared(record.v, len(record.q))
    return relative_error(record.z, expected)


def _explicit_is_fused(record: AttentionRecord) -> float:
    q, k, v = (torch.tensor(x)[None] for x in (record.q, record.k, record.v))
    bias = None if record.bias is None else torch.tensor(record.bias)
    keys, values = share_kv_heads(k, len(record.q)), share_kv_heads(v, len(record.q))
    z = fused_attention(q, keys, values, mask=torch.tensor(record.mask), bias=bias)
    return relative_error(record.z, z[0].numpy())


def _embedding(trace: Trace, model: DecoderTransformer) -> float:
    recorder = Recorder()
    model.embed_tokens(_ids(trace, model), recorder)
    embed = relative_error(trace.embed, _array(recorder.values["embed"]))
    if "positions" not in recorder.values:
        return max(embed, relative_error(trace.positions, np.zeros_like(trace.positions)))
    return max(embed, relative_error(trace.positions, recorder.values["positions"].cpu().numpy()))


def _input_sum(trace: Trace, model: DecoderTransformer) -> float:
    return relative_error(trace.residuals[0].resid_pre, trace.embed + trace.positions)


def _projections(trace: Trace, model: DecoderTransformer) -> float:
    positions = torch.arange(len(trace.ids), device=_device(model))
    errors = []
    for block, residual, record in zip(model.blocks, trace.residuals, trace.attention, strict=True):
        x = block.placement.read(_tensor(residual.resid_pre, model), block.attn_norm)
        q, k, v = block.attn.project(x, model.position, positions)
        errors += [relative_error(record.q, _array(q)), relative_error(record.k, _array(k))]
        errors.append(relative_error(record.v, _array(v)))
    return max(errors)


def _attention_output(trace: Trace, model: DecoderTransformer) -> float:
    def error(block: Block, residual: ResidualRecord, record: AttentionRecord) -> float:
        attn_out = block.attn.out_proj(merge_heads(_tensor(record.z, model)))
        return relative_error(residual.attn_out, _array(attn_out))

    return max(map(error, model.blocks, trace.residuals, trace.attention))


def _feedforward_output(trace: Trace, model: DecoderTransformer) -> float:
    def error(block: Block, residual: ResidualRecord) -> float:
        x = block.placement.read(_tensor(residual.resid_mid, model), block.ffn_norm)
        return relative_error(residual.ffn_out, _array(block.ffn(x)))

    return max(map(error, model.blocks, trace.residuals))


def _residual_sums(trace: Trace, model: DecoderTransformer) -> float:
    def error(block: Block, residual: ResidualRecord) -> float:
        pre, attn_out, mid, ffn_out, post = (
            _tensor(getattr(residual, name), model) for name in RESIDUAL_NAMES
        )
        write = block.placement.write
        mid_error = relative_error(_array(mid), _array(write(pre, attn_out, block.attn_norm)))
        post_error = relative_error(_array(post), _array(write(mid, ffn_out, block.ffn_norm)))
        return max(mid_error, post_error)

    return max(map(error, model.blocks, trace.residuals))


def _layers_connect(trace: Trace, model: DecoderTransformer) -> float:
    pairs = zip(trace.residuals, trace.residuals[1:], strict=False)
    return max((relative_error(b.resid_pre, a.resid_post) for a, b in pairs), default=0.0)


def _logits_of_stream(trace: Trace, model: DecoderTransformer) -> float:
    resid = _tensor(trace.residuals[-1].resid_post, model)
    return relative_error(trace.logits, _array(model.unembed(model.final_norm(resid))))


def _capture_changes_nothing(
    trace: Trace, model: DecoderTransformer, mask: np.ndarray | None
) -> float:
    ids = _ids(trace, model)
    given = None if mask is None else torch.tensor(mask, device=ids.device)
    return relative_error(trace.logits, _array(model(ids, mask=given)))


def _cached_is_whole(trace: Trace, model: DecoderTransformer) -> float:
    """Half of the text at once, then all but the last token, then that one: three passes."""
    ids = _ids(trace, model)
    seq_len = ids.shape[1]
    at_once = max(seq_len // 2, SEEING_AHEAD[model.config.mask](model.config))
    stops = sorted({min(stop, seq_len) for stop in (at_once, max(at_once, seq_len - 1), seq_len)})
    cache = KVCache(model.config, seq_len, device=ids.device, dtype=model.embed.weight.dtype)
    pieces = [model(ids[:, cache.length : stop], cache=cache) for stop in stops if stop > 0]
    return relative_error(trace.logits, _array(torch.cat(pieces, dim=1)))


def _device(model: DecoderTransformer) -> torch.device:
    return next(model.parameters()).device


def _ids(trace: Trace, model: DecoderTransformer) -> Tensor:
    return torch.tensor(trace.ids, device=_device(model))[None]


def _tensor(x: np.ndarray, model: DecoderTransformer) -> Tensor:
    return torch.tensor(x, device=_device(model))[None]


def _array(x: Tensor) -> np.ndarray:
    return x[0].cpu().numpy()


RecordCheck = Callable[[AttentionRecord], float]
ModelCheck = Callable[[Trace, DecoderTransformer], float]

ATTENTION_CHECKS: tuple[tuple[str, float, RecordCheck], ...] = (
    ("each row of the pattern sums to one", 1e-6, _row_sums),
    ("masked cells are exactly zero", 0.0, _masked_cells),
    (
        "scores = q·kᵀ/√d_head + bias, in float64",
        1e-5,
        lambda record: relative_error(record.scores, recomputed_scores(record)),
    ),
    (
        "pattern = softmax of the masked scores, in float64",
        1e-5,
        lambda record: relative_error(record.pattern, recomputed_pattern(record)),
    ),
    ("z = pattern·v, in float64", 1e-5, _weighted_values),
    ("explicit attention = torch's fused attention", 1e-5, _explicit_is_fused),
)

MODEL_CHECKS: tuple[tuple[str, float, ModelCheck], ...] = (
    ("embeddings and positions are the model's own", 1e-6, _embedding),
    ("embed + positions = resid_pre of layer 0", 1e-6, _input_sum),
    ("q, k, v = this model's projections of its residual stream", 1e-5, _projections),
    ("attn_out = out_proj(z)", 1e-5, _attention_output),
    ("ffn_out = feed-forward of resid_mid", 1e-5, _feedforward_output),
    ("resid_mid and resid_post are the residual sums", 1e-6, _residual_sums),
    ("each layer starts where the one before ended", 0.0, _layers_connect),
    ("logits = unembed(final_norm(resid_post))", 1e-5, _logits_of_stream),
)
UNCAPTURED = "logits with capture = logits without"
CACHED = "cached decoding = whole-sequence decoding"
