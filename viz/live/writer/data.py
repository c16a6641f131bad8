"""What the writer is sent: a text as it was generated, and each new token's step."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from viz.figures.labels import token_labels, visible
from viz.live.core.wire import Data, Settings, axis_labels

WRITER = "writer"


@dataclass(frozen=True, eq=False)
class WrittenToken:
    """One generated token: how it was drawn, and what the position that predicted it attended to.

    `leading` are the most likely tokens as (id, the model's probability, probability drawn with).
    `attention` has an array (H, Tk) per layer; its key 0 is token `n_dropped` of the whole text.
    `stopped` says why the text ends here, if it does.
    """

    token_id: int
    rank: int
    before: float
    prob: float
    n_kept: int
    leading: tuple[tuple[int, float, float], ...]
    attention: tuple[np.ndarray, ...]
    n_dropped: int
    stopped: str | None


@dataclass(frozen=True, eq=False)
class WrittenText:
    """A text while it is written: the prompt's tokens first, then one token for each step.

    `steps` are as `step_data` gives them, for the head that is named.
    """

    tokens: Sequence[str]
    steps: Sequence[Data]
    head_name: str
    is_running: bool


def writer_data(key: str, text: WrittenText, settings: Settings) -> Data:
    """The text and its steps. `key` is new when anything but head, steps and settings is."""
    labels = token_labels(text.tokens)
    return {
        "instrument": WRITER,
        "key": key,
        "head": text.head_name,
        "labels": labels,
        "axis": axis_labels(labels),
        "n_prompt": len(text.tokens) - len(text.steps),
        "steps": text.steps,
        "running": text.is_running,
        "settings": settings,
    }


def step_data(step: WrittenToken, vocabulary: Sequence[str], layer: int, head: int) -> Data:
    """One step: what it was drawn from, and what one head and all heads attended to."""
    mean = np.asarray(sum(rows.mean(axis=0) for rows in step.attention) / len(step.attention))
    return {
        "token_id": step.token_id,
        "rank": step.rank,
        "before": step.before,
        "prob": step.prob,
        "kept": step.n_kept,
        "n_dropped": step.n_dropped,
        "row": _short(step.attention[layer][head]),
        "mean": _short(mean),
        "leading": [
            {"id": i, "label": visible(vocabulary[i]), "before": before, "after": after}
            for i, before, after in step.leading
        ],
    }


def _short(weights: np.ndarray) -> list[float]:
    """Weights to five places; float32 as it is would be written in seventeen."""
    return weights.astype(np.float64).round(5).tolist()
