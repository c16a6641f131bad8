"""What heads and embeddings become in a training: each state of its files is looked at once."""

from pathlib import Path

import numpy as np

from model.analysis.circle import Circle, circle
from model.analysis.forming import induction_by_step
from model.sources import checkpoint
from model.sources.handle import ModelHandle
from model.training.runs import Frames
from viz import runs
from viz.runs.kept import kept


def induction_scores(frames: Frames | None) -> np.ndarray:
    """How much of each head's weight lies after earlier copies, (S, L, H); empty without any."""
    if frames is None or frames.mask.all():
        return np.empty(0)
    return _induction_scores(frames.revision, frames)


@kept
def _induction_scores(revision: str, _frames: Frames) -> np.ndarray:
    scores = induction_by_step(_frames.patterns, _frames.mask, _frames.keys)
    return scores if np.isfinite(scores).any() else np.empty(0)


def circle_of(folder: Path, names: str) -> Circle:
    """Where the checkpoint in a folder has the numbers that go by these characters."""
    return _circle(runs.handle_of(str(folder), "cpu"), names)


@kept
def _circle(handle: ModelHandle, names: str) -> Circle:
    """The checkpoint itself is not kept: a way through many would push out the others' models."""
    model = checkpoint.load(handle.name, device=handle.device)
    ids = [model.tokenizer.encode(name)[0] for name in names]
    return circle(model.model.get_parameter("embed.weight").detach().numpy()[ids])
