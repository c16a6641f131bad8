"""Circuits: what some edges alone keep of an answer, for the strongest k, and pruned."""

import time

import numpy as np
import torch
from torch import Tensor

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
from model.work import Work

ENOUGH, TOO_MUCH = 0.9, 1.1  # shares of the difference between which a circuit keeps it
GROWTH = 1.3  # from one number of edges of a curve to the next


@torch.inference_mode()
def kept_only(paths: Paths, edges: np.ndarray) -> float:
    """The metric where these edges carry what runs now, and all others what the other text has.

    edges: (N, 6). Only readers of kept edges are computed, the rest stands in the other text's run.
    """
    base = paths.source
    moved = torch.zeros_like(base.terms)  # what each writer has more than in the other text
    moved[0] = -paths.moved[0]
    is_mlp = edges[:, KIND] == MLP
    for layer in np.unique(edges[edges[:, KIND] < ANSWER, LAYER]):
        rows = edges[(edges[:, LAYER] == layer) & (edges[:, KIND] < MLP)]
        if len(rows):
            heads, change = _heads(paths, int(layer), rows, moved)
            weights = paths.pair.model.output_weights(paths.pair.model.sites[layer])
            at = paths.n_writers(int(layer)) + heads[:, 0], heads[:, 1]
            moved[at] = torch.einsum("nd,nde->ne", change, weights[heads[:, 0]])
        rows = edges[(edges[:, LAYER] == layer) & is_mlp]
        if len(rows):
            streams, at = (
                base.resid_mid[layer].clone(),
                torch.as_tensor(rows[:, QUERY], device=moved.device),
            )
            streams.index_add_(0, at, moved[rows[:, WRITER], rows[:, QUERY]])
            fed = paths.feeds(int(layer), streams) - base.ffn_out[layer]
            moved[paths.n_writers(int(layer), MLP)] = fed
    rows = edges[edges[:, KIND] == ANSWER]
    return float(paths.score(base.last[-1] + moved[rows[:, WRITER], -1].sum(dim=0)))


def _heads(paths: Paths, layer: int, edges: np.ndarray, moved: Tensor) -> tuple[np.ndarray, Tensor]:
    """Heads at queries that these edges lead into, (N, 2), and what their z changes by, (N, Dh)."""
    base, scale = paths.source, paths.source.scales[layer]
    readers, of = np.unique(edges[:, KIND:WRITER], axis=0, return_inverse=True)
    kind, head, _, key = readers.T
    streams, row = _streams(base.resid_pre[layer], key, of, edges, moved)
    made = paths.reads(layer, streams)
    heads, of = np.unique(readers[:, 1:3], axis=0, return_inverse=True)
    own = [
        base.q[layer][heads[:, 0], heads[:, 1]],  # (N, Dh)
        base.keys[layer][heads[:, 0]],  # (N, T, Dh)
        base.values[layer][heads[:, 0]],
    ]
    before = torch.einsum("nd,ntd->nt", own[Q], own[K])
    for number in (Q, K, V):
        mine = np.flatnonzero(kind == number)
        place = (of[mine],) if number == Q else (of[mine], key[mine])
        own[number][place] = made[number][row[mine], head[mine], key[mine]]
    change = scale * (torch.einsum("nd,ntd->nt", own[Q], own[K]) - before)
    pattern = attention_pattern(base.scores[layer][heads[:, 0], heads[:, 1]] + change)
    z = torch.einsum("nt,ntd->nd", pattern, own[V])
    return heads, z - base.z[layer][heads[:, 0], heads[:, 1]]


def _streams(
    stream: Tensor, key: np.ndarray, of: np.ndarray, edges: np.ndarray, moved: Tensor
) -> tuple[Tensor, np.ndarray]:
    """Streams (n, T, D) in which each reader finds its own at its token, and in which row it does.

    Readers of different tokens share a row, since what they read is of one token each.
    """
    order, row = np.argsort(key, kind="stable"), np.empty(len(key), int)
    row[order] = np.arange(len(key)) - np.searchsorted(key[order], key[order])
    streams = stream.repeat(row.max() + 1, 1, 1)
    place = tuple(map(torch.as_tensor, (row[of], edges[:, KEY])))
    streams.index_put_(place, moved[edges[:, WRITER], edges[:, KEY]], accumulate=True)
    return streams, row


