"""The three trained translators that come with Headlight: checkpoints, and how they are trained.

`assets/recurrence/NAME.toml` is the recipe of each; how its rows come out by length is the last
evaluation of its log.
"""

from functools import lru_cache
from pathlib import Path
from typing import cast

from model.fields import from_fields
from model.lines import spelled
from model.recurrence.reading import Translator
from model.sources.checkpoint import load_model
from model.training.evaluation import METRICS_FILE
from model.training.logs import read_lines
from model.training.objectives.letters import RowScores
from model.training.recipe import Recipe

SHIPPED = Path(__file__).resolve().parents[2] / "assets" / "recurrence"
NAMES = ("fixed", "additive", "transformer")


@lru_cache(maxsize=len(NAMES))
def shipped(name: str) -> Translator:
    """One of `NAMES` as it comes with Headlight."""
    return cast("Translator", load_model(SHIPPED / name, "cpu")[0])


def recipe_of(name: str) -> Recipe:
    """How one of `NAMES` is trained."""
    return Recipe.load(SHIPPED / f"{name}.toml")


def read_scores(folder: Path, task: str) -> RowScores:
    """How the rows of a task came out at the end of a training; ValueError where it is not said."""
    path = folder / METRICS_FILE
    lines = read_lines(path)
    scores = (lines[-1]["held_out"] or {}).get(task) if lines else None
    if scores is None:
        raise ValueError(f"{spelled(path)} does not end with scores of {task}; train to the end")
    return from_fields(RowScores, scores, spelled(path))


def accuracy_by_length(folder: Path, task: str, *, of_rows: bool) -> tuple[list[int], list[float]]:
    """Letters, and the share of rows that are exact, or of letters that are at their place."""
    scores = read_scores(folder, task)
    lengths = range(1, len(scores.n_exact) + 1)
    if of_rows:
        return [*lengths], [n / scores.n_rows for n in scores.n_exact]
    counted = zip(lengths, scores.n_right, strict=True)
    return [*lengths], [n_right / (scores.n_rows * n) for n, n_right in counted]
