"""Edges: all of them estimated, layer by layer, and exact effects of some."""

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from model.analysis.branching import MOST_AT_ONCE, check_gradients, logits_at
from model.analysis.interventions import n_at_once
from model.analysis.paths.terms import (
    ANSWER,
    HEAD,
    KEY,
    KIND,
    LAYER,
    MLP,
    QUERY,
    WRITER,
    K,
    Paths,
    Q,
    V,
)
from model.attention import attention_pattern
from model.tap import Gradients, attach
from model.work import Work

MOST_EDGES = 20_000  # of the strongest, which are kept
MOST_CELLS = 60_000_000  # of the estimates of one kind in one layer
MOST_EXPONENT = 80.0  # beyond which e^x leaves float32


class Edges(Work):
    """All edges that carry something, estimated layer by layer from the last; the strongest stay.

    edges: (N, 6), as LAYER to WRITER name their columns, the strongest first. estimates: (N,).
    n_all: how many there are so far. An edge into the answer has its exact effect.

    The slope of what follows times the exact change of the reader: norm, softmax and activation are
    computed, where Syed et al. 2023 take their slopes, too.
    """

    def __init__(self, paths: Paths) -> None:
        """ValueError for texts that are too long for it."""
        n, model = paths.n_tokens, paths.pair.model
        check_gradients(model, n)
        cells = paths.n_writers(len(paths.base.q)) * paths.n_heads * n**2
        if cells > MOST_CELLS:
            raise ValueError(
                f"the texts have {n} tokens; of this model edges are estimated for up to "
                f"{int(n * (MOST_CELLS / cells) ** 0.5)}: shorten them"
            )
        self.paths, self.n_all = paths, 0
        self.edges = np.empty((0, 6), np.int32)
        self.estimates = np.empty(0)
        self._live = paths.moved.abs().sum(dim=-1).cpu().numpy() > 0  # (W, T)
        self._slopes = _slopes(paths)
        self._left = list(range(len(paths.base.q)))
        self._take(*_into_answer(paths, self._live))

    @property
    def progress(self) -> float:
        """How many layers are estimated, 0 to 1."""
        return 1 - len(self._left) / len(self.paths.base.q)

    def go_on(self) -> bool:
        """Estimate all edges into the last layer that is left."""
        layer = self._left.pop()
        for kind, guess in _estimated(self.paths, self._slopes, layer):
            self._take(*self._those_there(layer, kind, guess))
        return bool(self._left)

    def _those_there(self, layer: int, kind: int, guess: np.ndarray) -> tuple[np.ndarray, ...]:
        """Those of the estimates that are of an edge; guess is as in `_estimated`.

        In the last layer the last token alone is read by anything.
        """
        n, is_last = self.paths.n_tokens, layer == len(self.paths.base.q) - 1
        read = np.tri(n, dtype=bool) if kind in (K, V) else np.ones(n, dtype=bool)
        if is_last:
            read[: n - 1] = False
        live = (
            self._live[: len(guess), None, None]
            if kind in (K, V)
            else self._live[: len(guess), None]
        )
        writer, head, query, *key = np.nonzero(np.broadcast_to(read & live, guess.shape))
        fixed = np.full_like(writer, layer), np.full_like(writer, kind)
        edges = np.stack([*fixed, head, query, key[0] if key else query, writer], axis=1)
        return edges, guess[(writer, head, query, *key)]

    def _take(self, edges: np.ndarray, estimates: np.ndarray) -> None:
        self.n_all += len(edges)
        every = np.concatenate([self.edges, edges])
        sizes = np.concatenate([self.estimates, estimates])
        strongest = np.argsort(-np.abs(sizes), kind="stable")[:MOST_EDGES]
        self.edges, self.estimates = every[strongest], sizes[strongest]


def _slopes(paths: Paths) -> dict[str, Tensor]:
    """∂metric/∂ every z (H, T, Dh) and ffn_out (T, D), by address: one run forward and back."""
    gradients, pair = Gradients(("z", "ffn_out")), paths.pair
    with torch.enable_grad():
        logits = logits_at(pair.model, pair.base, pair.metric.position, attach(gradients))
        slopes = gradients.of(pair.metric.of(logits)[0])
    return {address: slope[0] for address, slope in slopes.items()}


