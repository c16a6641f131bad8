"""What heads and embeddings become in a training, step by step."""

from dataclasses import replace
from functools import partial

import numpy as np

from model.analysis.circle import Circle
from model.analysis.forming import Formed
from model.names import head_name
from model.sources.places import SNAPSHOT, snapshots
from model.training.objectives import OBJECTIVES
from model.training.runs import Frames, Run
from viz.figures import lab
from viz.figures.lab import Curve
from viz.frame import layout, state, words
from viz.frame.settings import LAB_AGAINST, LAB_HEAD, LAB_STEP
from viz.kit.parts.forming import NONE, forming_part
from viz.live import component
from viz.runs.forming import circle_of
from viz.runs.kept import held

MOVING = ("starting", "running")
MOST_NAMED = 6  # heads in a legend, which have a colour each


def draw(run: Run, frames: Frames | None, first: Formed | None) -> None:
    """Every head on one text that stays the same: the last frame, or at rest those of all steps.

    Until another is chosen, the head is large that is named first.
    """
    if frames is None:
        is_coming = run.state in MOVING
        line = "The heads are seen here once it takes steps." if is_coming else "No head was kept."
        words.caption(line)
        return
    steps = [*frames.steps]
    named = ".".join(map(str, first.head)) if first else ""
    chosen: dict[str, object] = {"head": state.value(LAB_HEAD) or named}
    if run.state in MOVING:
        frames = replace(frames, steps=frames.steps[-1:], patterns=frames.patterns[-1:])
    else:
        said = {NONE: "no step"} | {step: f"step {step:,}" for step in steps}
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
    return names, circle_of(kept[-1], names), int(kept[-1].name.removeprefix(SNAPSHOT))


# --- where a head is named for induction ---------------------------------------------------------


def induction_curves(
    frames: Frames | None, scores: np.ndarray, found: Formed | None
) -> list[Curve]:
    """The scores of each head, a line each; of many those stand out that are named or largest."""
    assert frames is not None
    heads = list(np.ndindex(scores.shape[1:]))
    named = found and found.head
    largest = sorted(heads, key=lambda at: (at != named, -np.nan_to_num(scores[:, *at]).max()))
    inks = {at: ink for ink, at in enumerate(sorted(largest[:MOST_NAMED]))}
    return [
        Curve(inks.get(at), head_name(*at), "", frames.steps, scores[:, *at].tolist())
        for at in sorted(heads, key=inks.__contains__)
    ]
