"""The trainings that there are: how one goes, beside others, and what its heads attend to."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st

from model.analysis.heads import AT_LEAST, induction_by_step
from model.lines import one_line
from model.sources import places
from model.training import runs as trainings
from model.training.objectives import OBJECTIVES
from model.training.runs import LIVE, Frames, Run
from viz.charts.chart import Axis, Row
from viz.digits import digits
from viz.figures.lab import FORCED, FREE, Curve, curves, heads
from viz.frame import address, controls, folder, layout, notices, scenes, state, words
from viz.frame.said import Link, head_name
from viz.frame.settings import (
    LAB_BESIDE,
    LAB_CURVE,
    LAB_CURVES,
    LAB_FOLDER,
    LAB_RUN,
    LAB_STEP,
    MODEL,
    PAGE,
    SENTENCE,
)
from viz.inside_streamlit import unbroken

EVERY = 1.0  # seconds between two looks at a training that runs
MOVING = ("starting", "running")
MOST_BESIDE = 4  # heads of a layer whose maps stand beside the curves
MOST_SAMPLES = 6
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


def draw(found: Sequence[Run]) -> None:
    """The training that is chosen, drawn again each second while it runs, and where others lie."""
    runs = {run.name: run for run in found}
    if not runs:
        words.caption("There is none yet: begin one under “New training”, or name a folder.")
        _folder()
        return
    with layout.row("lab-runs"):
        names = list(runs)
        chosen = controls.select(LAB_RUN.given(options=names, default=names[0]), width=260)
        others = [name for name in names if name != chosen]
        beside = [runs[name] for name in controls.some(LAB_BESIDE, others)]
    folders = [runs[chosen].folder, *(run.folder for run in beside)]

    def step() -> None:
        shown, *overlaid = map(trainings.read_run, folders)
        _show(shown, overlaid)
        address.write("Lab", "training")
        if is_live != (shown.state in LIVE):
            notices.run_again()  # the clock of the fragment is the whole page's

    is_live = runs[chosen].state in LIVE
    st.fragment(notices.guarded(step), run_every=EVERY if is_live else None)()
    _folder()


def _folder() -> None:
    if folder.is_local():
        controls.text(LAB_FOLDER, "of one that was begun in a terminal, such as ~/models/mine")


def elsewhere() -> Sequence[Path]:
    """The folder of a training that a person named, if any."""
    place = state.value(LAB_FOLDER)
    return [Path(place).expanduser()] if place.strip() else []


def _show(run: Run, others: Sequence[Run]) -> None:
    """Where it stands, what can be done, its curves, its heads, and what it writes."""
    with layout.slim_row("lab-stands"):
        words.paragraph(_stands(run))
        _buttons(run)
    if run.why:
        words.notice(run.why, kind="error")
    frames, every = trainings.read_frames(run.folder), [run, *others]
    _ways(run, frames)
    is_small = frames is not None and frames.patterns.shape[2] <= MOST_BESIDE
    left, right = layout.two_up("lab-live")
    with left if is_small else st.container():
        _heads(run, frames)
    with right if is_small else st.container():
        _curves(every, frames)
    _samples(run)


def _ways(run: Run, frames: Frames | None) -> None:
    """Where the model that it has come to is opened, on the text that is watched."""
    names = [name for name, there in places.folders().items() if there == run.folder]
    if names and frames:
        at = {MODEL.name: names[0], SENTENCE.name: "".join(frames.tokens)}
        attention, heads = (Link(page, {PAGE.name: page, **at}) for page in ("Attention", "Heads"))
        words.caption(["The model as it was saved last opens in ", attention, " and ", heads, "."])


def _curves(every: Sequence[Run], frames: Frames | None) -> None:
    """The numbers that are chosen, and how much is right; where a head is named for induction."""
    scores = _induction(frames)
    options = [name for name in LAB_CURVES if name != "induction" or len(scores)]
    name = controls.segments(LAB_CURVE.given(options=options))
    if name == "induction":
        found = _induction_curves(frames, scores)
    else:
        found = [x for number, one in enumerate(every) for x in CURVES[name](number, one)]
    marked = _formed(frames, scores)
    title = LAB_CURVE.words(name).capitalize()
    layout.show_chart(curves(title, AXES[name], _named(found), marked), key="lab-curve")
    right = [x for number, one in enumerate(every) for x in _accuracy(number, one)]
    if right:
        layout.show_chart(curves("Accuracy", RIGHT, _named(right), marked), key="lab-accuracy")


def _induction(frames: Frames | None) -> np.ndarray:
    """How much of each head's weight lies after earlier copies, (S, L, H); empty without any."""
    if frames is None:
        return np.empty(0)
    n, places = len(frames.tokens), {token: i for i, token in enumerate(frames.tokens)}
    ids = np.array([places[token] for token in frames.tokens])
    scores = induction_by_step(np.asarray(frames.patterns, np.float32), np.tri(n, dtype=bool), ids)
    return scores if np.isfinite(scores).any() else np.empty(0)


