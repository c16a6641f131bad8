"""A circuit in a notebook: `run.circuit()`, its edges as tables."""

from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd

from model.analysis.metrics import DIFFERENCE
from model.analysis.paths import circuit as paths_circuit
from model.analysis.paths.circuit import N_EXACT
from model.analysis.paths.edges import Exact
from model.analysis.paths.kept import kept_only
from model.analysis.paths.others import on_another
from model.analysis.paths.words import rows
from model.analysis.question import ask, both
from model.given import as_input
from model.sources.table import Runnable
from model.sources.tokens import said, strings_of, token_of
from model.trace import Trace
from viz.kit.part import Part, Pictured
from viz.kit.parts.circuit import circuit_part


@dataclass(frozen=True, eq=False)
class Circuit(Pictured):
    """What makes the answer `answer` rather than `against`, where `second` would make the other.

    `found` has it all: every edge is counted, those with the largest estimates are kept.
    """

    opened: Runnable
    trace: Trace
    second: str
    answer: str
    against: str
    found: paths_circuit.Circuit

    def edges(self, n: int = N_EXACT) -> pd.DataFrame:
        """The n edges with the largest estimates, by their exact effects, the largest first.

        An effect is what the answer loses by that edge alone.
        """
        some, exact = self.found.all.edges[: counted(n)], self.found.strongest
        if len(some) != len(exact.edges):
            exact = Exact(self.found.paths, some, self.found.all.estimates[: len(some)])
            exact.finish()
        return pd.DataFrame(rows(exact, self.trace.tokens))

    def share(self, n: int) -> float:
        """F: what these n edges keep of the difference, all others as in `second`.

        Few keep nothing: they are on no whole way from a word to the answer.
        """
        paths = self.found.paths
        return paths.share(kept_only(paths, self.found.all.edges[: counted(n)]))

    def pruned(self) -> pd.DataFrame:
        """As few edges as were found that keep nine tenths; this takes some time.

        `.attrs["share"]` is what they keep. ValueError where even the strongest thousands do not.
        """
        self.found.prune()
        self.found.finish()
        table = pd.DataFrame(rows(self.found.pruned, self.trace.tokens))
        table.attrs["share"] = self.found.share
        return table

    def share_on(self, text: str) -> float:
        """F of the pruned edges, or else of the strongest 300, on another text of as many tokens.

        Its second text has the same words exchanged as this one's.
        """
        edges = self.found.pruned.edges if self.found.pruning else self.found.strongest.edges
        ids = self.opened.trace(text).trace.ids.tolist()
        return on_another(self.found.paths, edges, ids).share

    @property
    def part(self) -> Part:
        """The picture, with what was pruned so far; in a notebook the circuit shows itself."""
        second, name = self.opened.trace(self.second).trace.tokens, partial(said, self.opened)
        return circuit_part(self.trace, second, self.found, name)

    def __repr__(self) -> str:
        asked = f"{self.answer.strip()} rather than {self.against.strip()}"
        return f"<circuit of {asked}: {self.found.all.n_all:,} edges>"


def counted(n: object) -> int:
    """A number of edges; ValueError where it is none."""
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
        raise ValueError(f"there are no {n!r} edges; give a whole number from 1")
    return int(n)


def circuit_of(
    opened: Runnable, trace: Trace, second: str, answer: str | None, against: str | None
) -> Circuit:
    """See `Run.circuit`."""
    if not {"answers", "edits", "decoder", "vocabulary"} <= opened.offers:
        raise ValueError(f"{opened.name} is no language model whose values can be exchanged")
    for given in (second, answer or "", against or ""):
        if not isinstance(given, str):
            raise ValueError(f"{given!r} is no text; give second, answer and against as texts")
    if not second.strip():
        raise ValueError(
            "the second text is empty; give one of as many tokens, as this with one word exchanged"
        )
    inputs = as_input(trace.given), as_input(opened.trace(second).trace.given)
    tokens = [token_of(opened, text) for text in (answer, against)]
    asked = both(*inputs, partial(strings_of, opened))
    question = ask(opened.model, asked, DIFFERENCE, tokens)
    found = paths_circuit.circuit_of(question.of(opened.model))
    found.finish()
    metric = question.metric
    answer, against = (said(opened, token) for token in (metric.answer, metric.other))
    return Circuit(opened, trace, second, answer, against, found)
