"""The whole self-check of a trace: its records, and through the model where there is one."""

import numpy as np

from model import reference
from model.architectures.base import Transformer
from model.architectures.table import architecture
from model.trace import Trace
from model.verify.check import Check
from model.verify.independent import check_independently
from model.verify.records import check_records


def check(
    trace: Trace,
    model: Transformer | None = None,
    mask: np.ndarray | None = None,
    files: reference.Files | None = None,
) -> tuple[Check, ...]:
    """All checks of one trace: through the model it came from and against its files, if given.

    mask: the (T, T) mask it was captured under, if not the model's own.
    """
    found = check_records(trace)
    if model is not None:
        found += architecture(model.config.architecture).check(trace, model, mask)
    if files is not None:
        found += check_independently(trace, files, mask)
    return found
