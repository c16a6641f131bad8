"""A run as browsers have it: its streams, its heads, and the arrays of each by their addresses."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from model.analysis.heads import Role, measures, roles, sharpness, strongest_pair
from model.analysis.summary import SUMMARIES, summarise_patterns
from model.trace import AttentionKind, AttentionRecord, HeadGroup, Stream, Trace
from viz.kit.part import Shared
from viz.kit.tiles import MASKED, tiles
from viz.kit.wire import Data, finite, stream_data

OVER = ("layer", "head", "all")
GIVEN = "given"  # a stage nobody can follow: the weights came from elsewhere
_KEPT: WeakKeyDictionary[Trace, "RunData"] = WeakKeyDictionary()


class RunData(NamedTuple):
    """What is said of a run, and its arrays by name: `decoder.blocks.3.attn.q` is one of (H, …)."""

    about: Data
    arrays: dict[str, Shared]

    def named(self, prefix: str) -> dict[str, Shared]:
        """The arrays with something before their names, to tell those of several runs apart."""
        return {f"{prefix}{name}": array for name, array in self.arrays.items()}


@dataclass(frozen=True, eq=False)
class Summary:
    """Maps of many heads each, (n, Tq, Tk) float32, worked out when they are looked at."""

    patterns: Sequence[np.ndarray]  # of L layers, (H, Tq, Tk)
    how: str
    over: str
    dtype = np.dtype("<f4")

    @property
    def shape(self) -> tuple[int, int, int]:
        """A map for each layer, for each head, or one of all."""
        n_heads, rows, columns = self.patterns[0].shape
        return {"layer": len(self.patterns), "head": n_heads, "all": 1}[self.over], rows, columns

    def __getitem__(self, at: tuple[int]) -> np.ndarray:
        """One of them, (Tq, Tk); IndexError for none."""
        if len(at) != 1 or not 0 <= at[0] < self.shape[0]:
            raise IndexError(f"there is no {at} of {self.shape[0]}")
        found = summarise_patterns(self.patterns, self.how, self.over, at[0])
        return np.ascontiguousarray(found, self.dtype)


def run_data(trace: Trace) -> RunData:
    """A run for the browser, made once: of a long one that takes a while."""
    if trace not in _KEPT:
        groups, arrays = [], {}
        for group in trace.groups:
            about, its = _of_group(group, trace.stream(group.queries).ids)
            groups.append(about)
            arrays |= its
        _KEPT[trace] = RunData(_about(groups, trace.streams), arrays)
    return _KEPT[trace]


def patterns_data(layers: Sequence[np.ndarray], queries: Stream, keys: Stream) -> RunData:
    """Attention of which nothing is known but its weights: no mask, no model.

    layers: (H, Tq, Tk) each. keys: where they are the very stream of the queries, it is
    self-attention.
    """
    kind: AttentionKind = "self" if queries is keys else "cross"
    sites = [f"attention.{layer}" for layer in range(len(layers))]
    about = {
        "name": "attention",
        "title": "Attention",
        "kind": kind,
        "queries": queries.name,
        "keys": keys.name,
        "n_layers": len(layers),
        "n_heads": len(layers[0]),
        "sites": [_site_about(site, (GIVEN,)) for site in sites],
        **_by_layer([_words(layer, kind) for layer in layers]),
    }
    arrays = {"attention.tiles": Shared(np.stack([_tiles_of_numbers(layer) for layer in layers]))}
    for site, pattern in zip(sites, layers, strict=True):
        arrays[f"{site}.pattern"] = Shared(pattern, split=1, are_weights=True)
        arrays[f"{site}.mask"] = Shared(np.ones((1, *pattern.shape[1:]), bool), split=1)
    streams = (queries,) if queries is keys else (queries, keys)
    return RunData(_about([about], streams), arrays | _summaries("attention", layers))


def _about(groups: list[Data], streams: Sequence[Stream]) -> Data:
    known = {stream.name: stream_data(stream) for stream in streams}
    return {"streams": known, "groups": groups, "masked": MASKED}


def _of_group(group: HeadGroup, ids: np.ndarray | None) -> tuple[Data, dict[str, Shared]]:
    """The heads of one kind of attention, and their arrays."""
    layers = [_of_layer(record.in_full, ids) for record in group.records]
    about = {
        "name": group.name,
        "title": group.title,
        "kind": group.kind,
        "queries": group.queries,
        "keys": group.keys,
        "n_layers": len(group.records),
        "n_heads": group.n_heads,
        "sites": [_site_of(record) for record in group.records],
        **_by_layer([words for words, _ in layers]),
    }
    arrays = {f"{group.name}.tiles": Shared(np.stack([small for _, small in layers]))}
    for record in group.records:
        arrays |= _of_record(record)
    patterns = [record.pattern for record in group.records]
    return about, arrays | _summaries(group.name, patterns)


def _of_layer(record: AttentionRecord, ids: np.ndarray | None) -> tuple[Data, np.ndarray]:
    """What can be said of each head of a layer, and its small maps, (H, rows, columns)."""
    words = _words(record.pattern, record.site.kind)
    words["roles"] = [_role(role) for role in roles(measures(record, ids))]
    return words, tiles(record.pattern[None], record.mask[None])


def _words(patterns: np.ndarray, kind: AttentionKind) -> Data:
    """Of each head how sharp it is and its strongest pair, as query, key and weight."""
    pairs = [strongest_pair(pattern, kind) for pattern in patterns]
    return {
        "sharpness": [finite(value) for value in sharpness(patterns, kind)],
        "strongest": [[*pair, finite(patterns[head][pair])] for head, pair in enumerate(pairs)],
        "roles": [None] * len(patterns),
    }


def _by_layer(words: Sequence[Data]) -> Data:
    return {name: [layer[name] for layer in words] for name in words[0]}


def _role(role: Role | None) -> list[str | float] | None:
    return None if role is None else [role.name, role.value, role.n_queries]


def _tiles_of_numbers(pattern: np.ndarray) -> np.ndarray:
    """Small maps, (H, rows, columns), in which NaN and infinity are grey."""
    are_numbers = np.isfinite(pattern)
    if are_numbers.all():
        return tiles(pattern, np.ones((1, 1, 1), bool))
    return tiles(np.where(are_numbers, pattern, 0), are_numbers)


def _site_of(record: AttentionRecord) -> Data:
    sinks = None if record.sinks is None else record.sinks.astype(float).tolist()
    numbers = {"scale": float(record.scale), "softcap": record.softcap, "sinks": sinks}
    return _site_about(record.site.address, record.stages) | numbers


def _site_about(address: str, stages: Sequence[str]) -> Data:
    """How the weights of a layer came about; numbers as JSON has them, in float64."""
    numbers = {"scale": None, "softcap": None, "sinks": None}
    return {"address": address, "stages": list(stages), **numbers}


def _of_record(record: AttentionRecord) -> dict[str, Shared]:
    """q, k, v, bias, masks and weights of a layer, each head by itself."""
    arrays: dict[str, Any] = {name: getattr(record, name) for name in ("q", "k", "v", "bias")}
    arrays["mask"] = record.mask if record.mask.ndim == 3 else record.mask[None]
    arrays["pattern"] = record.pattern
    address = record.site.address
    return {
        f"{address}.{name}": Shared(array, split=1, are_weights=name == "pattern")
        for name, array in arrays.items()
        if array is not None
    }


def _summaries(group: str, patterns: Sequence[np.ndarray]) -> dict[str, Shared]:
    return {
        f"{group}.{how}.{over}": Shared(Summary(patterns, how, over), split=1, are_weights=True)
        for how in SUMMARIES
        for over in OVER
    }
