"""A circuit as a part: edges of two texts from the words to the answer, and what they keep."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from model.analysis.metrics import DIFFERENCE
from model.analysis.paths.circuit import Circuit
from model.analysis.paths.edges import Cut, Exact
from model.analysis.paths.kept import Curve, on_ways
from model.analysis.paths.terms import HEAD, KIND, LAYER, MLP
from model.trace import Trace
from viz.kit.part import Part
from viz.kit.wire import Data, Settings, axis_labels, finite
from viz.labels import token_labels

MOST_DRAWN = 100  # edges
STATE = {"edges": 40, "edge": "", "which": "strongest"}


def circuit_part(
    trace: Trace,
    second: Sequence[str],
    circuit: Circuit,
    name: Callable[[int], str],
    settings: Settings | None = None,
    *,
    key: str = "circuit",
    can_prune: bool = False,
) -> Part:
    """What is found so far. trace: the run of the text that is explained.

    second: the tokens of the other text; name: what a token is called by its id; can_prune: whether
    somebody prunes where `which` is chosen so.
    """
    paths, metric = circuit.paths, circuit.paths.pair.metric
    labels = token_labels(trace.tokens)
    strongest, pruned, share = circuit.strongest, circuit.pruned, finite(circuit.share)
    heads = _heads([strongest, pruned])
    spec = {
        "key": key,
        "labels": labels,
        "axis": axis_labels(labels),
        "other": token_labels(second),
        "tokens": [list(trace.tokens), list(second)],
        "answer": name(metric.answer),
        "against": name(metric.other) if metric.kind == DIFFERENCE else "",
        "of_first": finite(paths.whole),
        "n_layers": len(paths.base.q),
        "n_heads": paths.n_heads,
        "n_all": circuit.all.n_all,
        "n_kept": len(circuit.all.edges),
        "strongest": {
            **_edges(strongest, np.arange(len(strongest.edges))[:MOST_DRAWN], name),
            "from": _begins(circuit.curve, min(MOST_DRAWN, len(strongest.edges)), paths.n_heads),
        },
        "pruned": share
        and {
            "share": share,
            "is_done": pruned.is_done,
            **_edges(pruned, _largest(pruned), name),
        },
        "can_prune": can_prune,
        "curve": {"sizes": circuit.curve.sizes, "shares": list(map(finite, circuit.curve.shares))},
        "correlation": finite(strongest.correlation),
        "heads": heads,
    }
    records, n = trace.groups[0].records, len(labels)
    patterns, masks = (
        np.zeros((1 + len(heads), n, n), np.float32),
        np.ones((1 + len(heads), n, n), bool),
    )
    for at, (layer, head) in enumerate(heads):
        patterns[at], masks[at] = records[layer].pattern[head], records[layer].mask_of(head)
    arrays = {"patterns": patterns, "masks": masks}
    state = settings or {"which": "pruned" if share else "strongest"}
    return Part("circuit", spec, {**STATE, **state}, arrays, dict.fromkeys(arrays, 1))


def _largest(exact: Exact) -> np.ndarray:
    """The numbers of the edges with the largest effects."""
    return np.argsort(-np.abs(exact.values), kind="stable")[:MOST_DRAWN]


def _heads(found: Sequence[Exact]) -> list[list[int]]:
    """The heads that edges lead into, (layer, head) each."""
    edges = np.concatenate([one.edges for one in found])
    into = edges[edges[:, KIND] < MLP][:, [LAYER, HEAD]]
    return np.unique(into, axis=0).tolist()


def _edges(exact: Exact, drawn: np.ndarray, name: Callable[[int], str]) -> Data:
    """Edges by their places, with their effects or estimates, and what is likely without each.

    drawn: the numbers of those that are sent.
    """
    edges, values = exact.edges[drawn], exact.values[drawn]
    return {
        "n": len(exact.edges),
        "at": edges.tolist(),
        "effects": [finite(value) for value in values],
        "exact": exact.is_known[drawn].tolist(),
        "cuts": [_cut(exact.cuts.get(at), name) for at in drawn.tolist()],
    }


def _cut(cut: Cut | None, name: Callable[[int], str]) -> list[Any] | None:
    """Tokens, and how likely each is with and without an edge."""
    if cut is None:
        return None
    both = zip(cut.ids, cut.before, cut.after, strict=True)
    return [[name(token), finite(before), finite(after)] for token, before, after in both]


def _begins(curve: Curve, n: int, n_heads: int) -> list[int | None]:
    """Of n edges the smallest circuit of the curve in which each is on a whole way."""
    begins: list[int | None] = [None] * n
    for size in reversed(curve.sizes):
        for at in np.flatnonzero(on_ways(curve.edges[:size], n_heads)[:n]).tolist():
            begins[at] = size
    return begins
