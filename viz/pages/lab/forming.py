"""What heads and embeddings become in a training, step by step."""

from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from model.analysis.circle import Circle, circle
from model.analysis.heads import AT_LEAST, induction_by_step
from model.sources import checkpoint
from model.sources.places import SNAPSHOT, snapshots
from model.training.objectives import OBJECTIVES
from model.training.runs import Frames, Run
from viz.figures import lab
from viz.figures.lab import Curve
from viz.frame import layout, state, words
from viz.frame.said import head_name
from viz.frame.settings import LAB_AGAINST, LAB_HEAD, LAB_STEP
from viz.kit.parts.forming import NONE, forming_part
from viz.live import component
from viz.runs.kept import held

MOVING = ("starting", "running")
MOST_NAMED = 6  # heads in a legend, which have a colour each


class Formed(NamedTuple):
    """The first frame from which a head stays named for induction, and which."""

    frame: int
    head: tuple[int, int]


def draw(run: Run, frames: Frames | None, first: Formed | None) -> None:
    """Every head on one text that stays the same: the last frame, or at rest those of all steps.

    Until another is chosen, the head is large that is named first.
    """
    if frames is None:
        words.caption("Every head is seen here as soon as the training begins.")
        return
    steps = [*frames.steps]
    named = ".".join(map(str, first.head)) if first else ""
    chosen: dict[str, object] = {"head": state.value(LAB_HEAD) or named}
    if run.state in MOVING:
        frames = replace(frames, steps=frames.steps[-1:], patterns=frames.patterns[-1:])
    else:
        said = {NONE: "nothing"} | {step: f"step {step:,}" for step in steps}
        step = LAB_STEP.given(options=steps, default=steps[-1], words=said.__getitem__)
        against = LAB_AGAINST.given(options=[*said], words=said.__getitem__)
        chosen |= {"step": state.value(step), "against": state.value(against)}
    part = forming_part(frames, chosen, key=f"{run.name} {frames.text}")
    component.show(held(part), on_change=partial(state.take_over, prefix="lab_"))
    if found := circle_at(run, part.state["step"]):
        layout.show_chart(lab.circle(*found), key="lab-circle")


# --- numbers on a circle --------------------------------------------------------------------------


def circle_at(run: Run, step: int) -> tuple[str, Circle, int] | None:
    """The numbers that are added modulo their number, where they lie at the last kept step."""
    names = OBJECTIVES[run.recipe.objective].cycle if run.recipe else ""
    kept = [x for x in snapshots(run.folder) if int(x.name.removeprefix(SNAPSHOT)) <= step]
    if not names or not kept:
        return None
    return names, _circle(kept[-1], names), int(kept[-1].name.removeprefix(SNAPSHOT))


@lru_cache(maxsize=64)
def _circle(folder: Path, names: str) -> Circle:
    model = checkpoint.load(folder, device="cpu")
    ids = [model.tokenizer.encode(name)[0] for name in names]
    return circle(model.model.get_parameter("embed.weight").detach().numpy()[ids])


# --- where a head is named for induction ---------------------------------------------------------


def induction_scores(frames: Frames | None) -> np.ndarray:
    """How much of each head's weight lies after earlier copies, (S, L, H); empty without any."""
    if frames is None or not frames.is_causal:
        return np.empty(0)
    n, places = len(frames.keys), {token: i for i, token in enumerate(frames.keys)}
    ids = np.array([places[token] for token in frames.keys])
    scores = induction_by_step(np.asarray(frames.patterns, np.float32), np.tri(n, dtype=bool), ids)
    return scores if np.isfinite(scores).any() else np.empty(0)


def induction_curves(frames: Frames | None, scores: np.ndarray) -> list[Curve]:
    """The scores of each head, a line each; of many those stand out that are named or largest."""
    assert frames is not None
    heads = list(np.ndindex(scores.shape[1:]))
    found = formed(scores)
    named = found and found.head
    largest = sorted(heads, key=lambda at: (at != named, -np.nan_to_num(scores[:, *at]).max()))
    inks = {at: ink for ink, at in enumerate(sorted(largest[:MOST_NAMED]))}
    return [
        Curve(inks.get(at), head_name(*at), "", frames.steps, scores[:, *at].tolist())
        for at in sorted(heads, key=inks.__contains__)
    ]


def formed(scores: np.ndarray) -> Formed | None:
    """When the first head is named for good, of several the strongest at last; None without one."""
    is_named = np.nan_to_num(scores) >= AT_LEAST["induction"]
    stays = np.logical_and.accumulate(is_named[::-1])[::-1]
    if not stays.any():
        return None
    first = int(stays.any(axis=(1, 2)).argmax())
    last = np.where(stays[first], np.nan_to_num(scores[-1]), -1)
    layer, head = divmod(int(last.argmax()), last.shape[1])
    return Formed(first, (layer, head))
