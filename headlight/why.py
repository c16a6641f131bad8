"""Why a head looks there, in a notebook: `run.why(layer, head, query, key)`."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from model.analysis.why.reasons import Cell
from model.analysis.why.sentence import sentence
from model.analysis.why.tables import TOKENS, kind_rows, number_of, word_rows, writer_rows
from viz.kit.part import Part, Pictured
from viz.kit.parts.why import why_part


@dataclass(frozen=True, eq=False)
class Why(Pictured):
    """One attention score as the exact sum of what the query holds and what the key holds.

    A score is told less the mean of those of all keys that the query may attend to, or less that of
    the other key it is compared with. Norms, patterns and gates are held as they were in this run.
    It shows itself as a sentence; `cell` has all of it.
    """

    cell: Cell

    @property
    def score(self) -> float:
        """What `kinds` add up to, and `words`."""
        return self.cell.score

    @property
    def weight(self) -> float:
        """The weight, as it ran."""
        return self.cell.weight

    @property
    def kinds(self) -> pd.DataFrame:
        """The score in four: place alone, the key whoever asks, the query alone, a match of both.

        `weight_without`: the weight that is left, norms held, where that is taken away.
        """
        return pd.DataFrame(kind_rows(self.cell))

    @property
    def words(self) -> pd.DataFrame:
        """Each word that the query holds with each that the key holds, the largest first."""
        return pd.DataFrame(word_rows(self.cell)).astype(dict.fromkeys(TOKENS, "Int64"))

    @property
    def writers(self) -> pd.DataFrame:
        """Who wrote the query and who wrote the key, the largest first, each side by itself.

        In the first layers what MLPs wrote is counted to those that they read.
        """
        return pd.DataFrame(writer_rows(self.cell))

    def without(self, query: int | str | None = None, key: int | str | None = None) -> np.ndarray:
        """The row of weights (Tk,) without something that the query holds, or the key, or a pair.

        query, key: a word by the number of its token, or a writer by its name, as in `writers`; of
        writers, one side at a time. ValueError for what is not there.
        """
        if query is None and key is None:
            raise ValueError("nothing is taken away; give query, key or both")
        asked = [one for one in (query, key) if one is not None]
        if all(isinstance(one, int | np.integer) for one in asked):
            row = self.cell.words
            sides = ((row.asking, query), (row.asked, key))
            return row.without(
                *(None if x is None else number_of(side, int(x)) for side, x in sides)
            )
        if len(asked) == 2 or not isinstance(asked[0], str):
            raise ValueError("give the numbers of two tokens, or the name of one writer")
        side = self.cell.writers[int(query is None)]
        return side.without(number_of(side.writers, asked[0]))

    @property
    def part(self) -> Part:
        """The picture; in a notebook it shows itself."""
        return why_part(self.cell)

    def __repr__(self) -> str:
        return sentence(self.cell)
