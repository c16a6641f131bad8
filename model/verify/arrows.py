"""Arrows of one query in any stack, worked out once more: weights, norms, removals, slopes.

In numpy float64 from the files alone. Each weight that is changed is a further row of a run.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from model.verify.asked import Asked
from model.verify.edited import Input, as_given
from model.verify.named import Array, Made
from model.verify.telling import told_of_arrows

STEP = 1e-5  # of a weight, for its slope by a central difference
AT_ONCE = 1024  # tokens of the runs that go side by side


@dataclass(frozen=True, eq=False)
class IndependentArrowsOf(Asked):
    """What a model answers with one weight changed: of the rows of one query, in all layers.

    `group` is such as decoder.cross_attn, and `shape` says how many layers, heads and keys there
    are. Asked for by address: explain.weights, explain.norms, explain.effects, explain.gradients,
    each (L · H · T), layer by layer; explain.one.effects.2.0.7 and explain.one.gradients.2.0.7, of
    one arrow alone; and explain.answer; explain.keys and explain.asker are ids of what is attended
    to and of what attends; see `told_of_arrows` for what is told of all arrows.
    """

    given: Input
    group: str
    query: int
    shape: tuple[int, int, int]

    def made(self) -> Made:
        """See `Named`."""
        of_one = {"effects": self.effects, "gradients": self.gradients}
        return {
            "explain.answer": lambda: self.wanted.of(self.run["output"][self.wanted.position]),
            "explain.weights": lambda: self.weights.ravel(),
            "explain.norms": lambda: self.norms().ravel(),
            **{f"explain.{name}": partial(self.of_all, make) for name, make in of_one.items()},
            "explain.keys": lambda: self.ids_of("encoder" if "cross" in self.group else ""),
            "explain.asker": lambda: self.ids_of("")[self.query : self.query + 1],
            **told_of_arrows(self, self.shape),
            **{
                f"explain.one.{name}.{layer}.{head}.{key}": partial(
                    make, layer, np.array([head]), np.array([key])
                )
                for name, make in of_one.items()
                for layer, head, key in np.ndindex(self.shape)
            },
        }

    @cached_property
    def run(self) -> dict[str, Array]:
        """The input as it is."""
        return self.ran(as_given(self.given))

    def ids_of(self, stack: str) -> Array:
        """The tokens of a stack, else of that whose tokens attend."""
        return self.run[f"{stack or self.group.partition('.')[0]}.ids"]

    def at(self, layer: int, name: str) -> Array:
        """An array of one layer of the group."""
        stack, kind = self.group.split(".")
        return self.run[f"{stack}.blocks.{layer}.{kind}.{name}"]

    @cached_property
    def weights(self) -> Array:
        """The query's rows, (L, H, T)."""
        return np.stack([self.at(layer, "pattern")[:, self.query] for layer in self.layers])

    @property
    def layers(self) -> range:
        """The layers of the group."""
        return range(self.shape[0])

    def place(self, layer: int) -> str:
        """What names of weights and places begin with in one layer of the group."""
        stack, kind = self.group.split(".")
        is_two = self.files.config["architecture"] == "encoder_decoder"
        return f"{stack}.blocks.{layer}.{kind}" if is_two else f"blocks.{layer}.{kind}"

    def norms(self) -> Array:
        """‖α · v · W_O‖, (L, H, T)."""
        n_heads = self.shape[1]
        found = []
        for layer in self.layers:
            v = self.at(layer, "v")  # (G, T, Dh)
            v = np.repeat(v, n_heads // len(v), axis=0)
            weight = self.model.get(f"{self.place(layer)}.out_proj.weight")  # (D, H · Dh)
            slices = np.split(weight, n_heads, axis=1)
            moved = np.stack([own @ part.T for own, part in zip(v, slices, strict=True)])
            found.append(np.sqrt((moved**2).sum(axis=-1)))
        return self.weights * np.stack(found)

    def of_all(self, make: Callable[[int, Array, Array], Array]) -> Array:
        """What `make` says of each arrow, (L · H · T)."""
        heads, keys = (found.ravel() for found in np.indices(self.shape[1:]))
        return np.concatenate([make(layer, heads, keys) for layer in self.layers])

    def effects(self, layer: int, heads: Array, keys: Array) -> Array:
        """The answer, less what it is without each arrow, (n,)."""
        without = self.answers(layer, heads, keys, np.zeros(len(heads)))
        return self.array("explain.answer") - without

    def gradients(self, layer: int, heads: Array, keys: Array) -> Array:
        """Weight times slope, by central differences, (n,)."""
        own = self.weights[layer, heads, keys]
        up, down = (self.answers(layer, heads, keys, own + step) for step in (STEP, -STEP))
        return own * (up - down) / (2 * STEP)

    def answers(self, layer: int, heads: Array, keys: Array, values: Array) -> Array:
        """The answer where one weight is another, each by itself. (n,)."""
        n_tokens = sum(len(array) for name, array in self.run.items() if name.endswith(".embed"))
        size = max(1, AT_ONCE // n_tokens)
        parts = (np.split(x, range(size, len(heads), size)) for x in (heads, keys, values))
        rows = zip(*parts, strict=True)
        place, given = f"{self.place(layer)}.pattern", as_given(self.given)
        return np.concatenate(
            [self.answers_with(given, place, (head, self.query, key), x) for head, key, x in rows]
        )
