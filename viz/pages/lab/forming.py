"""What heads and embeddings become in a training, step by step."""

from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import streamlit as st

from model.analysis.circle import Circle, circle
from model.analysis.heads import AT_LEAST, induction_by_step
from model.sources import checkpoint
from model.sources.places import SNAPSHOT, snapshots
from model.training.objectives import OBJECTIVES
from model.training.runs import Frames, Run
from viz.charts.chart import Row
from viz.figures import lab
from viz.figures.lab import Curve
from viz.frame import controls, layout, words
from viz.frame.said import Word, head_name
from viz.frame.settings import LAB_AGAINST, LAB_STEP

MOVING = ("starting", "running")
MOST_NAMED = 6  # heads in a legend, which have a colour each
MOST_ON_PHONE = 4  # maps side by side; of more, some are scrolled to
NONE = -1


def draw(run: Run, frames: Frames | None) -> None:
    """Every head on one text that stays the same: the last frame, or at rest that of a step."""
    if frames is None:
        words.caption("Every head is seen here as soon as the training begins.")
        return
    step, against = frames.steps[-1], NONE
    if run.state not in MOVING and len(frames.steps) > 1:
        step, against = _chosen(frames)
    at = frames.steps.index(step)
    shown = (
        "Attention of every head on"
        if frames.queries == frames.keys
        else "What each token of the target attends to by every head, source:"
    )
    when = f"step {step:,}" if against == NONE else f"step {step:,} − step {against:,}"
    words.caption([f"{shown} “", Word(frames.text.strip()), f"”: {when}"])
    _, n_layers, n_heads, *_ = frames.patterns.shape
    with st.container(key=f"{'middling-' if n_heads > MOST_ON_PHONE else ''}chart-lab-heads"):
        for layer in range(n_layers):
            layout.show_chart(_row(frames, layer, at, against), key=f"lab-heads-{layer}")
    if found := circle_at(run, step):
        layout.show_chart(lab.circle(*found), key="lab-circle")


def _chosen(frames: Frames) -> tuple[int, int]:
    """The step that is shown, and the one that it is compared with."""
    steps = [*frames.steps]

    def said(other: int) -> str:
        return "nothing" if other == NONE else f"step {other:,}"

    with st.container(horizontal=True, vertical_alignment="bottom"):
        step = controls.steps(LAB_STEP.given(options=steps, default=steps[-1], words="{:,}".format))
        other = controls.select(LAB_AGAINST.given(options=[NONE, *steps], words=said), width=130)
    return step, other


def _row(frames: Frames, layer: int, at: int, against: int) -> Row:
    """One layer's heads in a frame, or how they differ from those of a step."""
    shape = frames.patterns.shape[-2:]
    mask = np.tri(*shape, dtype=bool) if frames.is_causal else np.ones(shape, dtype=bool)
    patterns = np.array(frames.patterns[at][layer], np.float32)
    drawn = partial(lab.heads, mask=mask, queries=frames.queries, keys=frames.keys, layer=layer)
    if against == NONE:
        return drawn(patterns)
    before = np.array(frames.patterns[frames.steps.index(against)][layer], np.float32)
    return drawn(patterns - before, is_change=True)


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


class Formed(NamedTuple):
    """The first frame from which a head stays named for induction, and which."""

    frame: int
    head: tuple[int, int]


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
