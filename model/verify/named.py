"""Arrays by name, each worked out when it is first asked for."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import RLock

import numpy as np

from model.verify.stated import as_stated, indices
from model.verify.texts import Vocabulary, texts_of_ids

Array = np.ndarray
Made = Mapping[str, Callable[[], Array]]


@dataclass(frozen=True, eq=False)
class Named(ABC):
    """What one page compares with, beside the arrays of a whole run."""

    _kept: dict[str, Array] = field(default_factory=dict, init=False)
    _computing: RLock = field(default_factory=RLock, init=False)

    @property
    @abstractmethod
    def words(self) -> Vocabulary:
        """The bytes of each id."""

    @property
    @abstractmethod
    def row(self) -> Sequence[int]:
        """The ids of the one row of input there is."""

    @abstractmethod
    def made(self) -> Made:
        """What makes each array."""

    def labels(self, stream: int = -1) -> list[str | None]:
        """What the tokens of the row stand for."""
        return self.texts(self.row)

    def texts(self, wanted: Sequence[int]) -> list[str | None]:
        """What ids stand for; ValueError for an id that the vocabulary does not have."""
        return texts_of_ids(self.words, wanted)

    def array(self, address: str) -> Array:
        """One of the arrays, or in brackets a part of it, as [2,0:4]. ValueError for none.

        An address may state something, see `model.verify.stated`.
        """
        return as_stated(self._part, address)

    def _part(self, address: str) -> Array:
        name, _, part = address.rstrip("]").partition("[")
        try:
            make = self.made()[name]
            place = indices(part) if part else ()
        except (KeyError, ValueError):
            raise ValueError(f"there is nothing at {address}") from None
        with self._computing:  # who asks for the same waits for it
            if name not in self._kept:
                self._kept[name] = np.asarray(make())
        array = self._kept[name]
        try:
            return array[place]
        except IndexError:
            raise ValueError(f"{name} of shape {array.shape} has no part [{part}]") from None
