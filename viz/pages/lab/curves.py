"""What a training's log says, as lines over its steps."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from model.sources.checkpoint import read_config
from model.training.objectives.base import least_loss
from model.training.runs import Run
from viz.charts.chart import Axis
from viz.digits import digits
from viz.figures.lab import FORCED, FREE, Curve

MOST_POINTS = 1000  # of a line
SMOOTHED = "train, smoothed"
RIGHT = Axis("right", kind="share", ends=(0, 1))
LOSS, PERPLEXITY = Axis("loss", "nats per token"), Axis("perplexity", is_log=True)
AXES = {
    "loss": LOSS,
    "perplexity": PERPLEXITY,
    "bits": Axis("bits per byte", from_zero=True),
    "rate": Axis("learning rate", from_zero=True),
    "gradient": Axis("L2 norm of the gradient", is_log=True),
    "speed": Axis("tokens per second", kind="count", from_zero=True),
    "induction": Axis("weight after copies", ends=(0, 1)),
}


def named(found: Sequence[Curve]) -> list[Curve]:
    """Lines of one training need not say of which."""
    is_one = len({curve.number for curve in found}) == 1
    return [curve._replace(name=curve.of) if is_one and curve.of else curve for curve in found]


def line_of(number: int, run: Run, of: str, value: Callable[[Mapping[str, Any]], object]) -> Curve:
    """One number of each line of the log that has it; of many some of them, and the last."""
    points = [(line["step"], value(line)) for line in run.lines]
    there = [(step, y) for step, y in points if isinstance(y, int | float) and math.isfinite(y)]
    every = -(-len(there) // MOST_POINTS) or 1
    shown = [*there[:-1:every], *there[-1:]]
    steps, values = zip(*shown, strict=True) if shown else ((), ())
    return Curve(number, f"{run.name}, {of}" if of else run.name, of, steps, values)


def last_of(curve: Curve) -> float | None:
    """The last number of a line; None where it has none."""
    return curve.values[-1] if len(curve.values) else None


def _scores(line: Mapping[str, Any], of: str) -> Sequence[object]:
    """One number of all that was scored on held-out data."""
    held_out = line.get("held_out")
    every = held_out.values() if isinstance(held_out, dict) else ()
    return [x.get(of) for x in every if isinstance(x, dict)]


def n_held_out(run: Run) -> int:
    """How many tokens, or targets, the last held-out loss is over."""
    last = next((line for line in reversed(run.lines) if line.get("held_out")), {})
    every = [*_scores(last, "tokens"), *_scores(last, "targets")]
    return sum(n for n in every if isinstance(n, int))


def seconds_per_step(run: Run) -> float | None:
    """How long a step has taken with all that came between; None where the log does not say."""
    timed = [line for line in run.lines if line.get("seconds")]
    if not timed:
        return None
    first = run.lines.index(timed[0])
    before = run.lines[first - 1]["step"] if first else 0
    return sum(line["seconds"] for line in timed) / (timed[-1]["step"] - before)


def _held_out(of: str, line: Mapping[str, Any]) -> float | None:
    found = [x for x in _scores(line, of) if isinstance(x, int | float)]
    return sum(found) / len(found) if found else None


def smoothing(run: Run) -> float:
    """How far the targets of its training are smoothed; those of held-out data are not."""
    return run.recipe.label_smoothing if run.recipe else 0.0


def about_smoothing(run: Run) -> str:
    """Why a smoothed loss stands above that of held-out data; empty where nothing is smoothed."""
    if not smoothing(run) or not (n_classes := _n_classes(run)):
        return ""
    least = digits(least_loss(n_classes, smoothing(run)), 4)
    return (
        f"{run.name}: with label smoothing of {smoothing(run):g} the loss of training is at least "
        f"{least} nats; that of held-out data is not smoothed."
    )


def _n_classes(run: Run) -> int:
    """How many its model tells apart, by its checkpoint or its recipe; 0 where it is not known."""
    config = run.folder / "config.json"
    if not config.is_file():
        return run.recipe.vocab_size if run.recipe else 0
    made = read_config(config)
    return getattr(made, "vocab_size", 0) or getattr(made, "n_classes", 0)


def losses(number: int, run: Run) -> list[Curve]:
    """That of training, and that of held-out data."""
    return [
        line_of(
            number, run, SMOOTHED if smoothing(run) else "train", lambda line: line.get("loss")
        ),
        line_of(number, run, "held out", partial(_held_out, "loss")),
    ]


def _perplexities(number: int, run: Run) -> list[Curve]:
    """Of a smoothed loss there is none."""
    return [
        curve._replace(values=np.exp(curve.values))
        for curve in losses(number, run)
        if curve.of != SMOOTHED
    ]


def _gradients(number: int, run: Run) -> list[Curve]:
    """Of each layer; of several trainings the layers of the first."""
    if number:
        return []
    norms = run.lines[-1].get("gradient_norms") if run.lines else None
    names = list(norms) if isinstance(norms, dict) else []

    def norm(name: str, line: Mapping[str, Any]) -> object:
        norms = line.get("gradient_norms")
        return norms.get(name) if isinstance(norms, dict) else None

    return [line_of(ink, run, name, partial(norm, name)) for ink, name in enumerate(names)]


CURVES: Mapping[str, Callable[[int, Run], list[Curve]]] = {
    "loss": losses,
    "perplexity": _perplexities,
    "bits": lambda number, run: [
        line_of(number, run, "held out", partial(_held_out, "bits_per_byte"))
    ],
    "rate": lambda number, run: [line_of(number, run, "", lambda line: line.get("learning_rate"))],
    "gradient": _gradients,
    "speed": lambda number, run: [
        line_of(number, run, "", lambda line: line.get("tokens_per_second") or None)
    ],
}


def accuracy(number: int, run: Run) -> list[Curve]:
    """Trained on, held out (it reads the true tokens), and alone (it reads what it wrote)."""
    kinds: dict[str, Callable[[Mapping[str, Any]], object]] = {
        "trained on": partial(_of, "trained_on"),
        FORCED: lambda line: next(iter(_scores(line, "accuracy")), None),
        FREE: partial(_of, "alone"),
    }
    found = [line_of(number, run, of, value) for of, value in kinds.items()]
    return [curve for curve in found if curve.steps]


def _of(name: str, line: Mapping[str, Any]) -> object:
    scores = line.get(name)
    return scores.get("accuracy") if isinstance(scores, dict) else None
