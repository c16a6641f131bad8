"""Grids of activation patching, worked out once more: each cell a forward pass of its own.

In numpy float64 from the files alone.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from model.verify.asked import Asked
from model.verify.edited import Input, as_given
from model.verify.named import Array, Made

EVEN = 1e-4  # of the largest; values this close differ by rounding alone
STEP = 1e-4  # of a difference, for the slope along it
# By the name of a grid, where its values go through in a block of the independent run.
PLACES = {"resid_pre": "resid_pre", "attn_out": "attn.out", "ffn_out": "ffn_out", "z": "attn.z"}
GRIDS = tuple(PLACES)


@dataclass(frozen=True, eq=False)
class IndependentPatches(Asked):
    """What a model answers for `base` with one value of `source` in it.

    Asked for by address: patch.resid_pre, patch.attn_out, patch.ffn_out (L, T) and patch.z (L, H)
    are shares of what there is to bring back; with `answer.` before them the numbers themselves,
    with `row.` those of one layer alone, as row.patch.z.2; with `slope.` what a gradient says the
    shares are, with `cells.` the shares in one row, with
    `cells.slope.` those; with `r.` and `off.` how the two correlate, and the most by which they
    differ. patch.base and patch.source are the numbers of the runs as they are.
    """

    base: Input
    source: Input
    stack: str = "decoder"

    @property
    def row(self) -> Sequence[int]:
        """The ids of the base in the stack that is patched, which stand along the grids."""
        given = as_given(self.base)
        own = given[0 if self.stack == "encoder" else -1] if isinstance(given, tuple) else given
        return own.tolist() if own.ndim == 1 else ()

    def made(self) -> Made:
        """See `Named`."""
        grids = {f"patch.{name}": partial(self.share, name) for name in GRIDS}
        grids |= {f"slope.patch.{name}": partial(self.slope, name) for name in GRIDS}
        return {
            "patch.base": lambda: self.ends[0],
            "patch.source": lambda: self.ends[1],
            **{f"answer.patch.{name}": partial(self.grid, name) for name in GRIDS},
            **grids,
            **{f"r.patch.{name}": partial(self.correlation, name) for name in GRIDS},
            **{f"off.patch.{name}": partial(self.largest_error, name) for name in GRIDS},
            **{f"cells.{name}": lambda name=name: self.array(name).ravel() for name in grids},
            **self.rows(),
        }

    def rows(self) -> Made:
        """What makes the shares of each layer alone; nothing where there is no base."""
        layers = {name: len(self.values(name)[0]) for name in GRIDS} if self.base else {}
        return {
            f"row.patch.{name}.{layer}": partial(self.row_of, name, layer)
            for name, n_layers in layers.items()
            for layer in range(n_layers)
        }

    def row_of(self, name: str, layer: int) -> Array:
        """The shares of one layer, (T,) or (H,)."""
        _, source = self.values(name)
        found = np.full(source.shape[1], float(self.ends[0]))
        for at, places in self.exchanged(name):
            if at == layer:
                found[places] = self.with_each(name, layer, places, source[layer, places])
        return (found - self.ends[0]) / (self.ends[1] - self.ends[0])

    @cached_property
    def runs(self) -> tuple[dict[str, Array], dict[str, Array]]:
        """Both runs as they are."""
        return self.ran(as_given(self.base)), self.ran(as_given(self.source))

    @cached_property
    def ends(self) -> tuple[Array, Array]:
        """The numbers of both runs."""
        rows = (run["output"][self.wanted.position] for run in self.runs)
        base, source = (np.asarray(self.wanted.of(row)) for row in rows)
        return base, source

    def share(self, name: str) -> Array:
        """A grid as shares: 0 as the base, 1 as the source."""
        base, source = self.ends
        return (self.array(f"answer.patch.{name}") - base) / (source - base)

    def correlation(self, name: str) -> Array:
        """Pearson's r of the shares and what a gradient says they are; NaN where either is even."""
        both = np.stack([self.array(f"cells.{kind}patch.{name}") for kind in ("", "slope.")])
        if (both.max(axis=1) - both.min(axis=1) <= EVEN * np.abs(both).max(axis=1)).any():
            return np.array(np.nan)
        x, y = both - both.mean(axis=1, keepdims=True)
        return np.array(x @ y / np.sqrt((x @ x) * (y @ y)))

    def largest_error(self, name: str) -> Array:
        """The most by which the gradient is off."""
        return np.abs(self.array(f"patch.{name}") - self.array(f"slope.patch.{name}")).max()

    def grid(self, name: str) -> Array:
        """A grid of numbers."""
        _, source = self.values(name)
        found = np.full(source.shape[:2], float(self.ends[0]))
        for layer, places in self.exchanged(name):
            found[layer, places] = self.with_each(name, layer, places, source[layer, places])
        return found

    def slope(self, name: str) -> Array:
        """To first order, as a share: the slope along the difference, by central differences."""
        base, source = self.values(name)
        found = np.zeros(base.shape[:2])
        for layer, places in self.exchanged(name):
            own, step = base[layer, places], STEP * (source - base)[layer, places]
            up, down = (
                self.with_each(name, layer, places, value) for value in (own + step, own - step)
            )
            found[layer, places] = (up - down) / (2 * STEP)
        return found / (self.ends[1] - self.ends[0])

    def values(self, name: str) -> tuple[Array, Array]:
        """What may be exchanged, of base and source: (L, T, D), of heads (L, H, T, Dh)."""
        part = f"{self.stack}.blocks.{{}}.{'attn.z' if name == 'z' else name}"
        ends = ("n_layers", "n_encoder_layers")
        is_first = self.stack == "encoder" and self.before
        layers = range(self.files.config[ends[bool(is_first)]])
        base, source = (np.stack([run[part.format(i)] for i in layers]) for run in self.runs)
        return base, source

    def exchanged(self, name: str) -> Iterator[tuple[int, Array]]:
        """Each layer, and where its values differ: the same one in its place changes nothing."""
        base, source = self.values(name)
        differs = (base != source).reshape(*base.shape[:2], -1).any(axis=-1)
        for layer, places in enumerate(map(np.flatnonzero, differs)):
            if len(places):
                yield layer, places

    def with_each(self, name: str, layer: int, places: Array, values: Array) -> Array:
        """The number where one value of a layer is another, each by itself. (B,)."""
        wanted = f"{self.before}blocks.{layer}.{PLACES[name]}"
        return self.answers_with(as_given(self.base), wanted, (places,), values)

    @property
    def before(self) -> str:
        """What names of weights begin with where a model has two stacks."""
        return f"{self.stack}." if self.files.config["architecture"] == "encoder_decoder" else ""
