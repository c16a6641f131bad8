"""Checks of a decoder's trace through the model it came from."""

import numpy as np
import torch

from model.architectures.decoder import DecoderTransformer
from model.decoding.kv_cache import KVCache
from model.masks import bidirectional_prefix
from model.trace import Trace
from model.verify.check import Check, relative_error
from model.verify.stack import CACHED, LOGITS, UNCAPTURED, Part, array_of, check_stacks


@torch.inference_mode()
def check_decoder(
    trace: Trace, model: DecoderTransformer, mask: np.ndarray | None = None
) -> tuple[Check, ...]:
    """Checks of one trace through the decoder it came from.

    mask: the (T, T) mask it was captured under, if not the model's own. Then nothing is said of
    cached decoding, which has no meaning where a token may attend to what comes after it.
    """
    ids = torch.tensor(trace.ids, device=model.device)[None]  # (1, T)
    part = Part(model, trace, ids)
    given = None if mask is None else torch.tensor(mask, device=model.device)
    found = {
        LOGITS: relative_error(trace.logits, array_of(model.unembed(part.final_stream))),
        UNCAPTURED: relative_error(trace.logits, array_of(model(ids, mask=given))),
    }
    if mask is None:
        found[CACHED] = _cached_is_whole(part, model)
    return (*check_stacks([part]), *(Check(name, error, 1e-5) for name, error in found.items()))


def _cached_is_whole(part: Part, model: DecoderTransformer) -> float:
    """Half of the text at once, then all but the last token, then that one: three passes."""
    ids = part.given
    seq_len = ids.shape[1]
    at_once = max(seq_len // 2, bidirectional_prefix(model.config))
    stops = sorted({min(stop, seq_len) for stop in (at_once, max(at_once, seq_len - 1), seq_len)})
    cache = KVCache(model.config, seq_len, device=ids.device, dtype=model.dtype)
    pieces = [model(ids[:, cache.length : stop], cache=cache) for stop in stops if stop > 0]
    return relative_error(part.trace.logits, array_of(torch.cat(pieces, dim=1)))
