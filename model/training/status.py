"""What a training of its own process does: told by its lock and by what lies in its folder.

The system takes the lock back however the process ends.
"""

import os
import subprocess
import threading
import time
from pathlib import Path
from typing import Literal

from filelock import FileLock, Timeout

from model.files import LARGEST_CONFIG, opened
from model.lines import one_line
from model.sources.checkpoint import read_training
from model.training.evaluation import METRICS_FILE
from model.training.logs import read_lines
from model.training.recipe import Recipe
from model.training.run import FAILED_FILE, LOCK_FILE
from model.training.state import read_steps_done
from model.training.watching import CONTROL_FILE, PAUSED_FILE, RUNNING_FILE, STOP, asked

LOG_FILE = "train.log"
START = "start"  # what the control file says until the training has begun
START_SECONDS = 60  # so long is one that another process has started believed to come

State = Literal["starting", "running", "paused", "stopping", "stopped", "finished", "failed"]
LIVE = ("starting", "running", "paused", "stopping")  # states in which a process is there

started: dict[Path, subprocess.Popen[bytes]] = {}  # by this process
reading = threading.Lock()


def state_of(folder: Path, recipe: Recipe) -> tuple[State, str]:
    """What a training does, and why it has failed."""
    word = asked(folder)  # before the lock: whoever takes that takes the word away
    if word == STOP and is_live(folder):
        return "stopping", ""
    if is_held(folder):
        if (folder / PAUSED_FILE).exists():
            return "paused", ""
        return ("running" if _has_begun(folder) else "starting"), ""
    if word == START:
        if is_coming(folder):
            return "starting", ""
        return "failed", _last_line(folder / LOG_FILE) or "it ended before it began"
    why = _last_line(folder / FAILED_FILE) or _said_last(folder)
    if why or (folder / FAILED_FILE).is_file():  # an empty one where the disk was full
        return "failed", why or "it ended with an error"
    if (folder / RUNNING_FILE).exists() and not is_held(folder):  # nor has just begun
        return "failed", _how_it_ended(folder)
    saved = read_training(folder)
    return ("finished" if saved and saved.step == recipe.total_steps else "stopped"), ""


def is_live(folder: Path) -> bool:
    """Whether a process is there: it trains, is about to begin, or was told to end."""
    word, process = asked(folder), started.get(folder.resolve())
    if is_held(folder):
        return True
    if process is not None:
        return word in (START, STOP) and process.poll() is None
    return word == START and is_coming(folder)


def _has_begun(folder: Path) -> bool:
    """Whether the process that has the lock takes steps: it begins the log, or goes on with it."""
    changed = _changed(folder / METRICS_FILE)
    return changed > 0 and changed >= _changed(folder / RUNNING_FILE)


def _how_it_ended(folder: Path) -> str:
    """Of a process that was killed: where it stood, what is saved, and the end of its log."""
    lines, saved = read_lines(folder / METRICS_FILE), step_of(folder)
    at = max(saved, lines[-1]["step"]) if lines else saved
    end = _last_line(folder / LOG_FILE)
    kept = f"last saved at {saved:,}" if saved else "with nothing saved"
    return f"it ended by itself at step {at:,}, {kept}{': ' if end else ''}{end}"


def is_coming(folder: Path) -> bool:
    """Whether a training that was started may still begin."""
    process = started.get(folder.resolve())
    if process is not None:
        return process.poll() is None
    try:
        return time.time() - (folder / CONTROL_FILE).stat().st_mtime < START_SECONDS
    except OSError:
        return False


def is_held(folder: Path) -> bool:
    """Whether a process trains in a folder: it has the lock."""
    lock = folder / LOCK_FILE
    with reading:
        try:
            if not lock.is_file():
                return False
            with FileLock(lock, blocking=False):
                return False
        except Timeout:
            return True
        except OSError:
            return False


def _said_last(folder: Path) -> str:
    """The error that the log of the process ends with, if it came after the training's own."""
    line = _last_line(folder / LOG_FILE, only="error: ")
    return line if _changed(folder / LOG_FILE) >= _changed(folder / METRICS_FILE) else ""


def _changed(path: Path) -> int:
    """When a file was changed, in nanoseconds; 0 where there is none."""
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def _last_line(path: Path, only: str = "") -> str:
    """The last line of a file that begins with `only`, without the word "error"."""
    if not path.is_file():
        return ""
    with opened(path) as file:
        file.seek(max(os.fstat(file.fileno()).st_size - LARGEST_CONFIG, 0))
        text = file.read(LARGEST_CONFIG).decode(errors="replace")
    last = next(filter(None, (line.strip() for line in reversed(text.splitlines()))), "")
    return one_line(last.removeprefix("error: ")) if last.startswith(only) else ""


def step_of(folder: Path) -> int:
    """What a resumed run goes on from; of one that is kept without its state, its last step."""
    step = read_steps_done(folder)
    if step is None and (saved := read_training(folder)):
        return saved.step
    return step or 0
