"""What parts cost that are switched off by themselves, or together, by independent runs."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from model import reference
from model.verify.derived import Ran
from model.verify.edited import EDITED, files_of_rows
from model.verify.independent import NUMBERED, IndependentRun
from model.verify.named import Array, Made, Named
from model.verify.texts import Vocabulary

RISE = 0.05  # of the loss with nothing off, up to which parts can go
AT_ONCE = 512  # tokens of the runs that go side by side
Cell = tuple[str, ...] | None  # parts that are off, by their spellings; None, there is no cell
Grid = tuple[tuple[Cell, ...], ...]  # row by row


@dataclass(frozen=True, eq=False)
class IndependentCosts(Named):
    """The mean loss of an input with parts at zero.

    `judged` is the address of the losses, as judged.next. Asked for by the names of `grids`:
    losses.heads is (R, C), the loss with the parts of each cell off, NaN where there is no cell;
    costs.heads is that less the loss with nothing off, losses.none, and costs.sizes.heads how far
    that is from 0; prunable.heads is how many of the cells after the first come before one whose
    loss is more than 5 % above that with nothing off.
    """

    run: IndependentRun
    judged: str
    grids: Mapping[str, Grid]

    @property
    def words(self) -> Vocabulary:
        """See `Named`."""
        return self.run.vocabulary

    @property
    def row(self) -> Sequence[int]:
        """See `Named`."""
        given = self.run.given
        own = given[-1] if isinstance(given, tuple) else given
        return own.tolist() if own.ndim == 1 else ()

    def made(self) -> Made:
        """See `Named`."""
        return {
            "losses.none": lambda: np.array(self.mean_loss(self.whole["output"])),
            **{f"losses.{name}": partial(self.losses, name) for name in self.grids},
            **{f"costs.{name}": partial(self.costs, name) for name in self.grids},
            **{f"prunable.{name}": partial(self.prunable, name) for name in self.grids},
            **{f"costs.sizes.{name}": partial(self.sizes, name) for name in self.grids},
        }

    @cached_property
    def whole(self) -> dict[str, Array]:
        """All arrays with nothing off."""
        return dict(reference.arrays(self.run.files, self.run.given, self.run.mask))

    def mean_loss(self, logits: Array) -> float:
        """The mean over what is judged, of one run's logits (T, V)."""
        name, numbers = NUMBERED.fullmatch(self.judged).groups()  # type: ignore[union-attr]
        work: Callable[..., Array] = EDITED[name]
        ran = Ran(self.run.files, self.whole | {"output": logits})
        return float(work(ran, *map(int, numbers.split(".")[1:])).mean())

    def costs(self, name: str) -> Array:
        """How much the loss rises, (R, C)."""
        return self.losses(name) - self.mean_loss(self.whole["output"])

    def prunable(self, name: str) -> Array:
        """How many parts can go, one after the other."""
        _, *after = self.array(f"losses.{name}").ravel()
        bound = (1 + RISE) * self.mean_loss(self.whole["output"])
        return np.array(next((n for n, loss in enumerate(after) if loss > bound), len(after)))

    def sizes(self, name: str) -> Array:
        """How much the loss changes either way, (R, C)."""
        return np.abs(self.costs(name))

    def losses(self, name: str) -> Array:
        """The loss of each cell, (R, C)."""
        cells = [cell for row in self.grids[name] for cell in row]
        found = np.full(len(cells), np.nan)
        known = [place for place, cell in enumerate(cells) if cell is not None]
        found[known] = list(self._with_off([cell for cell in cells if cell is not None]))
        return found.reshape(len(self.grids[name]), -1)

    def _with_off(self, rows: Sequence[Sequence[str]]) -> Iterator[float]:
        """The loss under each row of parts, several rows at once."""
        n_tokens = sum(len(array) for name, array in self.whole.items() if name.endswith(".embed"))
        size = max(1, AT_ONCE // n_tokens)
        for first in range(0, len(rows), size):
            files = files_of_rows(self.run.files, rows[first : first + size], self.whole)
            for name, array in reference.arrays(files, self.run.given, self.run.mask):
                if name == "output":
                    yield from map(self.mean_loss, array)
