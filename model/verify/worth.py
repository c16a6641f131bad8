"""What each token is worth to a decoder's answer after the last one, worked out once more.

Tokens that nobody attends to, paths of attention through all layers, and gradients along the path
from the mean embedding: by changed runs in numpy float64 and by textbook algorithms.
"""

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from model import reference
from model.verify.asked import Asked
from model.verify.named import Array, Made

STEP = 1e-4  # of a token's path, for the slope along it
NODES = tuple(2**power for power in range(4, 10))  # of the quadrature
AT_ONCE = 512  # tokens of the runs that go side by side
Room = Mapping[int, Mapping[int, float]]  # what edges from a node to others can still carry
LEAST = 1e-12  # of a capacity; less is rounding


@dataclass(frozen=True, eq=False)
class IndependentWorth(Asked):
    """Five measures of the tokens of one text.

    Asked for by address: worth.removed, worth.weights, worth.rollout, worth.flow and, with 16
    places along the path, worth.integrated.16; each (T,), in parts of its largest. worth.slopes.16
    are these as they are, worth.sum.16 their sum, worth.difference what they explain.
    """

    def made(self) -> Made:
        """See `Named`."""
        found: dict[str, Callable[[], Array]] = {
            "removed": lambda: self.answer_of(self.run["output"]) - self.without_each(),
            "weights": lambda: self.patterns.mean(axis=(0, 1))[-1],
            "rollout": self.rollout,
            "flow": lambda: np.array([max_flow(self.layers, key) for key in range(len(self.ids))]),
            **{f"integrated.{n}": lambda n=n: self.array(f"worth.slopes.{n}") for n in NODES},
        }
        return {
            **{f"worth.{name}": partial(of_largest, make) for name, make in found.items()},
            **{f"worth.slopes.{n}": partial(self.integrated, n) for n in NODES},
            **{f"worth.sum.{n}": lambda n=n: self.array(f"worth.slopes.{n}").sum() for n in NODES},
            "worth.difference": self.difference,
        }

    @cached_property
    def run(self) -> dict[str, Array]:
        """The text as it is."""
        return self.ran(self.ids)

    @cached_property
    def patterns(self) -> Array:
        """Those of all layers, (L, H, T, T)."""
        layers = range(self.n_layers)
        return np.stack([self.run[f"decoder.blocks.{i}.attn.pattern"] for i in layers])

    @property
    def layers(self) -> Array:
        """Half the heads' mean and half the residual connection, (L, T, T)."""
        return (self.patterns.mean(axis=1) + np.eye(len(self.ids))) / 2

    def answer_of(self, logits: Array) -> Array:
        """The number of logits (…, T, V)."""
        return self.wanted.of(logits[..., self.wanted.position, :])

    def changed(self, n: int, change: Callable[[str, Array], Array]) -> Array:
        """The number of n runs side by side, their arrays changed. (n,)."""

        def rows(place: str, array: Array) -> Array:
            array = np.repeat(array[None], n, axis=0) if place == "embed" else array
            return change(place, array)

        files = reference.Files(self.files.config, self.weights_read, rows)
        return self.answer_of(dict(reference.arrays(files, self.ids))["output"])

    def without_each(self) -> Array:
        """The number where no head attends to a token, each token by itself. (T,)."""
        tokens = np.arange(len(self.ids))

        def hide(place: str, array: Array) -> Array:
            if not place.endswith(".pattern"):
                return array
            hidden = array.copy()
            hidden[tokens, :, :, tokens] = 0.0
            return hidden

        return self.changed(len(tokens), hide)

    def rollout(self) -> Array:
        """The last token's row of the product of all layers, (T,)."""
        product = np.eye(len(self.ids))
        for layer in self.layers:
            product = layer @ product
        return product[-1]

    def integrated(self, n_nodes: int) -> Array:
        """Integrated gradients (Sundararajan et al. 2017, eq. 1) by central differences, (T,)."""
        own, way = self.run["decoder.embed"], self.way
        nodes, shares = np.polynomial.legendre.leggauss(n_nodes)
        total = np.zeros(len(own))
        for node, share in zip((nodes + 1) / 2, shares / 2, strict=True):
            total += share * self.slopes(own - (1 - node) * way, way)
        return total

    def difference(self) -> Array:
        """The number less what it is with the mean embedding at every place."""
        mean = self.run["decoder.embed"] - self.way
        there = self.changed(1, lambda place, x: mean[None] if place == "embed" else x)
        return self.answer_of(self.run["output"]) - there[0]

    @cached_property
    def way(self) -> Array:
        """From the mean embedding of the vocabulary to the tokens' own, (T, D)."""
        every = reference.token_vectors(self.model, range(self.files.config["vocab_size"]))
        return self.run["decoder.embed"] - every.mean(axis=0)

    def slopes(self, at: Array, way: Array) -> Array:
        """The slope of the number along each token's own way, (T,)."""
        n = len(at)
        moved = STEP * np.eye(n)[..., None] * way  # (T rows, T, D): one token of each
        rows = np.concatenate([at + moved, at - moved])
        size = max(1, AT_ONCE // n)
        found = [
            self.changed(len(some), lambda place, x, some=some: some if place == "embed" else x)
            for some in np.split(rows, range(size, len(rows), size))
        ]
        up, down = np.split(np.concatenate(found), 2)
        return (up - down) / (2 * STEP)


def of_largest(make: Callable[[], Array]) -> Array:
    """Values in parts of the largest, (T,)."""
    values = make()
    return values / (np.abs(values).max() or 1.0)


def max_flow(layers: Array, key: int) -> float:
    """The largest flow from the last token above all layers to a token below them.

    By the shortest paths with room left, one after the other (Edmonds & Karp 1972).
    """
    n_layers, n = layers.shape[:2]
    room: dict[int, dict[int, float]] = {node: {} for node in range((n_layers + 1) * n)}
    for layer, above, below in np.argwhere(layers > LEAST).tolist():
        here, there = (layer + 1) * n + above, layer * n + below
        room[here][there] = float(layers[layer, above, below])
        room[there].setdefault(here, 0.0)
    start, end, total = (n_layers + 1) * n - 1, key, 0.0
    while path := _shortest(room, start, end):
        sent = min(room[a][b] for a, b in path)
        for a, b in path:
            room[a][b] -= sent
            room[b][a] += sent
        total += sent
    return total


def _shortest(
    room: Mapping[int, Mapping[int, float]], start: int, end: int
) -> list[tuple[int, int]]:
    """The edges of a shortest path that has room; none where there is no path."""
    came_from, waiting = {start: start}, deque([start])
    while waiting and end not in came_from:
        node = waiting.popleft()
        for following, left in room[node].items():
            if left > LEAST and following not in came_from:
                came_from[following] = node
                waiting.append(following)
    path: list[tuple[int, int]] = []
    node = end
    while node in came_from and node != start:
        path.append((came_from[node], node))
        node = came_from[node]
    return path
