"""Edges: all of them estimated, layer by layer, and exact effects of some."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from model.analysis.branching import MOST_AT_ONCE, check_gradients, logits_at
from model.analysis.exact import Filling
from model.analysis.interventions import n_at_once
from model.analysis.metrics import DIFFERENCE
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
from model.device import wide
from model.tap import Gradients, attach
from model.work import Work

MOST_EDGES = 20_000  # of the strongest, which are kept
MOST_CELLS = 12_000_000  # of the estimates of one kind in one layer
MOST_LIKELY = 4  # tokens that a cut names
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
        base = self.paths.base
        there, is_read = self._live[: len(guess), None], np.ones(self.paths.n_tokens, dtype=bool)
        if layer == len(base.q) - 1:
            is_read[:-1] = False
        if kind in (K, V):
            sees = (base.scores[layer] > -torch.inf).cpu().numpy()  # (H, Tq, Tk)
            there, is_read = there[:, None], is_read[:, None] & sees
        writer, head, query, *key = np.nonzero(np.broadcast_to(is_read & there, guess.shape))
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
    streams = base.resid_pre[layer] + paths.moved[: paths.n_writers(layer)]
    q, k, v = paths.reads(layer, streams)  # (W, H, T, Dh)

    bent = base.scores[layer] + scale * torch.einsum("whtd,hsd->whts", q - own_q, own_k)
    yield Q, _numpy(-((attention_pattern(bent) - pattern) * says).sum(dim=-1))
    raised = scale * torch.einsum("htd,whsd->whts", own_q, k - own_k)
    yield K, _numpy(_of_raised(pattern, says, raised))
    yield V, _numpy(-pattern * torch.einsum("htd,whsd->whts", at, v - own_v))
    moved = paths.moved[: paths.n_writers(layer, MLP)]
    writer, token = moved.abs().sum(dim=-1).nonzero(as_tuple=True)
    change = paths.feeds(layer, base.resid_mid[layer][token] + moved[writer, token])
    slope = slopes[paths.address(layer, "ffn_out")][token]
    guess = moved.new_zeros(len(moved), 1, paths.n_tokens)
    guess[writer, 0, token] = -((change - base.ffn_out[layer][token]) * slope).sum(dim=-1)
    yield MLP, _numpy(guess)


def _of_raised(pattern: Tensor, says: Tensor, raised: Tensor) -> Tensor:
    """What the answer loses where the score of one key is raised by so much, (W, H, Tq, Tk).

    pattern, says: (H, Tq, Tk), what each key has and what its value says of the answer. What the
    others have is summed without the largest: 1 − p of a sharp head is but rounding.
    """
    is_most = pattern > 0.5
    less = pattern.masked_fill(is_most, 0)
    others = torch.where(is_most, less.sum(dim=-1, keepdim=True), 1 - pattern)
    heard, without = ((x * says).sum(dim=-1, keepdim=True) for x in (pattern, less))
    rest = torch.where(is_most, others * says - without, says - heard)
    raised = raised.clamp(-MOST_EXPONENT, MOST_EXPONENT)
    return -pattern * raised.expm1() / (others + pattern * raised.exp()) * rest


def _numpy(value: Tensor) -> np.ndarray:
    return wide(value).numpy()


# --- exact --------------------------------------------------------------------------------------


class Cut(NamedTuple):
    """What is most likely with an edge and without it, some tokens by their ids."""

    ids: list[int]
    before: list[float]
    after: list[float]


class Exact(Filling):
    """What the answer loses when each of these edges alone carries the other text's term, (N,).

    edges: (N, 6). cuts: by its number, of each edge that is exact.
    """

    def __init__(self, paths: Paths, edges: np.ndarray, estimates: np.ndarray) -> None:
        self.paths, self.edges = paths, edges
        self.cuts: dict[int, Cut] = {}
        places = list(zip(edges[:, LAYER].tolist(), (edges[:, KIND] == MLP).tolist(), strict=True))
        at_once = n_at_once(paths.pair.base, MOST_AT_ONCE)
        super().__init__(estimates, places, self._lost, at_once)

    def _lost(self, cells: Sequence[int]) -> np.ndarray:
        """The effects of some edges of one place, by their numbers."""
        logits = _logits_without(self.paths, self.edges[cells])
        self.cuts |= zip(cells, _cuts(self.paths, logits), strict=True)
        return self.paths.whole - _numpy(self.paths.pair.metric.of(logits))


def effects(paths: Paths, edges: np.ndarray) -> np.ndarray:
    """The effects of edges, all of them, (N,)."""
    exact = Exact(paths, edges, np.zeros(len(edges)))
    exact.finish()
    return exact.exact


def _cuts(paths: Paths, logits: Tensor) -> list[Cut]:
    """logits: (n, V), without an edge each."""
    metric, probs = paths.pair.metric, paths.probs
    asked = [metric.answer, metric.other] if metric.kind == DIFFERENCE else [metric.answer]
    first = [*asked, *probs.topk(MOST_LIKELY).indices.tolist()]
    cuts = []
    for after in logits.softmax(dim=-1):
        ids = list(dict.fromkeys([*first, *after.topk(MOST_LIKELY).indices.tolist()]))
        cuts.append(Cut(ids, probs[ids].tolist(), after[ids].tolist()))
    return cuts


@torch.inference_mode()
def _logits_without(paths: Paths, edges: np.ndarray) -> Tensor:
    """Logits (n, V) with each of these edges moved alone, all into one kind of part of a layer."""
    layer, kind = edges[0, [LAYER, KIND]]
    if kind == ANSWER:
        return paths.pair.model.read_out(paths.base.last[-1] + paths.moved[edges[:, WRITER], -1])
    if kind == MLP:
        part, new = "ffn_out", _fed(paths, edges)
        places = [(query,) for query in edges[:, QUERY].tolist()]
    else:
        part, new = "attn.z", changed_z(paths, edges)
        places = [tuple(x) for x in edges[:, [HEAD, QUERY]].tolist()]
    addresses = [paths.address(layer, part)] * len(edges)
    changes = list(zip(places, new, strict=True))
    return paths.branches.logits(addresses, changes)


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
