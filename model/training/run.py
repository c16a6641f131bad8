"""One training run in one folder: the parts a recipe names, put together and watched."""

import math
import os
import shutil
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from itertools import chain
from pathlib import Path

import torch
from filelock import FileLock, Timeout

from model.data.text import digest
from model.data.tokenizer import TOKENIZERS, Tokenizer
from model.device import choose_device
from model.files import folder_to_write, replacing
from model.lines import one_line
from model.sources.checkpoint import find_folder, load_model
from model.sources.places import SNAPSHOT
from model.training.needs import refuse_too_large
from model.training.objectives import OBJECTIVES
from model.training.objectives.base import Data
from model.training.observers import BEST, MetricsLog, Saver, Snapshots
from model.training.plan import log_spaced
from model.training.processes import here
from model.training.recipe import RECIPE_FILE, Recipe
from model.training.state import STATE_FILE, TrainingState
from model.training.trainer import Metrics, Observer, Trainer, build_model
from model.training.watching import (
    CONTROL_FILE,
    PAUSED_FILE,
    RUNNING_FILE,
    AttentionFrames,
    Control,
)
from model.weights import take_weights

LOCK_FILE, TOKENIZER_FILE = ".training.lock", "tokenizer.json"
TOO_MUCH = 2  # times the free memory: what is needed is counted from above
FAILED_FILE = "failed.txt"  # why a training has failed
LOCK_SECONDS = 1  # who looks whether the lock is held has it for a moment


def train(
    recipe: Recipe,
    corpus: Data,
    out: Path,
    *,
    resume: bool = False,
    max_minutes: float = math.inf,
    device: torch.device | None = None,
    observers: Sequence[Observer] = (),
) -> Generator[Metrics, None, None]:
    """Train and yield metrics; in `out` is the checkpoint so far, in the end the finished one.

    The one that did best on held-out data is in `out/best`. Stops early, with its state saved,
    after `max_minutes`, on a signal and when the iterator is closed; `resume` goes on from that
    state and gives the same weights bit for bit on CPU. Metrics are also written to
    `out/metrics.jsonl`. Of several processes the first alone writes and is watched.
    """
    if not max_minutes >= 0:
        raise ValueError(f"the time to train is {max_minutes:g} minutes; it must be at least 0")
    _refuse_missing_compiler(recipe)
    processes = here()
    with ExitStack() as stack:
        if processes.is_first:
            _prepare(out, resume)
            stack.enter_context(_alone(out))
            stack.enter_context(_telling_why(out))
            _keep_recipe(recipe, out)
        else:
            processes.wait()  # until the tokenizer is there
        tokenizer = _tokenizer(recipe, corpus, out, resume or not processes.is_first)
        if processes.is_first:
            if tokenizer is not None:
                with replacing(out / TOKENIZER_FILE) as new:
                    tokenizer.save(new)
            processes.wait()
        trainer = _trainer(recipe, corpus, tokenizer, device)
        if resume:
            trainer.restore(TrainingState.read(out))
        watching: Sequence[Observer] = ()
        if processes.is_first:
            watching = _watching(trainer, tokenizer, out, observers)
        yield from trainer.run(watching, max_minutes)


def _watching(
    trainer: Trainer, tokenizer: Tokenizer | None, out: Path, observers: Sequence[Observer]
) -> Sequence[Observer]:
    """Those who write into the folder of a run, others, and who does what is asked there."""
    recipe = trainer.recipe
    saver = Saver(out, tokenizer, recipe.save_every)
    return (
        MetricsLog(out, trainer.steps_done),
        AttentionFrames(out),
        Snapshots(out, tokenizer, log_spaced(recipe.total_steps, recipe.snapshots)),
        saver,
        *observers,
        Control(out, saver),
    )


def _refuse_missing_compiler(recipe: Recipe) -> None:
    """torch compiles a model with the machine's C++ compiler."""
    compiler = os.environ.get("CXX") or "g++"
    if recipe.compile and not shutil.which(compiler):
        raise ValueError(
            f"the recipe says compile = true, which needs the C++ compiler {compiler}, and there "
            "is none; install it, or set compile = false in the recipe"
        )


