"""Who watches a run: the log, the saved state, the finished checkpoint, snapshots, progress."""

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from model.data.tokenizer import Tokenizer
from model.files import replacing
from model.lines import finite
from model.sources import checkpoint
from model.training.evaluation import METRICS_FILE
from model.training.interrupts import uninterrupted
from model.training.trainer import Metrics, Observer, Trainer


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
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(finite(asdict(metrics)), allow_nan=False) + "\n")


class StateSaver(Observer):
    """Saves what a resumed run needs, every so many steps and at the end."""

    def __init__(self, folder: Path, every: int) -> None:
        self.folder, self.every = folder, every

    def after_step(self, trainer: Trainer) -> None:
        """Save where it is due."""
        if trainer.steps_done % self.every == 0:
            trainer.state().write(self.folder)

    def at_end(self, trainer: Trainer) -> None:
        """Save, wherever the run stands."""
        trainer.state().write(self.folder)


class CheckpointWriter(Observer):
    """Writes the checkpoint, in float16, once all steps are done."""

    def __init__(self, folder: Path, tokenizer: Tokenizer | None) -> None:
        self.folder, self.tokenizer = folder, tokenizer

    def at_end(self, trainer: Trainer) -> None:
        """Write it, if this is the end of the recipe too."""
        if trainer.steps_done == trainer.recipe.total_steps:
            checkpoint.save(self.folder, trainer.finished(), self.tokenizer)


class Snapshots(Observer):
    """Keeps a checkpoint every so many steps, in `step-000500` and so on, to see heads form.

    With `every` 0 it keeps none.
    """

    def __init__(self, folder: Path, tokenizer: Tokenizer | None, every: int) -> None:
        self.folder, self.tokenizer, self.every = folder, tokenizer, every

    def after_step(self, trainer: Trainer) -> None:
        """Write one where it is due."""
        if self.every and trainer.steps_done % self.every == 0:
            with uninterrupted():
                folder = self.folder / f"step-{trainer.steps_done:06}"
                checkpoint.save(folder, trainer.model, self.tokenizer)


class Progress(Observer):
    """Tells a callback, after each step, how many steps of how many are done."""

    def __init__(self, on_progress: Callable[[int, int], None]) -> None:
        self.on_progress = on_progress

    def after_step(self, trainer: Trainer) -> None:
        """Hand on where the run stands."""
        self.on_progress(trainer.steps_done, trainer.recipe.total_steps)
