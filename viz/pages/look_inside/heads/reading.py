"""What the page Heads reads its numbers from: a run, or the stored survey."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from model.analysis.exchanged import SEED
from model.analysis.heads import Averages, traits
from model.analysis.measures import Trait
from model.lines import one_line
from model.names import head_name
from model.survey.stored import Strongest, command
from model.trace import Trace
from viz.digits import digits, or_none
from viz.frame.view import View
from viz.runs import heads, runnable, whys
from viz.runs.kept import is_kept

SURVEY, SENTENCE, REPEATS, TEXT = "survey", "sentence", "repeats", "text"
NO_ROLE = "no single role"
MOST_TEXTS = 8  # whose looks are counted: of a model of six layers in two seconds


class Corpus(NamedTuple):
    """Texts whose looks are counted: what they are kept by, their runs, and what they are."""

    key: object
    traces: Callable[[], list[Callable[[], Trace]]]
    said: str


@dataclass(frozen=True, eq=False)
class Reading:
    """The measures of all heads of one kind of attention, (L, H) each, and what they are of.

    `strongest` are the inputs of a survey that wake each head most, (L, H), and empty where there
    was no survey. Rules are counted on fewer texts, the `corpus`. `leads` is the measure that an
    input was made for, if it was, and `sentence` that input, where a person can type it.
    """

    about: str
    measures: dict[str, Averages]
    strongest: list[list[Strongest]]
    corpus: Corpus
    leads: str = ""
    sentence: str = ""

    @property
    def n_layers(self) -> int:
        """Layers of the group."""
        return len(next(iter(self.measures.values())).values)

    @property
    def n_heads(self) -> int:
        """Heads in each layer."""
        return next(iter(self.measures.values())).values.shape[1]

    @property
    def names(self) -> list[str]:
        """The heads, layer by layer, each on one line."""
        every = np.ndindex(self.n_layers, self.n_heads)
        return [head_name(*head).replace(" ", "\u00a0") for head in every]

    def values(self, name: str) -> np.ndarray:
        """A measure of all heads in one row, (L·H,)."""
        return self.measures[name].values.ravel()

    def number(self, name: str, head: int) -> str:
        """One value in three digits, as 0.74, 4.04 or 35.4; a dash where there is none."""
        value = float(self.values(name)[head])
        return or_none(value, 2 - sum(abs(value) >= ten for ten in (10, 100)))

    def words(self, head: int) -> str:
        """All words of a head."""
        return ", ".join(trait.word for trait in self.traits[head]) or NO_ROLE

    @cached_property
    def traits(self) -> list[list[Trait]]:
        """The words that each head's measures support, head by head."""
        flat = {
            k: Averages(x.values.ravel(), x.n_queries.ravel()) for k, x in self.measures.items()
        }
        return traits(flat)

    def clearest(self, trait: Trait) -> list[int]:
        """The heads that a word is said of, those of which it is truest first."""
        values = self.values(trait.measure) * (1 if trait.is_small else -1)
        return sorted((i for i, x in enumerate(self.traits) if trait in x), key=values.__getitem__)

    def has(self, name: str) -> bool:
        """Whether a measure is there, of any head."""
        return name in self.measures and bool(np.isfinite(self.values(name)).any())


class NoSurvey(str):
    """That there is none, and how to make one."""


def of_input(view: View) -> Reading:
    """The numbers of this sentence; the copying score once it is there, see `with_copying`."""
    own = heads.on_this_input(view.handle, view.run)[view.attention]
    n = len(view.run.trace.stream(view.group.queries))
    what = "picture" if view.run.trace.main.kind == "patches" else "sentence"
    return Reading(f"Measured on this {what}, {n} queries.", own, [], _of_input(view))


def is_copying_kept(view: View) -> bool:
    """Whether the copying score of this model is there at once."""
    return is_kept(heads.of_weights, view.handle)


def with_copying(view: View, reading: Reading) -> Reading:
    """The same with the copying score, which no input changes: seconds where it is not kept."""
    return replace(reading, measures=reading.measures | heads.of_weights(view.handle))


def _of_input(view: View) -> Corpus:
    return Corpus(view.run.key, lambda: [lambda: view.run.trace], "this input")


def of_repeats(view: View) -> Reading:
    """The numbers of random tokens said twice, on which induction can be measured."""
    given, trace, measured = heads.on_random_repeats(view.handle)
    n = given.n
    after = ", after what begins every text" if len(given.ids) > 2 * n else ""
    about = (
        f"Measured on {2 * n} random tokens: {n}, and the same {n} again{after} (seed {SEED}). "
        "Only a look back tells which comes next: a head that attends to what came right after "
        "the earlier copy of its token is an induction head."
    )
    corpus = Corpus((view.handle, REPEATS), lambda: [lambda: trace], "these tokens")
    return Reading(about, measured[view.attention], [], corpus, "induction", given.text)


def of_text(view: View, work: heads.Surveying) -> Reading:
    """The numbers of a text of a person's own, as far as it was measured."""
    first = "the first " if work.is_cut else ""
    about = (
        f"Measured on {first}{work.n_tokens:,} tokens of {one_line(work.name)}, {work.n_done} "
        f"window{'s' * (work.n_done != 1)} of at most {max(work.samples.lengths)}."
    )
    own = work.measured(view.attention)
    n = min(work.n_done, MOST_TEXTS)

    def traces() -> list[Callable[[], Trace]]:
        return whys.short_runs(view.handle, (work.samples.make(i).given[0] for i in range(n)))

    said = f"the first {whys.MOST_TOKENS} tokens of {n} window{'s' * (n != 1)}"
    return Reading(about, own, [], Corpus(work, traces, said))


def surveyed(view: View) -> Reading | str:
    """The numbers of the survey, or why there are none."""
    try:
        survey = heads.survey(view.handle)
    except ValueError as error:
        return f"{one_line(str(error))}. This input’s numbers are shown."
    if survey is None or view.attention not in survey.groups:
        remedy = f" Make one: {command(view.handle.name)}." if "weights" in view.offers else ""
        return NoSurvey(
            f"No survey of {view.group.title.lower()} is stored with {view.model}.{remedy} This "
            "input’s numbers are shown."
        )
    files = ", ".join(survey.texts)
    about = (
        f"Measured on {survey.tokens:,} tokens of held-out text, {survey.inputs:,} inputs of at "
        f"most {survey.window}, not on this sentence, where a head may do something else: {files}."
    )
    if view.run.trace.main.kind == "patches":
        about = f"Measured on {survey.inputs:,} test pictures: {files}."
    group = survey.groups[view.attention]
    return Reading(
        about, survey.measured(view.attention), group.strongest, _top(view, group.strongest)
    )


def _top(view: View, strongest: list[list[Strongest]]) -> Corpus:
    """Some of the top-activating texts of all heads; of what does not open alone, this input."""
    texts = dict.fromkeys(one.text for layer in strongest for one in layer if not one.target)
    texts.pop("", None)
    if not texts:
        return _of_input(view)
    some = list(texts)[:: -(-len(texts) // MOST_TEXTS)]

    def traces() -> list[Callable[[], Trace]]:
        windows = runnable(view.handle).tokenizer.windows
        rows = (windows(text, whys.MOST_TOKENS) for text in some)
        return whys.short_runs(view.handle, (row[0] for row in rows))

    said = f"{len(some)} of the {len(texts)} top-activating texts of all heads"
    return Corpus(tuple(some), traces, said)


def in_words(trait: Trait) -> str:
    """From, or up to, which value a measure supports a word, as it stands in a table."""
    return f"{'≤' if trait.is_small else '≥'} {digits(trait.at, 2)}"
