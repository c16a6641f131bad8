"""Arrays as the browser fetches them: safetensors, every array (rows, columns)."""

import numpy as np
from safetensors.numpy import save

from model.analysis.summary import summarise_patterns
from model.trace import AttentionRecord, HeadGroup, Site


def head_arrays(record: AttentionRecord, head: int) -> dict[str, np.ndarray]:
    """What the browser computes the steps of a head from, and its map, as it ran.

    Numbers are 1 × 1, in float64: what is computed from them must be as exact as the rest.
    """
    kv_head = record.kv_head(head)
    arrays = {
        "q": record.q[head],
        "k": record.k[kv_head],
        "v": record.v[kv_head],
        "mask": record.mask_of(head).astype(np.uint8),
        "scale": _number(record.scale),
        "pattern": record.pattern[head],
    }
    if record.bias is not None:
        arrays["bias"] = record.bias[head]
    if record.softcap is not None:
        arrays["softcap"] = _number(record.softcap)
    if record.sinks is not None:
        arrays["sink"] = _number(record.sinks[head])
    return arrays


def _number(number: float) -> np.ndarray:
    return np.array([[number]], np.float64)


def encoded_head(record: AttentionRecord, head: int) -> bytes:
    """A head as a safetensors file, which says by which stages its weights came about."""
    return encoded(head_arrays(record, head), {"stages": ",".join(record.stages)})


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


def encoded(arrays: dict[str, np.ndarray], about: dict[str, str] | None = None) -> bytes:
    """The arrays as a safetensors file, with words about them."""
    whole = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    return save(whole, metadata=about)


def head_address(key: str, site: Site, head: int) -> str:
    """Where a head is fetched from, as `headAddress` in arrays.js."""
    return f"live/arrays/{key}/head/{site.address}/{head}"