def _trainer(
    recipe: Recipe,
    corpus: Data,
    tokenizer: Tokenizer | None,
    device: torch.device | None,
) -> Trainer:
    """The recipe's model and what it learns, before the first step."""
    kind, vocab_size = OBJECTIVES[recipe.objective], tokenizer.vocab_size if tokenizer else None
    refuse_too_large(recipe, vocab_size, TOO_MUCH)
    model = build_model(recipe, vocab_size)
    if recipe.weights_of:
        take_weights(model, load_model(recipe.weights_of, device="cpu")[0])
    if model.config.architecture not in kind.architectures:
        raise ValueError(
            f"recipe: the objective {recipe.objective!r} trains the architecture "
            f"{' or '.join(map(repr, kind.architectures))}, but [model] is a "
            f"{model.config.architecture!r}; change one"
        )
    objective = kind(tokenizer, corpus, recipe.plan)
    made = tokenizer.to_json() if tokenizer else "none"
    data = {"the corpus": corpus.digest, "the tokenizer": digest([made])}
    return Trainer(recipe, model, objective, device or choose_device(), data)


@contextmanager
def _alone(out: Path) -> Iterator[None]:
    """No other training in this folder meanwhile; what a killed one left half written goes.

    The lock is the system's own, so it is gone with the process that had it, however it ended. The
    file `running` stays where that was killed.
    """
    running = out / RUNNING_FILE
    try:
        with FileLock(out / LOCK_FILE, timeout=LOCK_SECONDS):
            half = (out.glob(f"{place}*.new") for place in ("", f"{BEST}/", f"{SNAPSHOT}*/"))
            stale = (out / name for name in (CONTROL_FILE, PAUSED_FILE, FAILED_FILE))
            for left_over in [*chain(*half), *stale]:
                left_over.unlink(missing_ok=True)
            with replacing(running) as new:
                new.touch()
            try:
                yield
            finally:
                running.unlink(missing_ok=True)
    except Timeout:
        raise ValueError(
            f"{out} is being trained in by another process; wait for it or choose another folder"
        ) from None


@contextmanager
def _telling_why(out: Path) -> Iterator[None]:
    """Leave beside the run why it failed, for those who watch it."""
    try:
        yield
    except Exception as error:
        with suppress(OSError):  # a full disk
            why = one_line(str(error) or type(error).__name__)
            (out / FAILED_FILE).write_text(f"{why}\n", encoding="utf-8")
        raise


def _keep_recipe(recipe: Recipe, out: Path) -> None:
    """Write the recipe beside the run, unless the one that is there says the same."""
    path = out / RECIPE_FILE
    try:
        is_there = Recipe.load(path) == recipe
    except ValueError:
        is_there = False
    if not is_there:
        with replacing(path) as new:
            new.write_text(recipe.to_toml(), encoding="utf-8")


def _prepare(out: Path, resume: bool) -> None:
    """Make the folder; ValueError where a start would have nothing to go on from, or destroy."""
    state = out / STATE_FILE
    if resume and not state.is_file():
        raise ValueError(f"{state} is missing; start without --resume")
    if state.is_file() and not resume:
        raise ValueError(f"{out} holds a training run; add --resume or choose another folder")
    if not resume and any((x / "model.safetensors").is_file() for x in (out, out / BEST)):
        raise ValueError(f"{out} holds a finished checkpoint; choose another folder")
    folder_to_write(out)
    if not os.access(out, os.W_OK):
        raise ValueError(f"cannot write to {out}: no permission; choose another")


def _tokenizer(recipe: Recipe, corpus: Data, out: Path, resume: bool) -> Tokenizer | None:
    """The run's own after its beginning; else as the recipe says, None for what reads no text."""
    if resume and (out / TOKENIZER_FILE).is_file():
        return Tokenizer.load(out / TOKENIZER_FILE)
    objective = OBJECTIVES[recipe.objective]
    if objective.reads_text == (recipe.tokenizer == "none"):
        needs = (
            "reads text and needs one" if objective.reads_text else "reads none and takes 'none'"
        )
        raise ValueError(
            f"recipe: tokenizer is {recipe.tokenizer!r}; the objective {recipe.objective!r} {needs}"
        )
    specials = objective.specials
    if recipe.tokenizer_of:
        tokenizer = Tokenizer.load(find_folder(recipe.tokenizer_of) / TOKENIZER_FILE)
        return tokenizer.with_specials(specials)
    return TOKENIZERS[recipe.tokenizer](corpus.texts, recipe.vocab_size, specials)