def _induction_curves(frames: Frames | None, scores: np.ndarray) -> list[Curve]:
    assert frames is not None
    _, n_layers, n_heads = scores.shape
    heads = [(layer, head) for layer in range(n_layers) for head in range(n_heads)]
    return [
        Curve(ink, head_name(layer, head), "", frames.steps, scores[:, layer, head].tolist())
        for ink, (layer, head) in enumerate(heads)
    ]


def _formed(frames: Frames | None, scores: np.ndarray) -> dict[str, int]:
    """The step from which a head is named for induction, by the words that say so."""
    if frames is None or not len(scores):
        return {}
    best = np.nan_to_num(scores).reshape(len(scores), -1)
    is_named = best.max(axis=1) >= AT_LEAST["induction"]
    if not is_named[-1]:
        return {}
    first = len(is_named) - int(np.argmin(is_named[::-1])) if not is_named.all() else 0
    layer, head = divmod(int(best[-1].argmax()), scores.shape[2])
    step = frames.steps[first]
    return {f"{head_name(layer, head)}: induction from step {step:,}": step}


def _named(found: Sequence[Curve]) -> list[Curve]:
    """Lines of one training need not say of which."""
    is_one = len({curve.number for curve in found}) == 1
    return [curve._replace(name=curve.of) if is_one and curve.of else curve for curve in found]


def _stands(run: Run) -> str:
    """As the terminal says it."""
    parts = [f"step {run.step:,} of {run.total_steps:,}"]
    if run.lines:
        last = run.lines[-1]
        parts += [f"loss {digits(last['loss'], 3)}"]
        if held_out := _held_out(run):
            parts += [f"held out {digits(held_out[-1][1], 3)}"]
        if speed := last["tokens_per_second"]:
            parts += [f"{speed / 1000:.1f} k tokens per second"]
            left = (run.total_steps - run.step) * last["tokens"] / last["step"] / speed
            if run.state == "running":
                parts += [f"{left:.0f} s left" if left < 90 else f"{left / 60:.0f} min left"]
    return " · ".join([f"{run.name}: {run.state}", *parts])


ACTS: Mapping[str, Sequence[tuple[str, str, Callable[[Path], object]]]] = {
    "running": (("Pause", "pause", trainings.pause), ("Stop", "stop", trainings.stop)),
    "paused": (("Go on", "play_arrow", trainings.go_on), ("Stop", "stop", trainings.stop)),
    "stopped": (("Resume", "play_arrow", trainings.resume), ("Delete", "delete", trainings.delete)),
    "failed": (("Delete", "delete", trainings.delete),),
    "finished": (("Delete", "delete", trainings.delete),),
}


def _buttons(run: Run) -> None:
    for label, icon, act in ACTS.get(run.state, ()):
        st.button(
            label,
            icon=f":material/{icon}:",
            key=f"lab-{label}",
            on_click=unbroken(partial(_act, act)),
            args=(run.folder,),
        )


def _act(act: Callable[[Path], object], folder: Path) -> None:
    try:
        act(folder)
    except ValueError as error:
        notices.add(str(error))


