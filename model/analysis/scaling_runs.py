"""Runs of our own for a scaling law, as `python -m model scale` wrote them."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from model.analysis.scaling_fit import Runs


@dataclass(frozen=True, eq=False)
class StoredRun:
    """One model: its sizes, the tokens it learnt from, and its loss on what it never saw.

    `loss` is nats per token over all held-out texts together. `curve` has the tokens and the loss
    in training, (2, lines); (2, 0) where it is not stored.
    """

    name: str
    d_model: int
    n_layers: int
    parameters: int
    without_embeddings: int
    tokens: int
    flops: int
    loss: float
    curve: np.ndarray

    def size(self, counted: str) -> int:
        """Parameters, "all" of them or "without" embeddings."""
        return {"all": self.parameters, "without": self.without_embeddings}[counted]


@dataclass(frozen=True)
class Stored:
    """All runs, by size and tokens, and a model of another recipe measured in the same way."""

    runs: tuple[StoredRun, ...]
    beside: StoredRun

    @property
    def widths(self) -> list[int]:
        """d_model of each size, the smallest first."""
        return sorted({run.d_model for run in self.runs})

    def of_width(self, width: int) -> list[StoredRun]:
        """The runs of one size, by tokens."""
        return sorted((x for x in self.runs if x.d_model == width), key=lambda run: run.tokens)

    def points(self, counted: str) -> Runs:
        """What a law is fitted to."""
        return Runs(
            np.array([run.size(counted) for run in self.runs], float),
            np.array([run.tokens for run in self.runs], float),
            np.array([run.loss for run in self.runs]),
        )


def read_runs(path: Path) -> Stored:
    """What the command wrote."""
    stored = json.loads(path.read_text(encoding="utf-8"))
    return Stored(tuple(map(_run, stored["runs"])), _run(stored["beside"]))


def _run(run: dict[str, Any]) -> StoredRun:
    model, scores = run["model"], run["held_out"].values()
    total = sum(score["loss"] * score["tokens"] for score in scores)
    return StoredRun(
        name=run["name"],
        d_model=model["d_model"],
        n_layers=model["n_layers"],
        parameters=run["parameters"],
        without_embeddings=run["without_embeddings"],
        tokens=run["tokens"],
        flops=run["flops_per_token"] * run["tokens"],
        loss=total / sum(score["tokens"] for score in scores),
        curve=np.array(run.get("curve", []), float).reshape(-1, 2).T,
    )
