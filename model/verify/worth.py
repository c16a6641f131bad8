"""What each token is worth to the answer of a model, worked out once more.

Tokens that nobody attends to, paths of attention through all layers, and gradients along the path
from the mean embedding: by changed runs in numpy float64 and by textbook algorithms.
"""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from model import reference
from model.verify import backward
from model.verify.asked import Asked
from model.verify.edited import Input, as_given
from model.verify.named import Array, Made
from model.verify.stated import leading_ids
from model.verify.telling import rank_correlation

STEP = 1e-4  # of a token's path, for the slope along it
NODES = tuple(2**power for power in range(4, 10))  # of the quadrature
AT_ONCE = 512  # tokens of the runs that go side by side
Room = Mapping[int, Mapping[int, float]]  # what edges from a node to others can still carry
LEAST = 1e-12  # of a capacity; less is rounding


@dataclass(frozen=True, eq=False)
class IndependentWorth(Asked):
    """Five measures of the tokens of one input: those of a source stand before its target's.

    Asked for by address: worth.removed, worth.weights, worth.rollout, worth.flow and, with 16
    places along the path, worth.integrated.16; each (N,), in parts of its largest. worth.slopes.16
    are these as they are, worth.sum.16 their sum, worth.difference what they explain. `given` is
    what is run where that is not the ids.
    """

    given: Input = ()

    def made(self) -> Made:
        """See `Named`."""
        found: dict[str, Callable[[], Array]] = {
            "removed": lambda: self.answer_of(self.run["output"]) - self.without_each(),
            "weights": self.mean_weights,
            "rollout": self.rollout,
            "flow": self.flows,
            **{f"integrated.{n}": lambda n=n: self.array(f"worth.slopes.{n}") for n in NODES},
        }
        return {
            **{f"worth.{name}": partial(of_largest, make) for name, make in found.items()},
            **{f"worth.slopes.{n}": partial(self.integrated, n) for n in NODES},
            **{f"worth.sum.{n}": lambda n=n: self.array(f"worth.slopes.{n}").sum() for n in NODES},
            "worth.difference": self.difference,
            **{f"worth.largest.{name}": partial(self.largest, name) for name in found},
            **{
                f"worth.rho.{name}": lambda name=name: rank_correlation(
                    *(np.abs(self.array(f"worth.{x}")) for x in (name, "removed"))
                )
                for name in found
            },
        }

    def largest(self, name: str) -> Array:
        """The id of the token that is worth most by a measure, (1,), see `leading_ids`."""
        (place,) = leading_ids(np.abs(self.array(f"worth.{name}")), 1)
        return np.array([self.row[place] if place >= 0 else place])

    @property
    def input(self) -> Array | tuple[Array, ...]:
        """What is run."""
        return as_given(self.given or self.ids)

    @property
    def row(self) -> Sequence[int]:
        """See `Named`."""
        given = self.input
        rows = given if isinstance(given, tuple) else (given,)
        return [int(i) for row in rows for i in row] if rows[0].ndim == 1 else ()

    def labels(self, stream: int = -1) -> list[str | None]:
        """See `Named`; of a picture the class, and the places of its patches."""
        if self.row:
            return super().labels(stream)
        config = self.files.config
        places = range(config["image_size"] // config["patch_size"])
        return ["[CLS]", *(f"{row},{column}" for row in places for column in places)]

    @cached_property
    def run(self) -> dict[str, Array]:
        """The input as it is."""
        return self.ran(self.input)

    @property
    def stacks(self) -> list[str]:
        """Their names, in the order that tokens go through them."""
        return [name for name in ("encoder", "decoder") if f"{name}.embed" in self.run]

    @property
    def tokens(self) -> list[tuple[str, int]]:
        """Each token as its stack and its place there."""
        return [(name, i) for name in self.stacks for i in range(len(self.run[f"{name}.embed"]))]

    def patterns(self, kind: str = "attn") -> Array:
        """Those of all layers of the stack that predicts, (L, H, T, Tk)."""
        name, layers = self.stacks[-1], range(self.n_layers)
        return np.stack([self.run[f"{name}.blocks.{i}.{kind}.pattern"] for i in layers])

    @property
    def layers(self) -> Array:
        """Half the heads' mean and half the residual connection, (L, T, T)."""
        mean = self.patterns().mean(axis=1)
        return (mean + np.eye(mean.shape[-1])) / 2

    def answer_of(self, logits: Array) -> Array:
        """The number of logits (…, T, V)."""
        return self.wanted.of(logits[..., self.wanted.position, :])

    def changed(self, n: int, change: Callable[[str, Array], Array]) -> Array:
        """The number of n runs side by side, their arrays changed by their places. (n,)."""
        before = "" if len(self.stacks) > 1 else f"{self.stacks[0]}."

        def rows(place: str, array: Array) -> Array:
            array = np.repeat(array[None], n, axis=0) if place.endswith("embed") else array
            return change(before + place, array)

        files = reference.Files(self.files.config, self.weights_read, rows)
        return self.answer_of(dict(reference.arrays(files, self.input))["output"])

    def without_each(self) -> Array:
        """The number where no head attends to a token, each token by itself. (N,)."""
        tokens = self.tokens

        def hide(place: str, array: Array) -> Array:
            if not place.endswith(".pattern"):
                return array
            attended = "encoder" if "cross_attn" in place else place.partition(".")[0]
            own = [(row, i) for row, (name, i) in enumerate(tokens) if name == attended]
            rows, keys = np.array(own).T
            hidden = array.copy()
            hidden[rows, :, :, keys] = 0.0
            return hidden

        return self.changed(len(tokens), hide)

    def mean_weights(self) -> Array:
        """Those of what predicts, over all heads: of a translation on the source too. (N,)."""
        kinds = ["cross_attn", "attn"] if len(self.stacks) > 1 else ["attn"]
        rows = [self.patterns(kind).mean(axis=(0, 1))[self.wanted.position] for kind in kinds]
        return np.concatenate(rows)

    def rollout(self) -> Array:
        """The row of what predicts in the product of all layers, (T,)."""
        product = np.eye(self.layers.shape[-1])
        for layer in self.layers:
            product = layer @ product
        return product[self.wanted.position]

    def flows(self) -> Array:
        """The largest flow from what predicts to each token, (T,)."""
        layers, start = self.layers, self.wanted.position
        return np.array([max_flow(layers, key, start) for key in range(layers.shape[-1])])

    @property
    def embedded(self) -> Array:
        """Of all tokens, before positions are added. (N, D)."""
        return np.concatenate([self.run[f"{name}.embed"] for name in self.stacks])

    def integrated(self, n_nodes: int) -> Array:
        """Integrated gradients (Sundararajan et al. 2017, eq. 1) by central differences, (N,)."""
        own, way = self.embedded, self.way
        nodes, shares = np.polynomial.legendre.leggauss(n_nodes)
        total = np.zeros(len(own))
        for node, share in zip((nodes + 1) / 2, shares / 2, strict=True):
            total += share * self.slopes(own - (1 - node) * way, way)
        return total

    def difference(self) -> Array:
        """The number less what it is at the beginning of the way."""
        there = self.answers_for((self.embedded - self.way)[None])
        return self.answer_of(self.run["output"]) - there[0]

    @cached_property
    def way(self) -> Array:
        """To the tokens' own from the mean of the vocabulary, or of a black picture. (N, D)."""
        if self.files.config["architecture"] == "vision":
            black = self.ran(np.zeros_like(np.asarray(self.input)))
            return self.embedded - black["encoder.embed"]
        model = self.model.part("encoder") if len(self.stacks) > 1 else self.model
        every = reference.token_vectors(model, range(self.files.config["vocab_size"]))
        return self.embedded - every.mean(axis=0)

    def answers_for(self, rows: Array) -> Array:
        """The number for rows of embeddings (B, N, D). (B,)."""
        lengths = [len(self.run[f"{name}.embed"]) for name in self.stacks]
        parts = np.split(rows, np.cumsum(lengths)[:-1], axis=1)
        own = {f"{name}.embed": part for name, part in zip(self.stacks, parts, strict=True)}
        return self.changed(len(rows), lambda place, array: own.get(place, array))

    def slopes(self, at: Array, way: Array) -> Array:
        """The slope of the number along each token's own way, (N,).

        Of one stack from the gradient by hand, of two by central differences.
        """
        if len(self.stacks) == 1:
            return (self.gradient(at) * way).sum(axis=-1)
        n = len(at)
        moved = STEP * np.eye(n)[..., None] * way  # (N rows, N, D): one token of each
        rows = np.concatenate([at + moved, at - moved])
        size = max(1, AT_ONCE // n)
        found = map(self.answers_for, np.split(rows, range(size, len(rows), size)))
        up, down = np.split(np.concatenate(list(found)), 2)
        return (up - down) / (2 * STEP)

    def gradient(self, embedded: Array) -> Array:
        """Of the number by the embeddings (N, D) of the only stack, (N, D)."""
        (name,) = self.stacks
        mask = self.run[f"{name}.blocks.0.attn.mask"]
        parts = [self.model.part(f"blocks.{layer}") for layer in range(self.n_layers)]
        streams = [embedded + self.run[f"{name}.positions"]]
        for part in parts:
            middle = backward.forward_half(part, streams[-1], mask, "attn", 1.0)
            streams.append(backward.forward_half(part, middle, mask, "ffn", 1.0))
        last = streams.pop()
        slope = self.slope_at_end(self.read(self.model, last, "final_norm"))
        if self.is_pre_norm:
            slope = backward.norm(self.model, "final_norm", last, slope)
        for part, x in zip(parts[::-1], streams[::-1], strict=True):
            slope = backward.block(part, x, mask, slope)
        return slope

    def slope_at_end(self, stream: Array) -> Array:
        """The gradient by what is unembedded, (N, D): of the position that predicts alone."""
        table = "unembed" if "unembed.weight" in self.weights_read else "embed"
        weight, at = self.model.get(f"{table}.weight"), self.wanted.position  # (V, D)
        of_logits = np.zeros(len(weight))
        if self.wanted.kind == "loss":
            of_logits = reference.softmax(self.model.linear(table, stream[at]))
        of_logits[self.wanted.answer] += -1.0 if self.wanted.kind == "loss" else 1.0
        if self.wanted.kind == "difference":
            of_logits[self.wanted.other] -= 1.0
        found = np.zeros_like(stream)
        found[at] = of_logits @ weight
        return found


def of_largest(make: Callable[[], Array]) -> Array:
    """Values in parts of the largest, (T,)."""
    values = make()
    return values / (np.abs(values).max() or 1.0)


def max_flow(layers: Array, key: int, query: int) -> float:
    """The largest flow from a token above all layers to one below them.

    By the shortest paths with room left, one after the other (Edmonds & Karp 1972).
    """
    n_layers, n = layers.shape[:2]
    room: dict[int, dict[int, float]] = {node: {} for node in range((n_layers + 1) * n)}
    for layer, above, below in np.argwhere(layers > LEAST).tolist():
        here, there = (layer + 1) * n + above, layer * n + below
        room[here][there] = float(layers[layer, above, below])
        room[there].setdefault(here, 0.0)
    start, end, total = n_layers * n + query, key, 0.0
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
