"""Who watches a run: the log, the saved state with its checkpoint, the best one, snapshots."""

import json
import math
import time
from collections.abc import Collection
from dataclasses import asdict
from pathlib import Path

import torch

from model.architectures.base import Model
from model.data.tokenizer import Tokenizer
from model.files import append, replacing
from model.lines import finite
from model.sources import checkpoint
from model.sources.checkpoint import Training
from model.sources.places import SNAPSHOT
from model.training.evaluation import METRICS_FILE
from model.training.interrupts import uninterrupted
from model.training.trainer import Metrics, Observer, Trainer

BEST = "best"  # the folder, in that of a run, of what did best on held-out data
SAVE_SECONDS = 30  # at most so much is lost


class MetricsLog(Observer):
    """Appends each line of metrics to `metrics.jsonl`."""

    def __init__(self, folder: Path, steps_done: int) -> None:
        """Lines of steps that the run will take again are cut off, and so is half a line."""
        self.path = folder / METRICS_FILE
        text = self.path.read_text(encoding="utf-8") if steps_done and self.path.is_file() else ""
        lines = [line for line in text.splitlines(keepends=True) if line.endswith("\n")]
        kept = [line for line in lines if json.loads(line)["step"] <= steps_done]
        with replacing(self.path) as new:
            new.write_text("".join(kept), encoding="utf-8")

    def after_metrics(self, trainer: Trainer, metrics: Metrics) -> None:
        """Append a line."""
        append(self.path, f"{json.dumps(finite(asdict(metrics)), allow_nan=False)}\n".encode())


class Saver(Observer):
    """Saves what a resumed run needs, and the checkpoint as it is, in float16, which can be opened.

    Every so many steps, after an evaluation, every half minute and at the end. What did best on
    held-out data is kept in a folder of its own.
    """

    def __init__(self, folder: Path, tokenizer: Tokenizer | None, every: int) -> None:
        self.folder, self.tokenizer, self.every = folder, tokenizer, every
        self.saved_at, self.is_evaluated = time.monotonic(), False
        best = checkpoint.read_training(folder / BEST)
        self.best = best.held_out if best and best.held_out is not None else math.inf

    def after_metrics(self, trainer: Trainer, metrics: Metrics) -> None:
        """Keep it where it is the best so far."""
        loss = metrics.held_out_loss
        self.is_evaluated = loss is not None
        if loss is not None and loss < self.best:
            self.best = loss
            self._write(self.folder / BEST, trainer, loss)

    def after_step(self, trainer: Trainer) -> None:
        """Save where it is due."""
        is_late = time.monotonic() - self.saved_at > SAVE_SECONDS
        if self.is_evaluated or is_late or trainer.steps_done % self.every == 0:
            self.at_end(trainer)

    def at_end(self, trainer: Trainer) -> None:
        """Save, wherever the run stands."""
        trainer.state().write(self.folder)
        if trainer.steps_done:
            self._write(self.folder, trainer, None)
        self.saved_at, self.is_evaluated = time.monotonic(), False

    def _write(self, folder: Path, trainer: Trainer, held_out: float | None) -> None:
        model = trainer.finished()
        with uninterrupted():
            checkpoint.save(folder, model, self.tokenizer, _type_for(model))
            about = Training(trainer.steps_done, trainer.recipe.total_steps, held_out)
            checkpoint.write_training(folder, about)


def _type_for(model: Model) -> torch.dtype:
    """float16, or float32 while a weight is too large for it, as of a model that diverges."""
    most = torch.finfo(torch.float16).max
    fits = all(weight.abs().max() <= most for weight in model.state_dict().values())
    return torch.float16 if fits else torch.float32


class Snapshots(Observer):
    """Keeps a checkpoint before the first step and after some, in `step-000500` and so on."""

    def __init__(self, folder: Path, tokenizer: Tokenizer | None, steps: Collection[int]) -> None:
        self.folder, self.tokenizer, self.steps = folder, tokenizer, steps

    def at_start(self, trainer: Trainer) -> None:
        """Write the one of the model as it was drawn."""
        if self.steps and not trainer.steps_done:
            self._write(trainer)

    def after_step(self, trainer: Trainer) -> None:
        """Write one where it is due."""
        if trainer.steps_done in self.steps:
            self._write(trainer)

    def _write(self, trainer: Trainer) -> None:
        with uninterrupted():
            folder = self.folder / f"{SNAPSHOT}{trainer.steps_done:06}"
            checkpoint.save(folder, trainer.model, self.tokenizer)
