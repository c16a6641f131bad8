"""What heads and embeddings become in a training: each of its steps is looked at once."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from model.analysis.circle import Circle, circle
from model.analysis.forming import frame_induction
from model.sources import checkpoint
from model.sources.handle import ModelHandle
from model.training.runs import Frames
from viz import runs
from viz.runs.kept import kept


def induction_scores(frames: Frames | None) -> np.ndarray:
    """How much of each head's weight lies after earlier copies, (S, L, H); empty without any."""
    if frames is None or frames.mask.all():
        return np.empty(0)
    steps = range(len(frames.steps))
    scores = np.stack([_at_step(frames.file, frames.keys, i, frames).scores for i in steps])
    return scores if np.isfinite(scores).any() else np.empty(0)


class AtStep(NamedTuple):
    """The scores (L, H) of one frame.

    `held` is empty and only has the file mapped: no new one gets its number while this is kept.
    """

    scores: np.ndarray
    held: np.ndarray


@kept
def _at_step(file: str, keys: tuple[str, ...], number: int, _frames: Frames) -> AtStep:
    scores = frame_induction(_frames.patterns[number], _frames.mask, keys)
    return AtStep(scores, _frames.patterns[:0])


def circle_of(folder: Path, names: str) -> Circle:
    """Where the checkpoint in a folder has the numbers that go by these characters."""
    return _circle(runs.handle_of(str(folder), "cpu"), names)


@kept
def _circle(handle: ModelHandle, names: str) -> Circle:
    """The checkpoint itself is not kept: a way through many would push out the others' models."""
    model = checkpoint.load(handle.name, device=handle.device)
    ids = [model.tokenizer.encode(name)[0] for name in names]
    return circle(model.model.get_parameter("embed.weight").detach().numpy()[ids])
