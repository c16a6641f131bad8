"""What the parts of the lesson on recurrence share: the row of letters, and its other side."""

from dataclasses import dataclass

import numpy as np

from model.recurrence import stored
from model.recurrence.steps import Steps
from model.recurrence.task import drawn, ids_of, shown
from viz.frame import memory, state, words
from viz.frame.settings import ROW_LETTERS
from viz.runs import recurring

NAMES = {
    "fixed": "recurrent, one vector",
    "additive": "recurrent, with attention",
    "transformer": "Transformer",
}
DRAW = "draw-row"  # the button
LAST_GOOD = "recurrence-letters"  # of this visitor


@dataclass(frozen=True, eq=False)
class Shown:
    """The row that is shown under one task, in all three models."""

    task: str
    letters: tuple[int, ...]
    row: recurring.Row
    sizes: dict[str, tuple[int, Steps]]  # parameters, and steps for this row

    @property
    def rows_seen(self) -> dict[str, int]:
        """How many rows each model was trained on, as its recipe says."""
        recipes = {name: stored.recipe_of(name) for name in NAMES}
        return {name: recipe.steps * recipe.batch for name, recipe in recipes.items()}


def letters_of() -> tuple[int, ...]:
    """The letters that were typed or drawn; of what is not valid one line, and the last good ones.

    A drawn row stands in the address as a typed one does: the draw needs no seed.
    """
    if memory.pressed(DRAW) is not None:
        state.put((ROW_LETTERS, drawn(np.random.default_rng())))
    try:
        letters = ids_of(state.value(ROW_LETTERS))
    except ValueError as error:
        last, _ = memory.last(LAST_GOOD)
        letters = last or ids_of(ROW_LETTERS.default)
        words.notice(f"{error}. Shown is still “{shown(letters)}”.", kind="error")
    memory.remember(LAST_GOOD, letters, None)
    return letters


def shown_of(task: str, letters: tuple[int, ...]) -> Shown:
    """Run all three models on the row."""
    row = recurring.row_of(task, letters)
    return Shown(task, letters, row, recurring.sizes(len(letters)))
