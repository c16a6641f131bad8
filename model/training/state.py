"""All that a stopped run needs to go on, as one file of tensors."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from model.files import read_metadata, replacing
from model.training.interrupts import uninterrupted

STATE_FILE = "training_state.safetensors"
START_AGAIN = "start again in another folder"
SHOWN = 60

Moments = dict[int, dict[str, Tensor]]  # of one optimizer: by the number of a weight, by name


@dataclass(frozen=True, eq=False)
class TrainingState:
    """Weights, optimizer moments and the step count, after a whole number of steps.

    `origin` is what the numbers depend on, field by field: recipe, texts, tokenizer. `moments` has
    an entry for each optimizer, `unlogged` the losses of the steps since the last line of the log,
    (n,), `averaged` the sums of the weights that are to be averaged, empty before the first,
    `gradient_norms` what a line of the log that is still to come says of the last step.
    """

    steps_done: int
    origin: dict[str, str]
    weights: dict[str, Tensor]
    moments: list[Moments]
    unlogged: Tensor = field(default_factory=lambda: torch.zeros(0))
    averaged: dict[str, Tensor] = field(default_factory=dict)
    gradient_norms: dict[str, Tensor] = field(default_factory=dict)

    def write(self, folder: Path) -> None:
        """Write the state file: it appears whole or not at all, whatever signal comes.

        ValueError when the disk is full or read-only; the old file is then as it was.
        """
        tensors = {name: x.contiguous() for name, x in self._tensors().items()}
        metadata = {"steps_done": str(self.steps_done), "origin": json.dumps(self.origin)}
        metadata["checksum"] = _checksum(tensors, metadata)
        with uninterrupted(), replacing(folder / STATE_FILE) as path:
            save_file(tensors, path, metadata)

    @classmethod
    def read(cls, folder: Path) -> "TrainingState":
        """What `write` has written; ValueError when it is missing, broken or changed since."""
        path = folder / STATE_FILE
        metadata = _metadata(path)
        try:
            tensors = load_file(path)
        except (SafetensorError, OSError) as error:
            raise ValueError(f"{path} cannot be read: {error}; {START_AGAIN}") from None
        stated = metadata.pop("checksum", "")
        if stated != _checksum(tensors, metadata):
            fault = "is not what was written: its checksum differs" if stated else "has no checksum"
            raise ValueError(f"{path} {fault}; {START_AGAIN}")
        numbers = [int(name.split(".")[1]) for name in tensors if name.startswith("optimizer.")]
        return cls(
            steps_done=_steps_done(path, metadata),
            origin=json.loads(metadata["origin"]),
            weights=_inside(tensors, "model."),
            moments=[
                _moments(_inside(tensors, f"optimizer.{number}."))
                for number in range(max(numbers, default=-1) + 1)
            ],
            unlogged=tensors.get("unlogged", torch.zeros(0)),
            averaged=_inside(tensors, "averaged."),
            gradient_norms=_inside(tensors, "gradient_norms."),
        )

    def refuse_other(self, origin: Mapping[str, str]) -> None:
        """ValueError naming what differs from the origin of the run that would go on from here."""
        changed = [
            f"{name} was {_cut(self.origin.get(name))} and is {_cut(origin.get(name))}"
            for name in sorted({*self.origin, *origin})
            if self.origin.get(name) != origin.get(name)
        ]
        if changed:
            more = f" and {len(changed) - 3} more" if len(changed) > 3 else ""
            raise ValueError(
                f"the run was begun with something else: {'; '.join(changed[:3])}{more}; resume "
                f"with what it was begun with, or {START_AGAIN}"
            )

    def _tensors(self) -> dict[str, Tensor]:
        """Everything but the numbers of the header, under the names it has in the file."""
        tensors = {f"model.{name}": x for name, x in self.weights.items()}
        tensors |= {f"averaged.{name}": x for name, x in self.averaged.items()}
        tensors |= {f"gradient_norms.{name}": x for name, x in self.gradient_norms.items()}
        for number, moments in enumerate(self.moments):
            for index, values in moments.items():
                for name, value in values.items():
                    tensors[f"optimizer.{number}.{index}.{name}"] = value
        return tensors | ({"unlogged": self.unlogged} if len(self.unlogged) else {})


def read_steps_done(folder: Path) -> int | None:
    """Steps done in the run saved in a folder; None where there is none."""
    path = folder / STATE_FILE
    return _steps_done(path, _metadata(path)) if path.is_file() else None


def _metadata(path: Path) -> dict[str, str]:
    if not path.is_file():
        raise ValueError(f"{path} is missing; start without --resume")
    return read_metadata(path)


def _checksum(tensors: Mapping[str, Tensor], metadata: Mapping[str, str]) -> str:
    """A digest of names, shapes, numbers and metadata, equal only for equal ones."""
    digest = hashlib.sha256(json.dumps(metadata, sort_keys=True).encode())
    for name in sorted(tensors):
        x = tensors[name]
        digest.update(f"\n{name} {x.dtype} {tuple(x.shape)}\n".encode())
        digest.update(x.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()


def _cut(value: str | None) -> str:
    """A value as it stands in a message."""
    shown = "not there" if value is None else value
    return shown if len(shown) <= SHOWN else f"{shown[:SHOWN]}…"


def _steps_done(path: Path, metadata: dict[str, str]) -> int:
    stated = metadata.get("steps_done", "")
    if not stated.isdecimal():
        raise ValueError(f"{path} cannot be read: steps_done is {stated!r}; {START_AGAIN}")
    return int(stated)


def _inside(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): x for name, x in tensors.items() if name.startswith(prefix)}


def _moments(tensors: dict[str, Tensor]) -> Moments:
    moments: Moments = {}
    for address, value in tensors.items():
        index, name = address.split(".")
        moments.setdefault(int(index), {})[name] = value
    return moments