class Curve(Work):
    """F of the k strongest edges, for growing k: `sizes` and `shares` so far."""

    def __init__(self, paths: Paths, edges: np.ndarray) -> None:
        self.paths, self.edges = paths, edges
        self.sizes: list[int] = []
        self.shares: list[float] = []
        n = max(1, len(edges))
        grown = np.geomspace(1, n, 2 + int(np.log(n) / np.log(GROWTH)))
        sizes = {*grown.astype(int).tolist(), n} if len(edges) else set()
        self._left = sorted(sizes, reverse=True)
        self._n = max(1, len(sizes))

    @property
    def progress(self) -> float:
        """How many numbers of edges are run, 0 to 1."""
        return 1 - len(self._left) / self._n

    @property
    def enough(self) -> int:
        """The fewest edges so far that keep the difference; ValueError where none do."""
        kept = zip(self.sizes, self.shares, strict=True)
        enough = [k for k, share in kept if ENOUGH <= share <= TOO_MUCH]
        if not enough:
            raise ValueError(
                f"none of the circuits of up to {max(self.sizes, default=0):,} edges keeps "
                f"{ENOUGH} to {TOO_MUCH} of the difference: it lies in very many weak ones"
            )
        return min(enough)

    def go_on(self) -> bool:
        """Run the next number of edges."""
        k = self._left.pop()
        self.sizes.append(k)
        self.shares.append(self.paths.share(kept_only(self.paths, self.edges[:k])))
        return bool(self._left)


class Pruning(Work):
    """Fewer edges that still keep the difference: halves, quarters, … are dropped where it stays.

    edges: those that are left, (N, 6). share: their F.
    """

    def __init__(self, paths: Paths, edges: np.ndarray) -> None:
        """ValueError where the edges do not keep the difference to begin with."""
        self.paths, self.edges = paths, edges[on_ways(edges, paths.n_heads)]
        self.share = paths.share(kept_only(paths, self.edges))
        if not ENOUGH <= self.share <= TOO_MUCH:
            raise ValueError(
                f"{len(edges):,} edges keep {self.share:.2f} of the difference; begin with some "
                f"that keep {ENOUGH} to {TOO_MUCH}"
            )
        self._size, self._at = max(1, len(self.edges) // 2), len(self.edges)
        self._n_runs, self._n_expected, self._seconds = 0, 3 * len(self.edges), 0.0

    @property
    def progress(self) -> float:
        """About how far it is, 0 to 1: how many runs there will be is not known."""
        return min(1.0, self._n_runs / self._n_expected)

    @property
    def seconds_left(self) -> float:
        """About as long as the rest takes; NaN before the first run."""
        left = max(0, self._n_expected - self._n_runs)
        return left * self._seconds / self._n_runs if self._n_runs else float("nan")

    def go_on(self) -> bool:
        """Try to do without a piece, the weakest first; smaller pieces once all were tried."""
        start, begun = max(0, self._at - self._size), time.monotonic()
        rest = np.delete(self.edges, np.s_[start : self._at], axis=0)
        self._n_runs += 1
        left = rest[on_ways(rest, self.paths.n_heads)]
        share = self.paths.share(kept_only(self.paths, left)) if len(left) else 0.0
        if ENOUGH <= share <= TOO_MUCH:
            self.edges, self.share = left, share
        self._seconds += time.monotonic() - begun
        self._at = min(start, len(self.edges))
        if self._at == 0:
            self._size, self._at = self._size // 2, len(self.edges)
        return self._size > 0


def on_ways(edges: np.ndarray, n_heads: int) -> np.ndarray:
    """Which edges lie on a way from a word to the answer, (N,) bool.

    What nobody reads changes no run, nor does what a part writes that reads nothing.
    """
    writes, reads = _written(edges, n_heads), _numbers(edges[:, WRITER], edges[:, KEY])
    stays = np.ones(len(edges), bool)
    while True:
        is_read = np.isin(writes, reads[stays]) | (edges[:, KIND] == ANSWER)
        is_written = np.isin(reads, writes[stays]) | (edges[:, WRITER] == 0)
        left = stays & is_read & is_written
        if left.sum() == stays.sum():
            return stays
        stays = left


def _written(edges: np.ndarray, n_heads: int) -> np.ndarray:
    """The writer at a token that each edge's reader is, as one number."""
    own = np.where(edges[:, KIND] == MLP, n_heads, edges[:, HEAD])
    return _numbers(1 + edges[:, LAYER] * (n_heads + 1) + own, edges[:, QUERY])


def _numbers(writer: np.ndarray, token: np.ndarray) -> np.ndarray:
    return writer.astype(np.int64) << 32 | token
