"""All that a stopped run needs to go on, as one file of tensors."""

from dataclasses import dataclass, field
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor

from model.sources.checkpoint import replacing
from model.training.interrupts import uninterrupted

STATE_FILE = "training_state.safetensors"

Moments = dict[int, dict[str, Tensor]]  # of one optimizer: by the number of a weight, by name


@dataclass(frozen=True, eq=False)
class TrainingState:
    """Weights, optimizer moments and the step count, after a whole number of steps.

    `moments` has an entry for each optimizer, `unlogged` the losses of the steps since the last
    line of the log, (n,).
    """

    steps_done: int
    optimizer: str
    weights: dict[str, Tensor]
    moments: list[Moments]
    unlogged: Tensor = field(default_factory=lambda: torch.zeros(0))

    def write(self, folder: Path) -> None:
        """Write the state file: it appears whole or not at all, whatever signal comes."""
        tensors = {f"model.{name}": x for name, x in self.weights.items()}
        for number, moments in enumerate(self.moments):
            for index, values in moments.items():
                for name, value in values.items():
                    tensors[f"optimizer.{number}.{index}.{name}"] = value
        if len(self.unlogged):
            tensors["unlogged"] = self.unlogged
        metadata = {"steps_done": str(self.steps_done), "optimizer": self.optimizer}
        with uninterrupted(), replacing(folder / STATE_FILE) as path:
            save_file({name: x.contiguous() for name, x in tensors.items()}, path, metadata)

    @classmethod
    def read(cls, folder: Path) -> "TrainingState":
        """What `write` has written; ValueError when it is missing or broken.

        `optimizer` is empty and `unlogged` has no losses where an older file does not tell them.
        """
        path = folder / STATE_FILE
        metadata = _metadata(path)
        try:
            tensors = load_file(path)
        except SafetensorError as error:
            raise ValueError(f"{path} cannot be read: {error}; start without --resume") from None
        numbers = [int(name.split(".")[1]) for name in tensors if name.startswith("optimizer.")]
        return cls(
            steps_done=_steps_done(path, metadata),
            optimizer=metadata.get("optimizer", ""),
            weights=_inside(tensors, "model."),
            moments=[
                _moments(_inside(tensors, f"optimizer.{number}."))
                for number in range(max(numbers, default=-1) + 1)
            ],
            unlogged=tensors.get("unlogged", torch.zeros(0)),
        )


def read_steps_done(folder: Path) -> int | None:
    """Steps done in the run saved in a folder; None where there is none."""
    path = folder / STATE_FILE
    return _steps_done(path, _metadata(path)) if path.is_file() else None


def _metadata(path: Path) -> dict[str, str]:
    if not path.is_file():
        raise ValueError(f"{path} is missing; start without --resume")
    try:
        with safe_open(path, framework="pt") as file:
            return file.metadata() or {}
    except SafetensorError as error:
        raise ValueError(f"{path} cannot be read: {error}; start without --resume") from None


def _steps_done(path: Path, metadata: dict[str, str]) -> int:
    stated = metadata.get("steps_done", "")
    if not stated.isdecimal():
        raise ValueError(f"{path} cannot be read: steps_done is {stated!r}; start without --resume")
    return int(stated)


def _inside(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): x for name, x in tensors.items() if name.startswith(prefix)}


def _moments(tensors: dict[str, Tensor]) -> Moments:
    moments: Moments = {}
    for address, value in tensors.items():
        index, name = address.split(".")
        moments.setdefault(int(index), {})[name] = value
    return moments
