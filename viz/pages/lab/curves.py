"""What a training's log says, as lines over its steps."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from model.training.runs import Run
from viz.charts.chart import Axis
from viz.figures.lab import FORCED, FREE, Curve

RIGHT = Axis("right", kind="share", ends=(0, 1))
LOSS, PERPLEXITY = Axis("loss", "nats per token"), Axis("perplexity", is_log=True)
AXES = {
    "loss": LOSS,
    "perplexity": PERPLEXITY,
    "rate": Axis("learning rate", from_zero=True),
    "gradient": Axis("L2 norm of the gradient", is_log=True),
    "speed": Axis("tokens per second", kind="count", from_zero=True),
    "induction": Axis("weight after copies", ends=(0, 1)),
}


def named(found: Sequence[Curve]) -> list[Curve]:
    """Lines of one training need not say of which."""
    is_one = len({curve.number for curve in found}) == 1
    return [curve._replace(name=curve.of) if is_one and curve.of else curve for curve in found]


def line_of(
    number: int, run: Run, of: str, value: Callable[[Mapping[str, Any]], float | None]
) -> Curve:
    """One number of each line of the log that has it."""
    points = [(line["step"], value(line)) for line in run.lines]
    there = [(step, y) for step, y in points if y is not None and math.isfinite(y)]
    steps, values = zip(*there, strict=True) if there else ((), ())
    return Curve(number, f"{run.name}, {of}", of, steps, values)


def _held_out_loss(line: Mapping[str, Any]) -> float | None:
    scores = [x["loss"] for x in (line.get("held_out") or {}).values()]
    return sum(scores) / len(scores) if scores else None


def last_held_out(run: Run) -> float | None:
    """The last loss on held-out data; None before the first."""
    losses = line_of(0, run, "held out", _held_out_loss).values
    return losses[-1] if losses else None


def _losses(number: int, run: Run) -> list[Curve]:
    return [
        line_of(number, run, "train", lambda line: line["loss"]),
        line_of(number, run, "held out", _held_out_loss),
    ]


def _perplexities(number: int, run: Run) -> list[Curve]:
    return [curve._replace(values=np.exp(curve.values)) for curve in _losses(number, run)]


def _gradients(number: int, run: Run) -> list[Curve]:
    """Of each layer; of several trainings the layers of the first."""
    if number:
        return []
    names = list((run.lines[-1].get("gradient_norms") or {}) if run.lines else ())

    def norm(name: str, line: Mapping[str, Any]) -> float | None:
        return (line.get("gradient_norms") or {}).get(name)

    return [line_of(ink, run, name, partial(norm, name)) for ink, name in enumerate(names)]


CURVES: Mapping[str, Callable[[int, Run], list[Curve]]] = {
    "loss": _losses,
    "perplexity": _perplexities,
    "rate": lambda number, run: [line_of(number, run, "", lambda line: line["learning_rate"])],
    "gradient": _gradients,
    "speed": lambda number, run: [
        line_of(number, run, "", lambda line: line["tokens_per_second"] or None)
    ],
}


def accuracy(number: int, run: Run) -> list[Curve]:
    """Trained on, held out (it reads the true tokens), and alone (it reads what it wrote)."""
    kinds: dict[str, Callable[[Mapping[str, Any]], float | None]] = {
        "trained on": lambda line: (line.get("trained_on") or {}).get("accuracy"),
        FORCED: lambda line: next(
            (x.get("accuracy") for x in (line.get("held_out") or {}).values()), None
        ),
        FREE: lambda line: (line.get("alone") or {}).get("accuracy"),
    }
    found = [line_of(number, run, of, value) for of, value in kinds.items()]
    return [curve for curve in found if curve.steps]
