"""A cell as it is worked out: its kinds at once, its words layer by layer, then who wrote them."""

from collections.abc import Iterator

from model.analysis.why.reasons import Cell
from model.analysis.why.sentence import sentence
from model.work import Work

WORDS, WRITERS = 0.6, 0.9  # how much of the work each is done at


class Telling(Work):
    """What is there of a cell: all of it once this is done."""

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
        self._progress = next(self._pieces, 1.0)
        return self._progress < 1

    def _worked_out(self) -> Iterator[float]:
        for share in self.cell.reasons.reading_words():
            yield WORDS * share
        _ = self.cell.words
        yield WORDS
        _ = self.cell.writers
        yield WRITERS
        sentence(self.cell)  # looks up who brought the words
