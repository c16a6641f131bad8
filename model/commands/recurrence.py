"""`python -m model recurrence`: train the three translators of the lesson, or score them."""

import json
from argparse import ArgumentParser, Namespace
from pathlib import Path

from model.commands import cli
from model.device import one_thread
from model.files import replacing
from model.lines import quoted
from model.recurrence import stored
from model.recurrence.scored import Score, scores
from model.recurrence.task import LONGEST, TASKS
from model.recurrence.training import started, train
from model.recurrence.translators import Translator, n_parameters

ROWS = 500
MOST_ROWS = 1_000_000


def add_arguments(parser: ArgumentParser) -> None:
    """Which one, what to do with it, and where it lies."""
    parser.add_argument("--model", choices=stored.NAMES, required=True, help="which of the three")
    parser.add_argument("--score", action="store_true", help="score what lies there; train nothing")
    parser.add_argument(
        "--rows", type=int, default=ROWS, metavar="N", help=f"to score each length with ({ROWS})"
    )
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="its folder")


def run(arguments: Namespace) -> cli.Answer:
    """Train as its recipe says, save, and score by length; or score alone. On one thread."""
    if not 1 <= arguments.rows <= MOST_ROWS:
        raise ValueError(f"--rows is {quoted(arguments.rows)}; give 1 to {MOST_ROWS:,}")
    if arguments.out.is_file():
        raise ValueError(f"{arguments.out} is a file; choose a folder")
    folder: Path = arguments.out
    with one_thread():
        if not arguments.score:
            _train(arguments.model, folder)
        model = stored.load(folder)
        lines = _scored(model, arguments.rows)
    stored.save_scores(folder, lines)
    exact = {
        task: {x.n_letters: x.n_exact / x.n_rows for x in lines if x.task == task} for task in TASKS
    }
    return cli.Answer({"model": arguments.model, "parameters": n_parameters(model), "exact": exact})


def _train(name: str, folder: Path) -> None:
    recipe = stored.recipe_of(name)
    lines: list[dict[str, float]] = []
    model = started(recipe)
    with cli.progress_bar("steps") as on_progress:
        for line in train(recipe, model):
            lines.append(line)
            on_progress(int(line["step"]), recipe.steps)
    stored.save(folder, model)
    with replacing(folder / "metrics.jsonl") as path:
        path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")


def _scored(model: Translator, n_rows: int) -> list[Score]:
    scored: list[Score] = []
    with cli.progress_bar("lengths") as on_progress:
        for each in scores(model, n_rows):
            scored.append(each)
            on_progress(len(scored), len(TASKS) * LONGEST)
    return scored