# --- curves -------------------------------------------------------------------------------------


def _line(
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


def _held_out(run: Run) -> list[tuple[int, float]]:
    curve = _line(0, run, "held out", _held_out_loss)
    return list(zip(curve.steps, curve.values, strict=True))


def _losses(number: int, run: Run) -> list[Curve]:
    return [
        _line(number, run, "train", lambda line: line["loss"]),
        _line(number, run, "held out", _held_out_loss),
    ]


def _perplexities(number: int, run: Run) -> list[Curve]:
    return [curve._replace(values=np.exp(curve.values)) for curve in _losses(number, run)]


def _gradients(number: int, run: Run) -> list[Curve]:
    """Of each layer; of several trainings the layers of the first."""
    if number:
        return []
    names = list((run.lines[-1].get("gradient_norms") or {}) if run.lines else ())
    return [
        _line(ink, run, name, lambda line, name=name: (line.get("gradient_norms") or {}).get(name))
        for ink, name in enumerate(names)
    ]


CURVES: Mapping[str, Callable[[int, Run], list[Curve]]] = {
    "loss": _losses,
    "perplexity": _perplexities,
    "rate": lambda number, run: [_line(number, run, "", lambda line: line["learning_rate"])],
    "gradient": _gradients,
    "speed": lambda number, run: [
        _line(number, run, "", lambda line: line["tokens_per_second"] or None)
    ],
}


def _accuracy(number: int, run: Run) -> list[Curve]:
    """Trained on, held out (it reads the true tokens), and alone (it reads what it wrote)."""
    kinds: dict[str, Callable[[Mapping[str, Any]], float | None]] = {
        "trained on": lambda line: (line.get("trained_on") or {}).get("accuracy"),
        FORCED: lambda line: next(
            (x.get("accuracy") for x in (line.get("held_out") or {}).values()), None
        ),
        FREE: lambda line: (line.get("alone") or {}).get("accuracy"),
    }
    found = [_line(number, run, of, value) for of, value in kinds.items()]
    return [curve for curve in found if curve.steps]


# --- heads, and what is written -----------------------------------------------------------------


def _heads(run: Run, frames: Frames | None) -> None:
    """Every head on one text that stays the same: the last frame, or at rest that of a step."""
    if frames is None:
        words.caption("Every head is seen here as soon as the training begins.")
        return
    step = frames.steps[-1] if run.state in MOVING else _chosen_step(frames)
    at = frames.steps.index(step)
    words.caption("Attention of every head on one held-out text")
    for layer in range(len(frames.patterns[at])):
        plays = [_row(run, frames, layer, one) for one in scenes.turns(at + 1)]
        layout.show_chart(
            _row(run, frames, layer, at),
            key=f"lab-heads-{layer}",
            plays=plays if run.state not in MOVING else (),
        )


def _chosen_step(frames: Frames) -> int:
    options = [*frames.steps]
    if len(options) == 1:
        return options[0]
    return controls.steps(LAB_STEP.given(options=options, default=options[-1], words="{:,}".format))


def _row(run: Run, frames: Frames, layer: int, at: int) -> Row:
    """One layer's heads in a frame."""
    n = len(frames.tokens)
    is_causal = (
        run.recipe is not None and OBJECTIVES[run.recipe.objective].architecture == "decoder"
    )
    mask = np.tri(n, dtype=bool) if is_causal else np.ones((n, n), dtype=bool)
    patterns = np.array(frames.patterns[at][layer], np.float32)
    return heads(patterns, mask, frames.tokens, layer, frames.steps[at])


def _samples(run: Run) -> None:
    """What the model wrote at the last evaluations."""
    written = [(line["step"], line["sample"]) for line in run.lines if line.get("sample")]
    if written:
        last = written[-MOST_SAMPLES:]
        words.table(
            {
                "step": [f"{step:,}" for step, _ in last],
                "writes": [one_line(text) for _, text in last],
            },
            texts=["writes"],
        )
