"""Pairs of sentences for activation patching, and what is asked of them by this visitor."""

import tomllib
from dataclasses import dataclass
from functools import cache

import numpy as np

from model.analysis.metrics import Metric, telling_tokens
from model.given import Input
from viz import runs
from viz.frame import ASSETS, controls, state, two_inputs
from viz.frame.blanks import first_blank
from viz.frame.settings import (
    BLANKS,
    CORRUPT,
    EXPECTED,
    METRIC,
    MODEL,
    PATCH,
    PATCH_STACK,
    RESTORE,
    SENTENCE,
    SOURCE,
    VERSUS,
)
from viz.frame.two_inputs import Two
from viz.frame.view import View
from viz.kit.wire import Option, Settings
from viz.live.pickers.data import Picker
from viz.runs import attributing, patching, translating

CANDIDATES = 10  # most likely tokens of either sentence to choose from
PAIR = "pair"


@dataclass(frozen=True)
class Pair:
    """Two sentences of equally many tokens, and what patching one into the other shows.

    `subject` is the position that alone brings the answer back, `blank` of an encoder the one that
    is hidden and asked for.
    """

    title: str
    clean: str
    corrupt: str
    model: str
    subject: int
    shows: str
    blank: int | None = None


@cache
def pairs() -> tuple[Pair, ...]:
    """The pairs of assets/patching.toml."""
    text = (ASSETS / "patching.toml").read_text(encoding="utf-8")
    return tuple(Pair(**entry) for entry in tomllib.loads(text)["pair"])


def pair_of(view: View) -> Pair | None:
    """The pair whose first sentence is on screen, on its model."""
    here = (view.sentence, view.model)
    return next((pair for pair in pairs() if (pair.clean, pair.model) == here), None)


def draw_pairs() -> None:
    """The list of pairs to choose from."""
    options = [Option(pair.title, pair.title) for pair in pairs()]
    picker = Picker(PAIR, "Pairs", options, "", placeholder="choose one")
    controls.pickers("pickers-pair", picker, on_change=_take_over)


def _take_over(changes: Settings) -> None:
    for pair in pairs():
        if pair.title == changes.get(PAIR):
            is_source = runs.architecture_of(pair.model) == "encoder_decoder"
            text = SOURCE if is_source else SENTENCE
            state.put((text, pair.clean), (CORRUPT, pair.corrupt), (MODEL, pair.model))
            if pair.blank is not None:
                state.put((BLANKS, [pair.blank]))


def second_input(view: View) -> str:
    """What is asked for the second input, until a person chooses: the pair's, or one made."""
    found = pair_of(view)
    return two_inputs.ask(view, found.corrupt if found else _made_of(view))


def _made_of(view: View) -> str:
    """The sentence with one word exchanged.

    A decoder's for what the model found more likely there, others for a word alike.
    """
    trace = view.run.trace
    if trace.main.ids is None:
        return ""
    if trace.facts.architecture == "decoder":
        first = first_blank(view.tokens)[0]
        places = (first, *(i for i in range(len(view.tokens)) if i != first))
        return patching.with_another_word(view.handle, view.sentence, places)
    ids = patching.ids_of(view.handle, view.sentence)
    hidden = first_blank(runs.tokenizer(view.handle).token_strings(ids))
    is_encoder = trace.facts.architecture == "encoder"
    places = [i for i in range(len(ids)) if i not in hidden or not is_encoder]
    order = places if is_encoder else (*hidden, *places)
    made = patching.with_alike_words(view.handle, view.sentence, ids, tuple(order))
    return next((text for text in made if is_encoder or _turns(view, text)), (*made, "")[0])


def _turns(view: View, text: str) -> bool:
    """Whether another source is translated differently."""
    both = (translating.written(view.handle, x, translating.Way()) for x in (view.sentence, text))
    first, second = (written.ids for written in both)
    return first != second


def stack(view: View, two: Two) -> str:
    """Which stack values are of: a choice where there are two."""
    if len(two.labels) == 1:
        return next(iter(two.labels))
    return controls.segments(PATCH_STACK)


def logits_of(view: View, given: Input, position: int) -> np.ndarray:
    """What an input is predicted to be at a position, (V,): of a text on screen that is there."""
    if view.run.trace.facts.architecture == "decoder" and given == view.ids:
        return view.run.trace.logits[position]
    return patching.logits_of(view.handle, given, position)


def metric(view: View, two: Two) -> Metric:
    """What is asked of the answer, drawn as controls."""
    logits = [logits_of(view, given, two.position) for given in (two.first, two.second)]
    expected, versus = telling_tokens(*logits)
    options = list(
        dict.fromkeys(
            [expected, versus]
            + [i for row in logits for i in (-row).argsort(kind="stable")[:CANDIDATES].tolist()]
        )
    )
    state.only_for((two.first, two.second, view.model), EXPECTED, VERSUS, PATCH)
    kind, names = controls.select(METRIC, width=150), _names(view)
    given = {"options": options, "words": names.__getitem__}
    answer = controls.select(EXPECTED.given(default=expected, **given), width=130)
    other = versus
    if kind == METRIC.default:
        other = controls.select(VERSUS.given(default=versus, **given), width=130)
    return Metric(kind, two.position, answer, other)


def _names(view: View) -> list[str]:
    """What each logit is of: a token, or a class."""
    output = view.run.trace.output
    assert output is not None, "the page needs logits"
    return attributing.names_of_answers(view.handle, output.shape[-1])


def metric_name(view: View, metric: Metric) -> str:
    """A metric in words, as logit of “she” − logit of “he”; the tokens are a person's text."""
    names = _names(view)
    answer, other = (f"“{names[i]}”" for i in (metric.answer, metric.other))
    return {
        "difference": f"logit of {answer} − logit of {other}",
        "logit": f"logit of {answer}",
        "loss": f"loss of {answer}",
    }[metric.kind]


def is_forward() -> bool:
    """Whether values of the first input are put into the second."""
    return controls.select(RESTORE, width=170) == RESTORE.default
