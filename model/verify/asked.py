"""Runs with a value changed, once more: what is common to the arrays that pages compare with."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from model import reference
from model.verify.derived import log_softmax
from model.verify.named import Array, Named
from model.verify.texts import Vocabulary

Index = tuple[Array | int, ...]


class Wanted(NamedTuple):
    """A number of the logits at a position: a logit, a difference of two, or a loss in nats."""

    kind: str
    position: int
    answer: int
    other: int

    def of(self, logits: Array) -> Array:
        """logits: (…, V), at that position. Returns (…)."""
        if self.kind == "loss":
            return -log_softmax(logits)[..., self.answer]
        taken = np.zeros(()) if self.kind == "logit" else logits[..., self.other]
        return logits[..., self.answer] - taken


@dataclass(frozen=True, eq=False)
class Asked(Named):
    """Arrays of texts through one model; ids are those of the text that is on screen."""

    files: reference.Files
    ids: tuple[int, ...]
    wanted: Wanted
    vocabulary: Vocabulary

    @property
    def words(self) -> Vocabulary:
        """See `Named`."""
        return self.vocabulary

    @property
    def row(self) -> Sequence[int]:
        """See `Named`."""
        return self.ids

    @cached_property
    def model(self) -> reference.Reader:
        """Its weights by their names."""
        return reference.Reader(reference.Files(self.files.config, self.weights_read))

    @cached_property
    def weights_read(self) -> dict[str, Array]:
        """All tensors of the file in float64."""
        return {name: np.asarray(self.files.weights[name]) for name in self.files.weights}

    @property
    def n_layers(self) -> int:
        """How many blocks there are."""
        return int(self.files.config["n_layers"])

    def ran(self, given: reference.Given) -> dict[str, Array]:
        """All arrays of the run of an input."""
        return dict(reference.arrays(reference.Files(self.files.config, self.weights_read), given))

    def answers_with(self, given: reference.Given, place: str, at: Index, values: Array) -> Array:
        """The number where the array at a place is changed, a row of its own for each value. (B,).

        at: the indices of the values within that array, (B,) each.
        """
        n = len(values)

        def change(here: str, array: Array) -> Array:
            if here != place:
                return array
            rows = np.repeat(array[None], n, axis=0)
            rows[(np.arange(n), *at)] = values
            return rows

        files = reference.Files(self.files.config, self.weights_read, change)
        logits = dict(reference.arrays(files, given))["output"]
        return self.wanted.of(logits[:, self.wanted.position])

    def read(self, part: reference.Reader, x: Array, norm: str) -> Array:
        """What a sublayer takes of the stream."""
        return part.norm(norm, x) if self.is_pre_norm else x

    def written(self, part: reference.Reader, x: Array, update: Array, norm: str) -> Array:
        """The stream after a sublayer."""
        return x + update if self.is_pre_norm else part.norm(norm, x + update)

    @property
    def is_pre_norm(self) -> bool:
        """Whether sublayers take the stream normalised (Xiong et al. 2020, fig. 1b)."""
        return self.files.config["norm_placement"] == "pre"

    def answer(self, x: Array) -> Array:
        """The number of the stream after the last block at the position, x: (…, D). (…)."""
        stream = self.read(self.model, x, "final_norm")
        return self.wanted.of(reference.unembedded(self.model, stream, "embed"))
