"""A trace as a file that any numpy can read."""

import json
from dataclasses import asdict
from typing import BinaryIO

import numpy as np

from model.trace import Trace


def write_npz(trace: Trace, file: BinaryIO) -> None:
    """Write all arrays of a trace by address, and its facts as JSON text, as an .npz file."""
    facts = np.array(json.dumps(asdict(trace.facts)))
    np.savez(file, allow_pickle=False, **{"facts": facts, **dict(trace.arrays())})
