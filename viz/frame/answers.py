"""What is asked of an answer: a position, a number of its logits, a token there, and a second."""

from collections.abc import Iterable

import numpy as np

from model.analysis.metrics import DIFFERENCE, Metric, telling_tokens
from model.analysis.question import Both
from model.given import Input
from model.trace import Stream
from model.worked_out import softmax
from viz.frame import controls, state
from viz.frame.kinds import Choice
from viz.frame.settings import ANSWER, INSTEAD, TOKEN
from viz.frame.view import View
from viz.labels import clipped, token_labels
from viz.runs import Run, attributing, patching

LONGEST = 24  # characters of a name in a list
CANDIDATES = 10  # most likely tokens of either of two inputs to choose from


def ask(
    view: View,
    position: int,
    own: tuple[int, int],
    options: Iterable[int],
    metric: Choice[str],
    called: tuple[str, str] = ("most likely", "next"),
) -> Metric:
    """What is asked at a position, drawn as controls.

    Until others are chosen, of the two tokens of the page's `own`, which it calls so; a choice
    belongs to its sentence.
    """
    state.only_for((view.given, view.model), ANSWER, INSTEAD)
    names, options = names_of(view), list(options)

    def one(setting: Choice[int], usual: int, name: str, other_than: int | None = None) -> int:
        def words(i: int) -> str:
            text = clipped(names[usual if i < 0 else i], LONGEST)
            return f"{name}: {text}" if i < 0 else text

        chosen = state.value(setting.given(options=range(-1, len(names))))
        if chosen == other_than:
            state.put((setting, -1))
        offered = [i for i in dict.fromkeys([-1, *options, chosen]) if i != other_than]
        picked = controls.select(setting.given(options=offered, words=words), width=210)
        return usual if picked < 0 else picked

    label = "Class" if view.run.trace.facts.predicts == "class" else ANSWER.label
    kind = controls.select(metric, width=150)
    answer = one(ANSWER.given(label=label), own[0], called[0])
    other = next((i for i in (own[1], own[0], *options) if i != answer), answer)
    if kind == DIFFERENCE:
        other = one(INSTEAD, other, called[1], answer)
    else:
        state.leave_out(INSTEAD)
    return Metric(kind, position, answer, other)


def ask_both(view: View, both: Both, metric: Choice[str]) -> Metric:
    """What is asked of two inputs, of the tokens that tell them apart until others are chosen.

    These do for most: the controls may stand behind a click.
    """
    logits = [logits_at(view, given, both.position) for given in (both.first, both.second)]
    own = telling_tokens(*logits)
    likely = [i for row in logits for i in (-row).argsort(kind="stable")[:CANDIDATES].tolist()]
    return ask(view, both.position, own, (*own, *likely), metric, ("first", "second"))


def position_of(view: View) -> int:
    """The position whose output is asked about; of tokens in place, the place itself."""
    if len(logits_of(view.run)) == 1:
        return 0
    if view.run.trace.facts.predicts in (None, "next token"):
        return controls.position(view)
    tokens = view.run.trace.tokens
    return controls.token(TOKEN.given(label="At token"), tokens, len(tokens) - 1, "last")


def names_of(view: View) -> list[str]:
    """What each logit is of: a token, or a class."""
    return attributing.names_of_answers(view.handle, logits_of(view.run).shape[-1])


def name_of(view: View, metric: Metric) -> str:
    """A metric in words, as logit of “she” − logit of “he”; the tokens are a person's text."""
    answer, other = (f"“{names_of(view)[i]}”" for i in (metric.answer, metric.other))
    return {
        "difference": f"logit of {answer} − logit of {other}",
        "logit": f"logit of {answer}",
        "loss": f"loss of {answer}",
    }[metric.kind]


def logits_of(run: Run) -> np.ndarray:
    """The output of a run, (T, V), of a picture (1, C)."""
    assert run.trace.output is not None, "the page needs logits"
    return run.trace.output


def logits_at(view: View, given: Input, position: int) -> np.ndarray:
    """What an input is predicted to be at a position, (V,): of a text on screen that is there."""
    if "decoder" in view.offers and given == view.ids:
        return view.run.trace.logits[position]
    return patching.logits_of(view.handle, given, position)


def probability_of(run: Run, position: int, token: int) -> float:
    """The probability of one answer at a position."""
    return float(softmax(logits_of(run)[position].astype(np.float64))[token])


def labels_of(stream: Stream) -> list[str]:
    """What stands in a row, plain text: tokens, or the places of patches."""
    return list(stream.labels) if stream.kind == "patches" else token_labels(stream.labels)
