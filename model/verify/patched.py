"""Grids of activation patching, worked out once more: each cell a forward pass of its own.

In numpy float64 from the files alone. The pass begins where the value is replaced, from the base's
arrays of the independent run.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from model import reference
from model.verify.asked import Array, Asked

Change = Callable[[str, Array], Array]
OF_POSITIONS = ("resid_pre", "attn_out", "ffn_out")


@dataclass(frozen=True, eq=False)
class IndependentPatches(Asked):
    """What a decoder answers for `base` with one value of `source` in it.

    Asked for by address: patch.resid_pre, patch.attn_out, patch.ffn_out (L, T) and patch.z (L, H)
    are shares of what there is to bring back, with `answer.` before them the numbers themselves;
    patch.base and patch.source are those of the two runs as they are.
    """

    base: tuple[int, ...] = ()
    source: tuple[int, ...] = ()

    def made(self) -> Mapping[str, Callable[[], Array]]:
        """See `Asked`."""
        grids = (*OF_POSITIONS, "z")
        return {
            "patch.base": lambda: self.ends[0],
            "patch.source": lambda: self.ends[1],
            **{f"answer.patch.{name}": partial(self.grid, name) for name in grids},
            **{f"patch.{name}": partial(self.share, name) for name in grids},
        }

    @cached_property
    def runs(self) -> tuple[dict[str, Array], dict[str, Array]]:
        """Both runs as they are."""
        return self.ran(self.base), self.ran(self.source)

    @cached_property
    def ends(self) -> tuple[Array, Array]:
        """The numbers of both runs."""
        rows = (run["output"][self.wanted.position] for run in self.runs)
        base, source = (np.asarray(self.wanted.of(row)) for row in rows)
        return base, source

    def share(self, name: str) -> Array:
        """A grid as shares: 0 as the base, 1 as the source."""
        base, source = self.ends
        return (self.grid(name) - base) / (source - base)

    def grid(self, name: str) -> Array:
        """A grid of numbers."""
        address = "decoder.blocks.{}.attn.z" if name == "z" else f"decoder.blocks.{{}}.{name}"
        base, source = ([run[address.format(i)] for i in range(self.n_layers)] for run in self.runs)
        found = np.full((self.n_layers, len(base[0])), float(self.ends[0]))
        for layer, place in np.ndindex(found.shape):
            own, other = base[layer][place], source[layer][place]
            if not np.array_equal(own, other):  # the same value in its place changes nothing
                found[layer, place] = self.with_one(name, layer, place, other)
        return found

    def with_one(self, name: str, layer: int, place: int, value: Array) -> float:
        """The number where one value of a layer is another."""

        def change(which: str, array: Array) -> Array:
            if which != name:
                return array
            changed = array.copy()
            changed[place] = value
            return changed

        x = self.block(layer, self.runs[0][f"decoder.blocks.{layer}.resid_pre"], change)
        for following in range(layer + 1, self.n_layers):
            x = self.block(following, x, lambda which, array: array)
        return float(self.answer(x[self.wanted.position]))

    def block(self, layer: int, x: Array, change: Change) -> Array:
        """One block of the decoder, each of its values through `change`. x: (T, D)."""
        part = self.model.part(f"blocks.{layer}")
        x = change("resid_pre", x)
        normed = self.read(part, x, "attn_norm")
        mask = reference.own_mask(self.files.config, len(x))
        found, _ = reference.attention(part.part("attn"), normed, normed, mask)
        z = change("z", found["z"]).transpose(1, 0, 2).reshape(len(x), -1)
        attn_out = change("attn_out", part.part("attn").linear("out_proj", z))
        middle = self.written(part, x, attn_out, "attn_norm")
        ffn_out = reference.feed_forward(part.part("ffn"), self.read(part, middle, "ffn_norm"))
        return self.written(part, middle, change("ffn_out", ffn_out), "ffn_norm")
