"""Trainings as processes of their own, each found by its folder: begun, watched and steered there.

Whether one runs is told by the lock that it holds, which the system takes back however it ends.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from model.files import LARGEST_CONFIG, folder_to_write, opened, read_text, replacing
from model.lines import one_line, quoted, spelled
from model.sources import places
from model.sources.places import home
from model.training.evaluation import METRICS_FILE
from model.training.logs import read_lines
from model.training.needs import refuse_too_large, vocab_size_of
from model.training.recipe import RECIPE_FILE, Recipe
from model.training.state import STATE_FILE
from model.training.status import (
    LIVE,
    LOG_FILE,
    START,
    State,
    is_held,
    is_live,
    reading,
    started,
    state_of,
    step_of,
)
from model.training.watching import (
    CONTROL_FILE,
    FRAMES_FILE,
    FRAMES_INDEX,
    MOST_BYTES,
    PAUSE,
    STOP,
    asked,
    mask_of,
    read_index,
    sizes_of,
)

HOUSE = Path(__file__).resolve().parents[2]  # where Python finds `model`
CORPUS_FILE = "corpus.txt"
LONGEST_NAME = 60
NICENESS = 10


@dataclass(frozen=True, eq=False)
class Run:
    """A training as it stands in its folder.

    `lines` are those of its log, as in `Metrics`; `why` is said where it has failed. `recipe` is
    None only where the folder cannot be read.
    """

    folder: Path
    name: str
    recipe: Recipe | None
    state: State
    step: int
    total_steps: int
    lines: tuple[Mapping[str, Any], ...]
    why: str


@dataclass(frozen=True, eq=False)
class Frames:
    """Patterns of every head on one text as they formed, (S, L, H, Tq, Tk) float16, by step."""

    text: str
    steps: tuple[int, ...]
    queries: tuple[str, ...]
    keys: tuple[str, ...]
    mask: np.ndarray  # (Tq, Tk)
    patterns: np.ndarray  # a view of the file
    file: str  # another one for every file that there is; what is in one stays, and more comes


def runs_folder() -> Path:
    """Where the trainings lie that the app has begun."""
    return home() / "runs"


def shipped() -> tuple[Path, Path]:
    """Where the trainings lie that come with Headlight: checkpoints, and logs alone."""
    return places.SHIPPED, places.SHIPPED.parent / "trainings"


def live_names() -> list[str]:
    """Names of those of `runs_folder` that a process is at, by the alphabet; no log is read."""
    try:
        own = [x for x in runs_folder().iterdir() if (x / RECIPE_FILE).is_file() and is_live(x)]
    except OSError:
        own = []
    return sorted(spelled(x.name) for x in own)


def found_runs(also: Sequence[Path] = ()) -> list[Run]:
    """Those of `runs_folder`, the newest first, then the given ones; a broken one has failed."""
    try:
        own = [x for x in runs_folder().iterdir() if (x / RECIPE_FILE).is_file()]
        own.sort(key=lambda x: (x / RECIPE_FILE).stat().st_mtime, reverse=True)
    except OSError:
        own = []
    return [run_of(x) for x in {x.absolute(): x for x in (*own, *also)}.values()]


def run_of(folder: Path) -> Run:
    """A training by its folder; one that cannot be read has failed, and says why."""
    try:
        return read_run(folder)
    except ValueError as error:
        return Run(folder, spelled(folder.name), None, "failed", 0, 0, (), str(error))


def read_run(folder: Path) -> Run:
    """A training by its folder; ValueError of one line when it is none or broken."""
    try:
        recipe = _recipe(folder / RECIPE_FILE)
        state, why = state_of(folder, recipe)
        lines = read_lines(folder / METRICS_FILE)
        step = step_of(folder)
    except (OSError, ValueError) as error:
        raise ValueError(one_line(str(error))) from None
    if state in ("running", "paused", "stopping") and lines:
        step = max(step, lines[-1]["step"])
    step = min(step, recipe.total_steps)
    name = spelled(folder.name)
    return Run(folder, name, recipe, state, step, recipe.total_steps, lines, why)


def read_frames(folder: Path) -> list[Frames]:
    """The patterns that were kept so far of each text; none at first. ValueError when broken."""
    index, path = folder / FRAMES_INDEX, folder / FRAMES_FILE
    if not index.is_file() or not path.is_file() or not (found := read_index(index)):
        return []
    head, sizes = found[0], sizes_of(found[0])
    with opened(path, MOST_BYTES) as file:
        about = os.fstat(file.fileno())
        n = min(len(found) - 1, about.st_size // (2 * sum(sizes))) if sum(sizes) else 0
        if n < 1:
            return []
        whole = np.memmap(file, np.float16, "r", shape=(n, sum(sizes)))
    model = _recipe(folder / RECIPE_FILE).model
    steps = tuple(line["step"] for line in found[1 : n + 1])
    texts = zip(head["texts"], np.split(whole, np.cumsum(sizes)[:-1], axis=1), strict=True)
    return [
        Frames(
            text["text"],
            steps,
            (queries := tuple(text["queries"])),
            (keys := tuple(text["keys"])),
            mask_of(text, model),
            part.reshape(n, head["layers"], head["heads"], len(queries), len(keys)),
            f"{path} {about.st_dev} {about.st_ino} {number}",
        )
        for number, (text, part) in enumerate(texts)
    ]


def start(recipe: Recipe, *, text: str | None = None) -> Path:
    """Begin a training in a new folder of `runs_folder`, named after the recipe; gives the folder.

    It is a process of its own, which goes on when this one ends. ValueError where that cannot be:
    the text is too short, the memory too small, the disk full.
    """
    recipe = replace(recipe, name=quoted(recipe.name))
    content = None if text is None else text.encode(errors="replace")
    longest = max(stage.seq_len for stage in recipe.stages)
    if content is not None and len(content) <= 2 * longest:
        raise ValueError(
            f"the text has {len(content):,} bytes; windows of {longest} tokens need more than "
            f"{2 * longest:,}: give more text or a shorter seq_len"
        )
    if (n_live := len(live_names())) >= (most := os.cpu_count() or 1):
        raise ValueError(f"{n_live} trainings run already on {most} cores; stop one first")
    refuse_too_large(recipe, vocab_size_of(recipe, text))
    folder = _new_folder(recipe.name)
    try:
        with replacing(folder / RECIPE_FILE) as new:
            new.write_text(recipe.to_toml(), encoding="utf-8")
        if content is not None:
            with replacing(folder / CORPUS_FILE) as new:
                new.write_bytes(content)
        _recipe(folder / RECIPE_FILE)
        _spawn(folder)
    except ValueError:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return folder


def resume(folder: Path) -> None:
    """Go on with a training of `runs_folder` that has stopped or failed, in a new process."""
    _refuse_outside(folder)
    run = read_run(folder)
    if run.state in LIVE or run.state == "finished":
        raise ValueError(f"{run.name} is {run.state}; only what has stopped or failed is resumed")
    _spawn(folder, *(["--resume"] if (folder / STATE_FILE).is_file() else []))


def pause(folder: Path) -> None:
    """Have a training save after its step and wait, its process kept."""
    _refuse_idle(folder)
    _ask(folder, PAUSE)


def go_on(folder: Path) -> None:
    """End the pause of a training."""
    _refuse_idle(folder)
    (folder / CONTROL_FILE).unlink(missing_ok=True)


def stop(folder: Path) -> None:
    """Have a training save after its step and end; `resume` goes on from there."""
    process = started.get(folder.resolve())
    is_asked_to_start = asked(folder) == START and not is_held(folder)
    if is_asked_to_start and process is not None and process.poll() is None:
        _ask(folder, STOP)
        process.terminate()  # it saves on a signal, too, if it has begun meanwhile
        return
    _refuse_idle(folder)
    _ask(folder, STOP)


def delete(folder: Path) -> None:
    """Remove a training of `runs_folder` that does not run, with all that it left."""
    _refuse_outside(folder)
    if is_live(folder):
        raise ValueError(f"{quoted(folder.name)} is being trained; stop it first")
    try:
        shutil.rmtree(folder)  # which removes links, not what they lead to
    except OSError as error:
        raise ValueError(one_line(f"cannot remove {folder}: {error.strerror}")) from None


def _new_folder(name: str) -> Path:
    """A folder for a training of this name, or of one like it where one goes by that name."""
    safe = re.sub(r"[^\w.-]+", "-", name)[:LONGEST_NAME].strip("-.") or "training"
    top = folder_to_write(runs_folder().absolute())
    for number in count(1):
        folder = top / (safe if number == 1 else f"{safe}-{number}")
        if any((place / folder.name).exists() for place in shipped()):
            continue
        try:
            folder.mkdir()
            return folder
        except FileExistsError:
            continue
        except OSError as error:
            raise ValueError(one_line(f"cannot write {folder}: {error.strerror}")) from None
    raise AssertionError("numbers do not end")


def _spawn(folder: Path, *options: str) -> None:
    """Start the command in a session of its own: one thread, behind what a person waits for."""
    command = [sys.executable, "-P", "-m", "model", "train", str(folder / RECIPE_FILE)]
    command += ["--out", str(folder), *options]
    if (folder / CORPUS_FILE).is_file():
        command += ["--corpus", str(folder / CORPUS_FILE)]
    path = os.pathsep.join(filter(None, [str(HOUSE), os.environ.get("PYTHONPATH")]))
    one = {"OMP_NUM_THREADS": "1", "RAYON_NUM_THREADS": "1", "PYTHONPATH": path}
    _ask(folder, START)
    try:
        with (folder / LOG_FILE).open("wb") as log:
            process = subprocess.Popen(  # noqa: S603  our own words and a folder
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, **one},
                start_new_session=True,
                creationflags=getattr(subprocess, "BELOW_NORMAL_PRIORITY_CLASS", 0),
            )
    except OSError as error:
        raise ValueError(one_line(f"no training can be started: {error}")) from None
    started[folder.resolve()] = process
    if hasattr(os, "setpriority"):
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, process.pid, NICENESS)


def _ask(folder: Path, word: str) -> None:
    with reading, replacing(folder / CONTROL_FILE) as new:
        new.write_text(word, encoding="utf-8")


def _refuse_idle(folder: Path) -> None:
    if not is_held(folder):
        raise ValueError(f"no training runs in {quoted(folder)}")


def _refuse_outside(folder: Path) -> None:
    """ValueError for a folder that does not lie directly in `runs_folder`."""
    try:
        is_inside = folder.resolve().parent == runs_folder().resolve()
        is_own = is_inside and folder.is_dir() and not folder.is_symlink()
    except (OSError, RuntimeError, ValueError):
        is_own = False
    if not is_own:
        raise ValueError(f"{quoted(folder)} is no training of {quoted(runs_folder())}")


def _recipe(path: Path) -> Recipe:
    if not path.is_file():
        raise ValueError(f"{quoted(path.parent)} is no training: {path.name} is missing")
    about = path.stat()
    return _read_recipe(path, about.st_mtime_ns, about.st_size)


@lru_cache(maxsize=256)
def _read_recipe(path: Path, _changed: int, _size: int) -> Recipe:
    read_text(path, LARGEST_CONFIG)  # refuses what is no file, or too large a one
    try:
        return Recipe.load(path)
    except RecursionError:
        raise ValueError(f"{path} is not a recipe; remove it") from None
