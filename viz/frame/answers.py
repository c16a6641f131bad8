"""Which answer of the model a page is about: a position, a token there, and perhaps a second."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from model.trace import Stream
from viz.figures.labels import clipped, token_labels
from viz.frame import controls, layout
from viz.frame.settings import AFTER, AGAINST_ANSWER, ANSWER
from viz.frame.view import View
from viz.runs import attributing

LONGEST = 24  # characters of a name in a list
# Streamlit tells options apart by their words: a token could be called "nothing".
NO_OTHER = "no other: alone"


@dataclass(frozen=True, eq=False)
class Answer:
    """A position and a token, or class, that is asked about; `against` another, or alone.

    `names` are of all logits.
    """

    position: int
    token: int
    against: int | None
    names: list[str]
    probability: float
    is_class: bool

    @property
    def kind(self) -> str:
        """What an answer of this model is."""
        return "class" if self.is_class else "token"

    @property
    def name(self) -> str:
        """What the token is called."""
        return self.names[self.token]


def choose(view: View) -> Answer:
    """Controls for position and tokens; until others are chosen, the most likely at the end."""
    trace = view.run.trace
    assert trace.output is not None
    names = attributing.names_of_answers(view.handle, trace.output.shape[-1])
    with layout.slim_row("answer"):
        position = 0 if len(trace.output) == 1 else position_of(view)
        logits = trace.output[position].astype(np.float64)
        falling = np.argsort(-logits, kind="stable").tolist()
        token = _one(view, falling, names)
        against = _other([i for i in falling if i != token], names)
    exponentials = np.exp(logits - logits.max())
    probability = float(exponentials[token] / exponentials.sum())
    return Answer(position, token, against, names, probability, _is_class(view))


def position_of(view: View) -> int:
    """The position whose output is asked about; of tokens in place, the place itself."""
    if view.run.trace.facts.predicts in (None, "next token"):
        return controls.position(view)
    tokens = view.run.trace.tokens
    at = AFTER.given(label="At token")
    return controls.token(at, tokens, len(tokens) - 1, "last")


def _is_class(view: View) -> bool:
    return view.run.trace.facts.predicts == "class"


def _one(view: View, falling: Sequence[int], names: list[str]) -> int:
    def words(i: int) -> str:
        name = clipped(names[falling[0] if i < 0 else i], LONGEST)
        return f"most likely: {name}" if i < 0 else name

    setting = ANSWER.given(
        options=[-1, *falling], words=words, label="Class" if _is_class(view) else ANSWER.label
    )
    chosen = controls.select(setting, width=230)
    return falling[0] if chosen < 0 else chosen


def _other(others: Sequence[int], names: list[str]) -> int | None:
    def words(i: int) -> str:
        return NO_OTHER if i < 0 else clipped(names[i], LONGEST)

    chosen = controls.select(AGAINST_ANSWER.given(options=[-1, *others], words=words), width=200)
    return None if chosen < 0 else chosen


def labels_of(stream: Stream) -> list[str]:
    """What stands in a row, plain text: tokens, or the places of patches."""
    return list(stream.labels) if stream.kind == "patches" else token_labels(stream.labels)
