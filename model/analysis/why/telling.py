"""A cell as it is worked out, layer by layer: its words, who wrote it, who brought the words."""

from collections.abc import Iterator

from model.analysis.why.reasons import Cell
from model.analysis.why.sentence import heads_looked_up
from model.analysis.why.sides import Sides, n_steps
from model.work import Steps, Work

WORDS, WRITERS = 0.65, 0.85  # how much of the work each is done at


class Telling(Work):
    """What is there of a cell: all of it once this is done, unless there is a `refusal`."""

    refusal: str = ""  # why nothing more can be said

    def __init__(self, cell: Cell) -> None:
        """ValueError where the parts of the model do not add up to its score."""
        self.cell, self._progress = cell, 0.0
        _ = cell.apart
        self._pieces = self._worked_out()

    @property
    def progress(self) -> float:
        """See `Work`."""
        return self._progress

    def go_on(self) -> bool:
        """See `Work`."""
        try:
            self._progress = next(self._pieces, 1.0)
        except ValueError as error:
            self.refusal, self._progress = str(error), 1.0
        return self._progress < 1

    def _worked_out(self) -> Iterator[float]:
        cell, asked = self.cell, self.cell.reasons
        yield from self._until(WORDS, asked.words())
        _ = cell.words
        yield from self._until(WRITERS, asked.writers())
        _ = cell.writers
        looked_up = heads_looked_up(cell)
        for number, heads in enumerate(looked_up, start=1):
            end = WRITERS + (1 - WRITERS) * number / len(looked_up)
            yield from self._until(end, asked.writers(heads))

    def _until(self, end: float, steps: Steps[Sides]) -> Iterator[float]:
        """The progress after each step of some work that ends at `end`."""
        begin, asked = self._progress, self.cell.reasons
        share = (end - begin) / (1 + n_steps(asked.model, asked.site))
        for number, _ in enumerate(steps, start=1):
            yield begin + number * share
