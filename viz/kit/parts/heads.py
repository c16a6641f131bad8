"""All heads of a run as small maps, and the chosen one as a large one."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from model.trace import AttentionRecord, HeadGroup, Trace
from viz.kit.part import Part
from viz.kit.tiles import MASKED, group_about, group_tiles
from viz.kit.wire import stream_data


def heads_part(trace: Trace, chosen: Mapping[str, Any] | None = None) -> Part:
    """The heads of a trace; `chosen` may name attention, layer, head and cell, (query, key)."""
    spec = {
        "groups": [group_about(group) for group in trace.groups],
        "streams": {stream.name: stream_data(stream) for stream in trace.streams},
        "tile_codes": {"masked": MASKED},
    }
    arrays: dict[str, np.ndarray] = {}
    for group in trace.groups:
        arrays |= _arrays(group)
    split = {name: 0 if name.endswith("tiles") else 1 for name in arrays}
    start = {"attention": trace.groups[0].name, "layer": 0, "head": 0, "cell": None}
    return Part("heads", spec, {**start, **(chosen or {})}, arrays, split)


def _arrays(group: HeadGroup) -> dict[str, np.ndarray]:
    """Small maps of all heads, (L, H, rows, columns), and of each layer patterns and masks."""
    small = group_tiles(group)
    arrays = {f"{group.name} tiles": small.reshape(-1, group.n_heads, *small.shape[1:])}
    for layer, record in enumerate(group.records):
        arrays[f"{group.name} {layer} pattern"] = record.pattern
        arrays[f"{group.name} {layer} mask"] = _masks(record)
    return arrays


def _masks(record: AttentionRecord) -> np.ndarray:
    """(1 or H, Tq, Tk): one mask for all heads, or one for each."""
    return record.mask if record.mask.ndim == 3 else record.mask[None]
