"""A text while it is written, and the distribution that is shown, as the browser is sent them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from model.decoding.writing import WrittenToken
from viz.kit.part import Answers, Part
from viz.kit.sampling import Distribution, limits_data
from viz.kit.wire import Data, Settings, axis_labels
from viz.labels import token_labels


class Step(NamedTuple):
    """How a token was drawn, and what one head and all heads on average attended to, (Tk,) each."""

    said: Data
    row: np.ndarray
    mean: np.ndarray


@dataclass(frozen=True, eq=False)
class WrittenText:
    """A text while it is written: the prompt's tokens first, then one token for each step.

    `given` are the probabilities predicted for the prompt's tokens, NaN for the first; `looks` is
    how these look, None where there is nothing to show of them. `marks` say
    in words what changed before a new token, by its number; `note` is what there is to say about
    all of it.
    """

    tokens: Sequence[str]
    steps: Sequence[Step]
    given: Sequence[float]
    marks: dict[int, str]
    head_name: str
    is_running: bool
    note: str
    looks: Sequence[str] | None = None


def writing_part(
    key: str,
    text: WrittenText,
    shown: Sequence[Distribution],
    settings: Settings,
    *,
    is_greedy: bool = False,
    answers: Answers | None = None,
) -> Part:
    """The text, its steps, and distributions of some of its places, the newest last.

    `answers` writes on when asked. `key` is new when anything but head, steps and settings is.
    """
    labels = token_labels(text.tokens)
    spec = {
        "key": key,
        "head": text.head_name,
        "labels": labels,
        "axis": axis_labels(labels),
        "looks": text.looks,
        "n_prompt": len(text.tokens) - len(text.steps),
        "steps": [step.said for step in text.steps],
        "marks": marks_data(text.marks),
        "running": text.is_running,
        "note": text.note,
        "greedy": is_greedy,
        "alone": False,
        "shown": [one.said for one in shown],
        "vocab_size": shown[-1].logits.size,
        **limits_data(),
    }
    arrays = {
        "logits": np.stack([one.logits for one in shown]),
        "given": np.array(text.given, np.float32),
        **weights_of(text.steps),
    }
    first = [("logits", (len(shown) - 1,)), *((name, ()) for name in arrays if name != "logits")]
    return Part("writing", spec, settings, arrays, {"logits": 1}, answers, first)


def marks_data(marks: dict[int, str]) -> list[Data]:
    """What changed before new tokens, in words."""
    return [{"at": at, "text": words} for at, words in sorted(marks.items())]


def new_labels(tokens: Sequence[str], since: int) -> Data:
    """Labels of the tokens from `since` on; each depends on the token before it."""
    first = max(0, since - 1)
    labels = token_labels(tokens[first:])[since - first :]
    return {"labels": labels, "axis": axis_labels(labels)}


def step_of(step: WrittenToken, layer: int, head: int) -> Step:
    """One step, for one head."""
    mean = np.asarray(sum(rows.mean(axis=0) for rows in step.attention) / len(step.attention))
    said = {
        "token_id": step.token_id,
        "rank": step.rank,
        "before": step.before,
        "prob": step.prob,
        "kept": step.n_kept,
        "put": step.is_put,
        "n_dropped": step.n_dropped,
    }
    return Step(said, step.attention[layer][head], mean)


def weights_of(steps: Sequence[Step]) -> dict[str, np.ndarray]:
    """What was attended to, step after step, (sum of Tk,) each; writing/step.js cuts it again."""
    none = np.zeros(0, np.float32)
    return {
        name: np.concatenate([none, *(getattr(step, name) for step in steps)], dtype=np.float32)
        for name in ("row", "mean")
    }
