"""`python -m model train`: from a recipe and text files to a checkpoint."""

import math
import shlex
import sys
import time
from argparse import ArgumentParser, Namespace
from collections import deque
from contextlib import ExitStack, closing
from dataclasses import asdict
from pathlib import Path

import torch
from tqdm import tqdm

from model.architectures.table import architecture
from model.commands import cli
from model.device import choose_device, has_fast_bfloat16
from model.lines import one_line, quoted
from model.sources.checkpoint import read_training
from model.training.evaluation import METRICS_FILE
from model.training.objectives import OBJECTIVES
from model.training.objectives.base import Data
from model.training.observers import BEST
from model.training.processes import joined
from model.training.recipe import Recipe
from model.training.run import train
from model.training.sized import recipe_for, size_of
from model.training.state import read_steps_done
from model.training.trainer import Metrics, Observer, Trainer

MANY_TIMES = 10  # from then on a text is learnt by heart rather than from


def add_arguments(parser: ArgumentParser) -> None:
    """The recipe, the texts, the folder."""
    parser.add_argument(
        "recipe",
        type=Path,
        nargs="?",
        metavar="RECIPE.toml",
        help="how to train, see `python -m model recipe` (default: a decoder sized by the corpus)",
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="a field of the recipe set otherwise, such as steps=500 or d_model=64",
    )
    parser.add_argument(
        "--corpus",
        type=Path,
        nargs="+",
        default=[],
        metavar="PATH",
        help="what to train on: text files (one named twice is seen twice per epoch), for a "
        "translation pairs of them, source then target, for pictures an .npz file; nothing for "
        "an objective that makes its own data",
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
    recipe = _recipe(arguments)
    objective = OBJECTIVES[recipe.objective]
    if objective.needs_corpus and not arguments.corpus:
        others = ", ".join(name for name, x in OBJECTIVES.items() if not x.needs_corpus)
        raise ValueError(
            f"the objective {recipe.objective!r} learns from files; give --corpus PATH, or a "
            f"recipe with an objective that makes its own data: {others}"
        )
    corpus = objective.read(arguments.corpus, arguments.held_out)
    device = choose_device(arguments.device)
    with joined(device) as processes:
        try:
            metrics = _train(recipe, corpus, arguments, device)
        except (KeyboardInterrupt, SystemExit):
            _say_how_to_go_on(recipe, arguments)
            raise
        if not processes.is_first:
            sys.exit(0)  # the first says it for all
    is_finished = read_steps_done(arguments.out) == recipe.total_steps
    if not is_finished:
        _say_how_to_go_on(recipe, arguments)
    return cli.Answer({"finished": is_finished, **(asdict(metrics) if metrics else {})})


def _recipe(arguments: Namespace) -> Recipe:
    """The one that was named, or one for what there is to read, and what was set otherwise."""
    if arguments.recipe is not None:
        return Recipe.load(arguments.recipe, arguments.set)
    return recipe_for(size_of(arguments.corpus), arguments.out.resolve().name).with_changes(
        arguments.set
    )


def _train(
    recipe: Recipe,
    corpus: Data,
    arguments: Namespace,
    device: torch.device,
) -> Metrics | None:
    """The last metrics; None when there was no step left to take."""
    if recipe.compile:
        print("the first step compiles the model, which takes up to a minute", file=sys.stderr)
    with ExitStack() as stack:
        lines = train(
            recipe,
            corpus,
            arguments.out,
            resume=arguments.resume,
            max_minutes=arguments.max_minutes,
            device=device,
            observers=[Telling(arguments.out, stack)],
        )
        with closing(lines):  # a signal that comes between two lines also ends in a saved state
            last = deque(lines, maxlen=1)
    return last.pop() if last else None


class Telling(Observer):
    """Says on standard error what is trained on what, how it goes, and what came out.

    While a person watches, one line with a bar says where it stands; in a pipe there is a line for
    each of the log.
    """

    def __init__(self, out: Path, stack: ExitStack) -> None:
        self.out, self.stack = out, stack
        self.held_out: float | None = None

    def at_start(self, trainer: Trainer) -> None:
        """What is trained on what, where, and where it is kept."""
        for line in first_lines(trainer, self.out):
            print(line, file=sys.stderr)
        self.first, self.began = trainer.steps_done, time.monotonic()
        bar = tqdm(
            total=trainer.recipe.total_steps,
            initial=trainer.steps_done,
            disable=None,
            dynamic_ncols=True,
            bar_format="step {n:,}/{total:,}{desc} · {remaining} left {bar}",
        )
        self.bar = self.stack.enter_context(bar)

    def after_step(self, trainer: Trainer) -> None:
        """Move the bar."""
        self.bar.update(trainer.steps_done - self.bar.n)

    def after_metrics(self, trainer: Trainer, metrics: Metrics) -> None:
        """How it goes, and after an evaluation how well, and what the model writes."""
        loss = metrics.held_out_loss
        self.held_out = self.held_out if loss is None else loss
        self.after_step(trainer)
        smoothed = "smoothed " if trainer.recipe.label_smoothing else ""
        stands = f" · {smoothed}loss {metrics.loss:.2f}"
        stands += "" if self.held_out is None else f" · held out {self.held_out:.2f}"
        stands += f" · {metrics.tokens_per_second / 1000:.1f} k tok/s"
        self.bar.set_description_str(stands, refresh=False)
        if self.bar.disable:
            total, left = trainer.recipe.total_steps, self._seconds_left(trainer)
            left = tqdm.format_interval(left)
            self._say(f"step {metrics.step:,}/{total:,}{stands} · {left} left")
        if loss is not None:
            self._say(evaluation_line(metrics))

    def at_end(self, trainer: Trainer) -> None:
        """Which checkpoint did best, and how it is opened."""
        self.bar.close()
        best, folder, said = read_training(self.out / BEST), self.out, ""
        if best is not None and best.held_out is not None:
            folder = self.out if best.step == trainer.steps_done else self.out / BEST
            said = f"best at step {best.step:,}: held out {best.held_out:.3f}; "
        command = shlex.join(["python", "-m", "headlight", "open", str(folder)])
        can_be_seen = architecture(trainer.model.config.architecture).capture is not None
        self._say(f"{said}{f'open it with: {command}' if can_be_seen else f'it is in {folder}'}")

    def _seconds_left(self, trainer: Trainer) -> float:
        done, left = (
            trainer.steps_done - self.first,
            trainer.recipe.total_steps - trainer.steps_done,
        )
        return left * (time.monotonic() - self.began) / max(done, 1)

    def _say(self, line: str) -> None:
        """A line above the bar."""
        tqdm.write(line, file=sys.stderr)


def first_lines(trainer: Trainer, out: Path) -> list[str]:
    """The model's size, how much it is trained on, on what, and where that is kept."""
    recipe, model, device = trainer.recipe, trainer.model, trainer.device
    config = model.config
    n_weights = sum(weight.numel() for weight in model.parameters())
    in_bfloat16 = recipe.precision == "bfloat16" and has_fast_bfloat16(device)
    n_threads = torch.get_num_threads()
    where = (
        f"cpu, {n_threads} thread{'s' * (n_threads > 1)}" if device.type == "cpu" else str(device)
    )
    return [
        f"{recipe.name}: {config.architecture} {config.in_words}, {n_weights:,} parameters",
        _seen(trainer),
        f"on {where}, in {'bfloat16' if in_bfloat16 else 'float32'}",
        f"checkpoint, state and {METRICS_FILE} in {quoted(str(out))}",
    ]


def _seen(trainer: Trainer) -> str:
    """How much there is to learn from, and how often each token of it is seen."""
    objective, steps = trainer.objective, trainer.recipe.total_steps
    if not objective.n_tokens:
        return f"new rows in each of {steps:,} steps"
    times = objective.tokens_until(steps) / objective.n_tokens
    seen = (
        f"{times:.1f} ×"
        if times < MANY_TIMES
        else f"{times:.0f} × over the text: expect overfitting"
    )
    return f"corpus: {objective.n_tokens:,} tokens, in {steps:,} steps each is seen {seen}"


def evaluation_line(metrics: Metrics) -> str:
    """How well the model does on what was held out, and what it writes by itself."""
    parts = [f"step {metrics.step:,}: held out {metrics.held_out_loss:.3f}"]
    bits = [
        x.bits_per_byte for x in (metrics.held_out or {}).values() if hasattr(x, "bits_per_byte")
    ]
    if bits:
        parts.append(f"{sum(bits) / len(bits):.3f} bits per byte")
    if metrics.sample:
        parts.append(f"writes {one_line(metrics.sample)!r}")
    return " · ".join(parts)


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
