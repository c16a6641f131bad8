"""A trace as a file that any numpy can read."""

import json
from typing import BinaryIO

import numpy as np

from model.capture import Trace


def write_npz(trace: Trace, file: BinaryIO) -> None:
    """Write all arrays of a trace, and its config as JSON text, as an .npz file."""
    config = np.array(json.dumps(trace.config.to_dict()))
    arrays = {"config": config, **dict(trace.arrays())}
    np.savez(file, allow_pickle=False, **arrays)
