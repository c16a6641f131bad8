"""A circuit as a part: edges of two texts from the words to the answer, and what they keep."""

from collections.abc import Callable, Sequence

import numpy as np

from model.analysis.metrics import DIFFERENCE
from model.analysis.paths.circuit import Circuit
from model.analysis.paths.edges import Cut, Exact
from model.analysis.paths.kept import Curve, on_ways
from model.analysis.paths.terms import HEAD, KIND, LAYER, MLP
from model.trace import Trace
from viz.kit.part import Part
from viz.kit.wire import Data, Settings, axis_labels, finite, stream_looks
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
    strongest, pruned, share = circuit.strongest, circuit.pruned, finite(circuit.share)
    heads = _heads([strongest, pruned])
    first, largest = np.arange(len(strongest.edges))[:MOST_DRAWN], _largest(pruned)
    begins = _begins(circuit.curve, len(first), paths.n_heads)
    spec = {
        "key": key,
        **_texts(trace.tokens, second),
        "looks": stream_looks(trace.main),
        "answer": name(metric.answer),
        "against": name(metric.other) if metric.kind == DIFFERENCE else "",
        "of_first": finite(paths.whole),
        "n_layers": len(paths.base.q),
        "n_heads": paths.n_heads,
        "n_all": circuit.all.n_all,
        "n_kept": len(circuit.all.edges),
        "strongest": _listed(strongest, first, name),
        "pruned": share
        and {**_listed(pruned, largest, name), "share": share, "is_done": pruned.is_done},
        "can_prune": can_prune,
        "correlation": finite(strongest.correlation),
    }
    pieces = _attention(trace, heads)
    arrays = {
        **pieces,
        "heads": heads,
        "curve": np.array([circuit.curve.sizes, circuit.curve.shares]).T,
        "strongest_edges": _table(strongest, first, begins),
        "strongest_cuts": _chances(strongest, first),
        "pruned_edges": _table(pruned, largest, np.zeros(len(largest))),
        "pruned_cuts": _chances(pruned, largest),
    }
    state = settings or {"which": "pruned" if share else "strongest"}
    return Part("circuit", spec, {**STATE, **state}, arrays, dict.fromkeys(pieces, 1))


def _texts(tokens: Sequence[str], second: Sequence[str]) -> Data:
    """Both texts, as they are and as they are drawn."""
    labels = token_labels(tokens)
    said = {"labels": labels, "axis": axis_labels(labels), "other": token_labels(second)}
    return {**said, "tokens": [list(tokens), list(second)]}


def _largest(exact: Exact) -> np.ndarray:
    """The numbers of the edges with the largest effects."""
    return np.argsort(-np.abs(exact.values), kind="stable")[:MOST_DRAWN]


def _heads(found: Sequence[Exact]) -> np.ndarray:
    """The heads that edges lead into, layer and head of each, (n, 2)."""
    edges = np.concatenate([one.edges for one in found])
    into = edges[edges[:, KIND] < MLP][:, [LAYER, HEAD]]
    return np.unique(into, axis=0)


def _attention(trace: Trace, heads: np.ndarray) -> dict[str, np.ndarray]:
    """Weights and masks of heads, (n + 1, T, T): there may be none, so the last are of no head."""
    records, shape = trace.groups[0].records, (len(heads) + 1, *[len(trace.tokens)] * 2)
    patterns, masks = np.zeros(shape, np.float32), np.ones(shape, bool)
    for at, (layer, head) in enumerate(heads):
        patterns[at], masks[at] = records[layer].pattern[head], records[layer].mask_of(head)
    return {"patterns": patterns, "masks": masks}


def _listed(exact: Exact, drawn: np.ndarray, name: Callable[[int], str]) -> Data:
    """How many edges there are, and what is likely with or without those that are drawn."""
    return {"n": len(exact.edges), "cuts": _names(exact, drawn, name)}


def _table(exact: Exact, drawn: np.ndarray, begins: np.ndarray) -> np.ndarray:
    """Of each edge its place, its effect or estimate, whether that is exact, and from how many
    edges on it is on a whole way, (n, 9).
    """
    about = exact.values[drawn], exact.is_known[drawn], begins
    return np.column_stack([exact.edges[drawn], *about]).astype(float)


def _cuts(exact: Exact, drawn: np.ndarray) -> list[Cut | None]:
    return [exact.cuts.get(at) for at in drawn.tolist()]


def _names(exact: Exact, drawn: np.ndarray, name: Callable[[int], str]) -> list[list[str] | None]:
    """The tokens that are likely with or without each edge, as far as that is known."""
    return [cut and [name(token) for token in cut.ids] for cut in _cuts(exact, drawn)]


def _chances(exact: Exact, drawn: np.ndarray) -> np.ndarray:
    """How likely each of these tokens is with and without the edge, edge after edge, (n, 2)."""
    pairs = [[cut.before, cut.after] for cut in _cuts(exact, drawn) if cut]
    return np.concatenate([np.zeros((2, 0)), *map(np.array, pairs)], axis=1, dtype=np.float32).T


def _begins(curve: Curve, n: int, n_heads: int) -> np.ndarray:
    """Of n edges the smallest circuit of the curve in which each is on a whole way, (n,); or ∞."""
    begins = np.full(n, np.inf)
    for size in reversed(curve.sizes):
        begins[on_ways(curve.edges[:size], n_heads)[:n].nonzero()] = size
    return begins
