"""One head's arrays as the browser takes them: safetensors, every array (rows, columns)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from safetensors.numpy import save

if TYPE_CHECKING:  # it brings torch, for which the server does not wait
    from model.trace import AttentionRecord


def head_arrays(record: AttentionRecord, head: int) -> dict[str, np.ndarray]:
    """What the browser computes a head from (q, k, v, mask, bias), and what it compares with."""
    group = len(record.q) // len(record.k)
    arrays = {
        "q": record.q[head],
        "k": record.k[head // group],
        "v": record.v[head // group],
        "mask": record.mask.astype(np.uint8),
        "scores": record.scores[head],
        "pattern": record.pattern[head],
        "z": record.z[head],
    }
    if record.bias is not None:
        arrays["bias"] = record.bias[head]
    return arrays


def encoded(arrays: dict[str, np.ndarray]) -> bytes:
    """The arrays as a safetensors file."""
    return save({name: np.ascontiguousarray(array) for name, array in arrays.items()})


def head_address(key: str, layer: int, head: int) -> str:
    """Where a head is fetched from, as `headAddress` in arrays.js."""
    return f"live/arrays/{key}/head/{layer}/{head}"
