"""`python -m model train`: from a recipe and text files to a checkpoint."""

import math
import shlex
import sys
from argparse import ArgumentParser, Namespace
from collections import deque
from contextlib import closing
from dataclasses import asdict
from pathlib import Path

from model.commands import cli
from model.device import choose_device
from model.training.objectives import OBJECTIVES
from model.training.objectives.base import Data
from model.training.observers import Progress
from model.training.recipe import Recipe
from model.training.run import train
from model.training.state import read_steps_done
from model.training.trainer import Metrics


def add_arguments(parser: ArgumentParser) -> None:
    """The recipe, the texts, the folder."""
    parser.add_argument(
        "recipe", type=Path, metavar="RECIPE.toml", help="how to train, see assets/recipes"
    )
    parser.add_argument(
        "--corpus",
        type=Path,
        nargs="+",
        required=True,
        metavar="PATH",
        help="what to train on: text files (one named twice is seen twice per epoch), for a "
        "translation pairs of them, source then target, for pictures an .npz file",
    )
    parser.add_argument(
        "--held-out",
        type=Path,
        nargs="+",
        default=[],
        metavar="PATH",
        help="the same to evaluate on (default: the last 1%% of texts, a twelfth of pictures)",
    )
    parser.add_argument(
        "--out", type=Path, required=True, metavar="DIR", help="folder for the checkpoint"
    )
    parser.add_argument("--resume", action="store_true", help="go on from the state in --out")
    parser.add_argument(
        "--max-minutes", type=float, default=math.inf, metavar="M", help="stop after this long"
    )
    cli.add_device_argument(parser)


def run(arguments: Namespace) -> cli.Answer:
    """Train to the end, or until it is stopped; then one line says how to go on."""
    recipe = Recipe.load(arguments.recipe)
    corpus = OBJECTIVES[recipe.objective].read(arguments.corpus, arguments.held_out)
    try:
        metrics = _train(recipe, corpus, arguments)
    except (KeyboardInterrupt, SystemExit):
        _say_how_to_go_on(recipe, arguments)
        raise
    is_finished = read_steps_done(arguments.out) == recipe.total_steps
    if not is_finished:
        _say_how_to_go_on(recipe, arguments)
    return cli.Answer({"finished": is_finished, **(asdict(metrics) if metrics else {})})


def _train(recipe: Recipe, corpus: Data, arguments: Namespace) -> Metrics | None:
    """The last metrics; None when there was no step left to take."""
    if recipe.compile:
        print("the first step compiles the model, which takes up to a minute", file=sys.stderr)
    with cli.progress_bar(f"train {recipe.name}") as on_progress:
        lines = train(
            recipe,
            corpus,
            arguments.out,
            resume=arguments.resume,
            max_minutes=arguments.max_minutes,
            device=choose_device(arguments.device),
            observers=[Progress(on_progress)],
        )
        with closing(lines):  # a signal that comes between two lines also ends in a saved state
            last = deque(lines, maxlen=1)
    return last.pop() if last else None


def _say_how_to_go_on(recipe: Recipe, arguments: Namespace) -> None:
    steps_done = read_steps_done(arguments.out)
    if steps_done is None:
        print("stopped before the first step; nothing is saved, start again", file=sys.stderr)
        return
    again = ["python", "-m", "model", "train", *arguments.words]
    again += [] if arguments.resume else ["--resume"]
    print(
        f"stopped after step {steps_done} of {recipe.total_steps}; go on with: {shlex.join(again)}",
        file=sys.stderr,
    )
