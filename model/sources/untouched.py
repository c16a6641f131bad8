"""A second copy of a model, as transformers itself reads and runs it, beside what was seen."""

import torch

from model.adopted.model import output_of
from model.memory import physical_memory
from model.records import to_numpy
from model.sources.adopted import BOUND, Adopted
from model.sources.transformers import as_transformers_reads
from model.trace import Trace
from model.verify.check import Check, relative_error

NAME = "= transformers' own, a second copy of the model with nothing of ours attached"


@torch.inference_mode()
def check_untouched(loaded: Adopted, trace: Trace) -> tuple[Check, ...]:
    """The output of a text against that of the copy; nothing where memory has no room for two."""
    model = loaded.model
    if 2 * sum(4 * weight.numel() for weight in model.parameters()) > physical_memory():
        return ()
    copy, _ = as_transformers_reads(type(model.inner), loaded.folder)
    rows = trace.given if isinstance(trace.given, tuple) else (trace.given,)
    ids = [torch.tensor([row.tolist()], device=model.device) for row in rows]
    given = zip(("input_ids", "decoder_input_ids"), ids, strict=False)
    expected = to_numpy(output_of(copy.to(model.device)(**dict(given))))[0]
    what, own = "logits", trace.output
    if own is None:
        what, own = "last vectors", to_numpy(model(ids[0]))[0]
    return (Check(f"{what} {NAME}", relative_error(own, expected), BOUND),)
