"""Arrays as the browser fetches them: safetensors, every array (rows, columns)."""

import numpy as np
from safetensors.numpy import save

from model.analysis.summary import summarise_patterns
from model.trace import AttentionRecord, HeadGroup, Site


def head_arrays(record: AttentionRecord, head: int) -> dict[str, np.ndarray]:
    """What the browser computes a head from (q, k, v, mask, scale, bias), and its map.

    The scale is 1 × 1, in float64: what is computed from it must be as exact as the rest.
    """
    kv_head = record.kv_head(head)
    arrays = {
        "q": record.q[head],
        "k": record.k[kv_head],
        "v": record.v[kv_head],
        "mask": record.mask_of(head).astype(np.uint8),
        "scale": np.array([[record.scale]], np.float64),
        "pattern": record.pattern[head],
    }
    if record.bias is not None:
        arrays["bias"] = record.bias[head]
    return arrays


def summary_arrays(group: HeadGroup, how: str, over: str, index: int) -> dict[str, np.ndarray]:
    """Many heads in one map, and the cells that any of them may attend to.

    See `summarise_patterns`. Raises ValueError for a summary that does not exist.
    """
    patterns = [record.pattern for record in group.records]
    shape = patterns[0].shape
    masks = [np.broadcast_to(record.mask, shape) for record in group.records]
    mask = summarise_patterns(masks, "maximum", over, index)
    return {
        "pattern": summarise_patterns(patterns, how, over, index),
        "mask": mask.astype(np.uint8),
    }


def encoded(arrays: dict[str, np.ndarray]) -> bytes:
    """The arrays as a safetensors file."""
    return save({name: np.ascontiguousarray(array) for name, array in arrays.items()})


def head_address(key: str, site: Site, head: int) -> str:
    """Where a head is fetched from, as `headAddress` in arrays.js."""
    return f"live/arrays/{key}/head/{site.address}/{head}"
