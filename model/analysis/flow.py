"""Attention rollout and attention flow: how much of a token reaches another through all layers.

Each layer is taken as half its mean pattern and half the residual connection (Abnar & Zuidema
2020, §2).
"""

from collections import deque

import numpy as np

LEAST = 1e-9  # of a flow; less is rounding


def with_residual(patterns: np.ndarray) -> np.ndarray:
    """0.5 · mean over heads + 0.5 · identity, layer by layer. patterns: (L, H, T, T). (L, T, T)."""
    mean = patterns.astype(np.float64).mean(axis=1)
    return 0.5 * mean + 0.5 * np.eye(mean.shape[-1])


def rollout(layers: np.ndarray, query: int) -> np.ndarray:
    """The product of the layers of `with_residual`, from the query's row down. (T,)."""
    row = np.eye(layers.shape[-1])[query]
    for layer in layers[::-1]:
        row = row @ layer
    return row


def flow(layers: np.ndarray, query: int, key: int) -> float:
    """The largest flow from a query above the last layer to a key below the first.

    The weights of `with_residual` (L, T, T) are the capacities. Dinic's algorithm: shortest paths
    are filled up until none is left (Dinitz 1970).
    """
    network = _Network(layers)
    start, end = network.node(len(layers), query), network.node(0, key)
    total = 0.0
    while (heights := network.heights(start, end)) is not None:
        used = [0] * len(network.edges)
        while (sent := network.push(start, end, 1.0, heights, used)) > LEAST:
            total += sent
    return total


class _Network:
    """Edges from each token above a layer to those below it, and what they can still carry."""

    def __init__(self, layers: np.ndarray) -> None:
        n_layers, self.n_tokens = layers.shape[:2]
        self.edges: list[list[int]] = [[] for _ in range((n_layers + 1) * self.n_tokens)]
        self.ends: list[int] = []
        self.room: list[float] = []  # edge i and its reverse, i ^ 1, stand side by side
        for layer, above, below in np.argwhere(layers > LEAST).tolist():
            here, there = self.node(layer + 1, above), self.node(layer, below)
            for node, end, room in ((here, there, layers[layer, above, below]), (there, here, 0)):
                self.edges[node].append(len(self.ends))
                self.ends.append(end)
                self.room.append(float(room))

    def node(self, height: int, token: int) -> int:
        """The number of a token above `height` layers."""
        return height * self.n_tokens + token

    def heights(self, start: int, end: int) -> list[int] | None:
        """Steps to each node from the start; None where the end is out of reach."""
        steps, waiting = [-1] * len(self.edges), deque([start])
        steps[start] = 0
        while waiting:
            node = waiting.popleft()
            for edge in self.edges[node]:
                following = self.ends[edge]
                if self.room[edge] > LEAST and steps[following] < 0:
                    steps[following] = steps[node] + 1
                    waiting.append(following)
        return steps if steps[end] >= 0 else None

    def push(self, node: int, end: int, most: float, heights: list[int], used: list[int]) -> float:
        """Send what fits along one path of ever greater heights; `used` counts edges given up."""
        if node == end:
            return most
        while used[node] < len(self.edges[node]):
            edge = self.edges[node][used[node]]
            following, room = self.ends[edge], self.room[edge]
            if room > LEAST and heights[following] == heights[node] + 1:
                sent = self.push(following, end, min(most, room), heights, used)
                if sent > LEAST:
                    self.room[edge] -= sent
                    self.room[edge ^ 1] += sent
                    return sent
            used[node] += 1
        return 0.0
