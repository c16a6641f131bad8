"""The whole self-check of a trace: its records, and through the model where there is one."""

import numpy as np

from model.architectures.base import Transformer
from model.architectures.table import architecture
from model.trace import Trace
from model.verify.check import Check
from model.verify.records import check_records


def check(
    trace: Trace, model: Transformer | None = None, mask: np.ndarray | None = None
) -> tuple[Check, ...]:
    """All checks of one trace, and through the model it came from, if it is given.

    mask: the (T, T) mask it was captured under, if not the model's own.
    """
    records = check_records(trace)
    if model is None:
        return records
    return (*records, *architecture(model.config.architecture).check(trace, model, mask))
