"""Checks of a translation's trace through the encoder-decoder it came from."""

import numpy as np
import torch

from model.architectures.encoder_decoder import DECODER, ENCODER, EncoderDecoderTransformer
from model.decoding.kv_cache import KVCache
from model.trace import Trace
from model.verify.check import Check, relative_error
from model.verify.stack import CACHED, LOGITS, UNCAPTURED, Part, array_of, check_stacks


@torch.inference_mode()
def check_encoder_decoder(
    trace: Trace, model: EncoderDecoderTransformer, mask: np.ndarray | None = None
) -> tuple[Check, ...]:
    """Checks of one trace through the model it came from. ValueError where a mask is given."""
    if mask is not None:
        raise ValueError("a translation runs under its own masks; leave the mask out")
    source, target = (
        torch.tensor(trace.stream(name).ids, device=model.device)[None]
        for name in (ENCODER, DECODER)
    )
    encoder = Part(model.encoder, trace, source)
    decoder = Part(model.decoder, trace, target, memory=encoder.final_stream)
    found = {
        LOGITS: model.unembed(decoder.final_stream),
        UNCAPTURED: model(source, target),
        CACHED: _one_by_one(model, source, target),
    }
    errors = {name: relative_error(trace.logits, array_of(x)) for name, x in found.items()}
    checks = (Check(name, error, 1e-5) for name, error in errors.items())
    return (*check_stacks([encoder, decoder]), *checks)


def _one_by_one(
    model: EncoderDecoderTransformer, source: torch.Tensor, target: torch.Tensor
) -> torch.Tensor:
    """Logits (1, Tt, V) over a cache, one token of the target after the other."""
    memory = model.encode(source)
    cache = KVCache(model.config, target.shape[1], device=model.device, dtype=model.dtype)
    return torch.cat(
        [model.decode(one, memory, cache=cache) for one in target.split(1, dim=1)], dim=1
    )
