"""All heads of a run as small maps, and the chosen one as a large one."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from model.trace import AttentionRecord, HeadGroup, Stream, Trace
from viz.kit.part import Part
from viz.kit.tiles import MASKED, group_about, group_tiles, tiles
from viz.kit.wire import Data, stream_data


def heads_part(trace: Trace, chosen: Mapping[str, Any] | None = None) -> Part:
    """The heads of a trace; `chosen` may name attention, layer, head and cell, (query, key)."""
    arrays: dict[str, np.ndarray] = {}
    for group in trace.groups:
        arrays |= _arrays(group)
    return _part([group_about(group) for group in trace.groups], trace.streams, arrays, chosen)


def patterns_part(layers: Sequence[np.ndarray], queries: Stream, keys: Stream) -> Part:
    """Attention of which nothing is known but its weights: no mask, no model.

    layers: (H, Tq, Tk) each; read one by one, since they may be large.
    keys: where they are the very stream of the queries, it is self-attention.
    """
    about = {
        "name": "attention",
        "title": "Attention",
        "kind": "self" if queries is keys else "cross",
        "queries": queries.name,
        "keys": keys.name,
        "n_layers": len(layers),
        "n_heads": len(layers[0]),
        "sites": [],
    }
    arrays = {"attention tiles": np.stack([_tiles_of_numbers(layer) for layer in layers])}
    for layer, pattern in enumerate(layers):
        arrays[f"attention {layer} pattern"] = pattern
        arrays[f"attention {layer} mask"] = np.ones((1, *pattern.shape[1:]), bool)
    return _part([about], (queries, keys), arrays)


def _tiles_of_numbers(pattern: np.ndarray) -> np.ndarray:
    """Small maps, (H, rows, columns), in which NaN and infinity are grey."""
    are_numbers = np.isfinite(pattern)
    return tiles(np.where(are_numbers, pattern, 0), are_numbers)


def _part(
    groups: Sequence[Data],
    streams: Iterable[Stream],
    arrays: Mapping[str, np.ndarray],
    chosen: Mapping[str, Any] | None = None,
) -> Part:
    spec = {
        "groups": groups,
        "streams": {stream.name: stream_data(stream) for stream in streams},
        "tile_codes": {"masked": MASKED},
    }
    split = {name: 0 if name.endswith("tiles") else 1 for name in arrays}
    start = {"attention": groups[0]["name"], "layer": 0, "head": 0, "cell": None}
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