def _into_answer(paths: Paths, live: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Edges into the answer and their exact effects: no run is needed for them."""
    writers, last = np.flatnonzero(live[:, -1]), paths.n_tokens - 1
    edges = np.zeros((len(writers), 6), np.int32)
    edges[:, [LAYER, KIND, QUERY, KEY]] = len(paths.base.q), ANSWER, last, last
    edges[:, WRITER] = writers
    return edges, effects(paths, edges)


@torch.inference_mode()
def _estimated(
    paths: Paths, slopes: dict[str, Tensor], layer: int
) -> Iterator[tuple[int, np.ndarray]]:
    """Estimated effects of all edges into a layer, by the kind of their reader.

    Of q (W, H, T), of k and v (W, H, Tq, Tk), of the feed-forward (W, 1, T).
    """
    base, scale = paths.base, paths.base.scales[layer]
    own_q, own_k, own_v = base.q[layer], base.keys[layer], base.values[layer]
    at = slopes[paths.address(layer, "attn.z")]  # (H, T, Dh)
    pattern = attention_pattern(base.scores[layer])
    says = torch.einsum("htd,hsd->hts", at, own_v)  # what each value says of the answer
    rest = says - (at * base.z[layer]).sum(dim=-1, keepdim=True)
    streams = base.resid_pre[layer] + paths.moved[: paths.n_writers(layer)]
    q, k, v = paths.reads(layer, streams)  # (W, H, T, Dh)

    bent = base.scores[layer] + scale * torch.einsum("whtd,hsd->whts", q - own_q, own_k)
    yield Q, _numpy(-((attention_pattern(bent) - pattern) * says).sum(dim=-1))
    raised = scale * torch.einsum("htd,whsd->whts", own_q, k - own_k)
    gain = pattern * torch.expm1(raised.clamp(max=MOST_EXPONENT))
    yield K, _numpy(-gain / (1 + gain) * rest)
    yield V, _numpy(-pattern * torch.einsum("htd,whsd->whts", at, v - own_v))
    moved = paths.moved[: paths.n_writers(layer, MLP)]
    writer, token = moved.abs().sum(dim=-1).nonzero(as_tuple=True)
    change = paths.feeds(layer, base.resid_mid[layer][token] + moved[writer, token])
    slope = slopes[paths.address(layer, "ffn_out")][token]
    guess = moved.new_zeros(len(moved), 1, paths.n_tokens)
    guess[writer, 0, token] = -((change - base.ffn_out[layer][token]) * slope).sum(dim=-1)
    yield MLP, _numpy(guess)


def _numpy(value: Tensor) -> np.ndarray:
    return value.double().cpu().numpy()


# --- exact --------------------------------------------------------------------------------------


def effects(paths: Paths, edges: np.ndarray) -> np.ndarray:
    """What the answer loses when each of these edges alone carries the other text's term, (N,)."""
    found = np.zeros(len(edges))
    is_mlp = edges[:, KIND] == MLP
    for layer in np.unique(edges[:, LAYER]):
        for of_mlp in (False, True):
            mine = np.flatnonzero((edges[:, LAYER] == layer) & (is_mlp == of_mlp))
            size = n_at_once(paths.pair.base, MOST_AT_ONCE)
            for first in range(0, len(mine), size):
                some = mine[first : first + size]
                found[some] = paths.whole - _metrics(paths, edges[some])
    return found


@torch.inference_mode()
def _metrics(paths: Paths, edges: np.ndarray) -> np.ndarray:
    """The metric with each of these edges moved alone, all into one kind of part of one layer."""
    layer, kind = edges[0, [LAYER, KIND]]
    if kind == ANSWER:
        return _numpy(paths.score(paths.base.last[-1] + paths.moved[edges[:, WRITER], -1]))
    if kind == MLP:
        part, new = "ffn_out", _fed(paths, edges)
        places = [(query,) for query in edges[:, QUERY].tolist()]
    else:
        part, new = "attn.z", changed_z(paths, edges)
        places = [tuple(x) for x in edges[:, [HEAD, QUERY]].tolist()]
    addresses = [paths.address(layer, part)] * len(edges)
    changes = list(zip(places, new, strict=True))
    return _numpy(paths.pair.metric.of(paths.branches.logits(addresses, changes)))


def _fed(paths: Paths, edges: np.ndarray) -> Tensor:
    """What the feed-forward writes at each edge's token once the edge has moved, (N, D)."""
    layer, token, writer = edges[0, LAYER], edges[:, QUERY], edges[:, WRITER]
    return paths.feeds(layer, paths.base.resid_mid[layer][token] + paths.moved[writer, token])


def changed_z(paths: Paths, edges: np.ndarray) -> Tensor:
    """z of each edge's head at its query once the edge has moved, (N, Dh); edges into q, k, v."""
    base, layer = paths.base, edges[0, LAYER]
    writers, rows = np.unique(edges[:, WRITER], return_inverse=True)
    made = paths.reads(layer, base.resid_pre[layer] + paths.moved[writers])
    own = base.q[layer], base.keys[layer], base.values[layer]
    scores = base.scores[layer][edges[:, HEAD], edges[:, QUERY]].clone()  # (N, T)
    added = torch.zeros_like(own[V][0, 0]).repeat(len(edges), 1)  # (N, Dh)
    for kind in (Q, K, V):
        of = np.flatnonzero(edges[:, KIND] == kind)
        head, query, key = edges[of][:, [HEAD, QUERY, KEY]].T
        change = made[kind][rows[of], head, key] - own[kind][head, key]
        if kind == Q:
            scores[of] += base.scales[layer] * torch.einsum("nd,ntd->nt", change, own[K][head])
        elif kind == K:
            scores[of, key] += base.scales[layer] * (own[Q][head, query] * change).sum(dim=-1)
        else:
            added[of] = change
    pattern = attention_pattern(scores)
    z = torch.einsum("nt,ntd->nd", pattern, own[V][edges[:, HEAD]])
    return z + pattern[np.arange(len(edges)), edges[:, KEY], None] * added
