"""Checks of the trace of an encoder, over text or patches, through the model it came from."""

import numpy as np
import torch
from torch import Tensor

from model.architectures.encoder import EncoderTransformer
from model.architectures.vision import VisionTransformer
from model.trace import Trace
from model.verify.check import Check, relative_error
from model.verify.stack import LOGITS, UNCAPTURED, Part, array_of, check_stacks

CLASS_LOGITS = "logits = unembed(final_norm(resid_post)) of the class token"


@torch.inference_mode()
def check_encoder(
    trace: Trace, model: EncoderTransformer, mask: np.ndarray | None = None
) -> tuple[Check, ...]:
    """Checks of one trace through the encoder it came from.

    mask: the (T, T) mask it was captured under, if not the model's own.
    """
    part = Part(model, trace, torch.tensor(trace.ids, device=model.device)[None])
    logits = model.unembed(part.final_stream)
    return _checks(
        part, LOGITS, array_of(logits), array_of(model(part.given, mask=_given(mask, part)))
    )


@torch.inference_mode()
def check_vision(
    trace: Trace, model: VisionTransformer, mask: np.ndarray | None = None
) -> tuple[Check, ...]:
    """The same of a vision model: its logits are read from the class token alone."""
    part = Part(model, trace, torch.tensor(trace.given, device=model.device)[None])
    logits = model.unembed(part.final_stream[:, 0])  # (1, C)
    again = model(part.given, mask=_given(mask, part))
    return _checks(part, CLASS_LOGITS, logits.cpu().numpy(), again.cpu().numpy())


def _checks(part: Part, name: str, logits: np.ndarray, uncaptured: np.ndarray) -> tuple[Check, ...]:
    found = {name: logits, UNCAPTURED: uncaptured}
    errors = {name: relative_error(part.trace.logits, x) for name, x in found.items()}
    return (*check_stacks([part]), *(Check(name, error, 1e-5) for name, error in errors.items()))


def _given(mask: np.ndarray | None, part: Part) -> Tensor | None:
    return None if mask is None else torch.tensor(mask, device=part.stack.device)
