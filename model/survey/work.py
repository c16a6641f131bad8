"""A survey in parts, each measured by one process and kept, so that it can be resumed.

A part is a fixed number of inputs, measured one by one on one thread: what is in it depends neither
on the number of processes nor on when it was made, and all parts are added in their order.
"""

import hashlib
import math
import shutil
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import lru_cache
from multiprocessing import get_context
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
import torch

from model.files import folder_to_write, opened, replacing
from model.lines import spelled
from model.sources import table
from model.sources.checkpoint import TOKENIZER
from model.sources.sums import sum_of, sum_of_weights
from model.sources.table import Runnable
from model.survey.measured import Sums, added, sums_of
from model.survey.samples import Asked, Samples, samples_of
from model.survey.stored import FORMAT, Survey, write_survey
from model.survey.whole import whole_survey

INPUTS_IN_A_PART = 8
PARTS = tuple(field.name for field in fields(Sums))

OnProgress = Callable[[int, int], None]


@dataclass(frozen=True)
class Job:
    """A survey to make: of which model, on what, and the file to write."""

    folder: Path
    device: str
    asked: Asked
    out: Path


@dataclass(frozen=True, eq=False)
class Opened:
    """A job in one process: its model, its inputs, and where its parts lie."""

    loaded: Runnable
    samples: Samples
    weights: str  # SHA-256
    parts: Path

    @property
    def n_parts(self) -> int:
        """How many parts the survey has."""
        return math.ceil(len(self.samples) / INPUTS_IN_A_PART)

    def path(self, part: int) -> Path:
        """Where a part lies."""
        return self.parts / f"{part:05}.npz"

    @property
    def missing(self) -> list[int]:
        """The parts that are still to be measured."""
        return [part for part in range(self.n_parts) if not self.path(part).is_file()]


def survey(job: Job, processes: int, on_progress: OnProgress = lambda done, total: None) -> Survey:
    """Measure what is missing in so many processes, add all parts, and write the result.

    ValueError where the text, the checkpoint or the place to write is not what it must be.
    """
    if processes < 1:
        raise ValueError(f"processes is {processes}; give at least 1")
    _opened.cache_clear()  # files may have changed since another survey in this process
    with on_one_thread():
        opened_job = _opened(job)
        missing = opened_job.missing
        done = opened_job.n_parts - len(missing)
        on_progress(done, opened_job.n_parts)
        for finished in _worked(job, missing, min(processes, len(missing))):
            on_progress(done + finished, opened_job.n_parts)
        return finish(job)


def measure_share(job: Job, rank: int, world: int) -> int:
    """Measure every `world`-th of the missing parts, from `rank` on; returns how many."""
    with on_one_thread():
        # Others may have finished some since: what is missing is looked up once for each.
        mine = [part for part in range(_opened(job).n_parts) if part % world == rank]
        return sum(_work(job, part) for part in mine)


def finish(job: Job) -> Survey:
    """Add all parts in their order, write the survey, and remove the parts."""
    with on_one_thread():
        work = _opened(job)
        parts = [_read(work.path(part)) for part in range(work.n_parts)]
        result = whole_survey(work.loaded, work.samples, parts, added(parts), work.weights)
        write_survey(job.out, result)
        shutil.rmtree(work.parts, ignore_errors=True)
        return result


@contextmanager
def on_one_thread() -> Iterator[None]:
    """Let torch compute on one thread: on how many it does can show in the last bit."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@lru_cache(maxsize=1)
def _opened(job: Job) -> Opened:
    loaded = table.open_runnable(str(job.folder), job.device)
    samples = samples_of(loaded, job.asked)
    weights = sum_of_weights(loaded.folder)
    tokenizer = loaded.folder / TOKENIZER
    words = sum_of(tokenizer) if tokenizer.is_file() else ""
    facts = (FORMAT, weights, words, samples.digest, list(samples.lengths), INPUTS_IN_A_PART)
    key = hashlib.sha256(repr(facts).encode()).hexdigest()[:16]
    parts = job.out.parent / f"{job.out.name}.parts-{key}"
    return Opened(loaded, samples, weights, folder_to_write(parts))


def _worked(job: Job, missing: Sequence[int], processes: int) -> Iterator[int]:
    """Measure parts; gives how many are done, after each."""
    if processes <= 1:
        for done, part in enumerate(missing, start=1):
            _work(job, part)
            yield done
        return
    pool = ProcessPoolExecutor(processes, mp_context=get_context("spawn"))
    try:
        futures = [pool.submit(_work_alone, job, part) for part in missing]
        for done, future in enumerate(as_completed(futures), start=1):
            future.result()
            yield done
    finally:
        pool.shutdown(cancel_futures=True)


def _work_alone(job: Job, part: int) -> int:
    """Measure a part in a process of its own."""
    torch.set_num_threads(1)
    return _work(job, part)


def _work(job: Job, part: int) -> int:
    """Measure a part and keep it; 0 where it is there already, else 1."""
    work = _opened(job)
    if work.path(part).is_file():
        return 0
    first = part * INPUTS_IN_A_PART
    numbers = range(first, min(first + INPUTS_IN_A_PART, len(work.samples)))
    sums = added(sums_of(work.samples.make(number), work.loaded) for number in numbers)
    arrays = {
        f"{group}/{name}": getattr(one, name) for group, one in sums.items() for name in PARTS
    }
    with replacing(work.path(part)) as path, path.open("wb") as file:
        np.savez(file, allow_pickle=False, **arrays)
    return 1


def _read(path: Path) -> dict[str, Sums]:
    """A part, by group; ValueError where it is missing or broken."""
    try:
        with opened(path) as file, np.load(file, allow_pickle=False) as archive:
            groups = list(dict.fromkeys(name.partition("/")[0] for name in archive.files))
            return {
                group: Sums(**{name: archive[f"{group}/{name}"] for name in PARTS})
                for group in groups
            }
    except (ValueError, OSError, EOFError, KeyError, BadZipFile) as error:
        raise ValueError(
            f"{spelled(path)} is no part of a survey: {error}; delete it and run the same again"
        ) from None
