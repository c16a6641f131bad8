"""Pairs of sentences for activation patching, and what is asked of them by this visitor."""

import tomllib
from dataclasses import dataclass
from functools import cache

from model.analysis.metrics import Metric, telling_tokens
from viz import runs
from viz.figures.labels import visible
from viz.frame import ASSETS, controls, state
from viz.frame.blanks import first_blank
from viz.frame.settings import CORRUPT, EXPECTED, METRIC, MODEL, PATCH, RESTORE, SENTENCE, VERSUS
from viz.frame.view import View
from viz.live.core.wire import Option, Settings
from viz.live.pickers.data import Picker
from viz.runs import patching

CANDIDATES = 10  # most likely tokens of either sentence to choose from
PAIR = "pair"


@dataclass(frozen=True)
class Pair:
    """Two sentences of equally many tokens, and what patching one into the other shows.

    `subject` is the position that alone brings the answer back.
    """

    title: str
    clean: str
    corrupt: str
    model: str
    subject: int
    shows: str


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
            state.put((SENTENCE, pair.clean), (CORRUPT, pair.corrupt), (MODEL, pair.model))


def second_sentence(view: View) -> str:
    """What stands in the second box, until a person types: the pair's, or one made of the first."""
    found = pair_of(view)
    own = found.corrupt if found else _made_of(view)
    return controls.text(CORRUPT.given(default=own), placeholder="another sentence")


def _made_of(view: View) -> str:
    """The sentence with one word exchanged for what the model found more likely there."""
    first = first_blank(view.tokens)[0]
    places = (first, *(i for i in range(len(view.tokens)) if i != first))
    return patching.with_another_word(view.handle, view.sentence, places)


def metric(view: View, second: patching.Ids) -> Metric:
    """What is asked of the last token, drawn as controls."""
    logits = view.run.trace.logits[-1], patching.last_logits(view.handle, second)
    expected, versus = telling_tokens(*logits)
    options = list(
        dict.fromkeys(
            [expected, versus]
            + [i for row in logits for i in (-row).argsort(kind="stable")[:CANDIDATES].tolist()]
        )
    )
    state.only_for((view.ids, second, view.model), EXPECTED, VERSUS, PATCH)
    kind, vocabulary = controls.select(METRIC, width=150), runs.vocabulary(view.handle)

    def words(token: int) -> str:
        return visible(vocabulary[token])

    given = {"options": options, "words": words}
    answer = controls.select(EXPECTED.given(default=expected, **given), width=130)
    other = versus
    if kind == METRIC.default:
        other = controls.select(VERSUS.given(default=versus, **given), width=130)
    return Metric(kind, len(view.ids) - 1, answer, other)


def metric_name(view: View, metric: Metric) -> str:
    """A metric in words, as logit of “she” − logit of “he”; the tokens are a person's text."""
    vocabulary = runs.vocabulary(view.handle)
    answer, other = (f"“{visible(vocabulary[i])}”" for i in (metric.answer, metric.other))
    return {
        "difference": f"logit of {answer} − logit of {other}",
        "logit": f"logit of {answer}",
        "loss": f"loss of {answer}",
    }[metric.kind]


def is_forward() -> bool:
    """Whether values of the first sentence are put into the second."""
    return controls.select(RESTORE, width=170) == RESTORE.default
