"""Checks of a decoder's trace through the model it came from.

What needs weights is recomputed by the model's own modules from the traced inputs. Nothing here
reads a value it is checking.
"""

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from model.architectures.decoder import DecoderTransformer
from model.attention import merge_heads
from model.blocks import Block
from model.decoding.kv_cache import KVCache
from model.masks import bidirectional_prefix
from model.tap import Recorder, attach
from model.trace import RESIDUAL_NAMES, AttentionRecord, ResidualRecord, Trace
from model.verify.check import Check, relative_error


@torch.inference_mode()
def check_decoder(
    trace: Trace, model: DecoderTransformer, mask: np.ndarray | None = None
) -> tuple[Check, ...]:
    """Checks of one trace through the decoder it came from.

    mask: the (T, T) mask it was captured under, if not the model's own. Then nothing is said of
    cached decoding, which has no meaning where a token may attend to what comes after it.
    """
    through_model = [Check(name, error(trace, model), bound) for name, bound, error in MODEL_CHECKS]
    plain = Check(UNCAPTURED, _capture_changes_nothing(trace, model, mask), 1e-5)
    cached = () if mask is not None else (Check(CACHED, _cached_is_whole(trace, model), 1e-5),)
    return (*through_model, plain, *cached)


def _embedding(trace: Trace, model: DecoderTransformer) -> float:
    recorder = Recorder()
    model.embed_tokens(_ids(trace, model), attach(recorder))
    embed = relative_error(trace.embed, _array(recorder.values["embed"]))
    added = recorder.values.get("positions")
    expected = np.zeros_like(trace.positions) if added is None else added.cpu().numpy()
    return max(embed, relative_error(trace.positions, expected))


def _input_sum(trace: Trace, model: DecoderTransformer) -> float:
    return relative_error(trace.residuals[0].resid_pre, trace.embed + trace.positions)


def _projections(trace: Trace, model: DecoderTransformer) -> float:
    positions = torch.arange(len(trace.ids), device=model.device)
    errors = []
    for block, residual, record in zip(model.blocks, trace.residuals, trace.attention, strict=True):
        x = block.placement.read(_tensor(residual.resid_pre, model), block.attn_norm)
        q = block.attn.project_queries(x, model.position, positions)
        k = block.attn.project_keys(x, model.position, positions)
        projected = {"q": q, "k": k, "v": block.attn.project_values(x)}
        errors += [
            relative_error(getattr(record, name), _array(x)) for name, x in projected.items()
        ]
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
    at_once = max(seq_len // 2, bidirectional_prefix(model.config))
    stops = sorted({min(stop, seq_len) for stop in (at_once, max(at_once, seq_len - 1), seq_len)})
    cache = KVCache(model.config, seq_len, device=ids.device, dtype=model.dtype)
    pieces = [model(ids[:, cache.length : stop], cache=cache) for stop in stops if stop > 0]
    return relative_error(trace.logits, _array(torch.cat(pieces, dim=1)))


def _ids(trace: Trace, model: DecoderTransformer) -> Tensor:
    return torch.tensor(trace.ids, device=model.device)[None]


def _tensor(x: np.ndarray, model: DecoderTransformer) -> Tensor:
    return torch.tensor(x, device=model.device)[None]


def _array(x: Tensor) -> np.ndarray:
    return x[0].cpu().numpy()


ModelCheck = Callable[[Trace, DecoderTransformer], float]

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
