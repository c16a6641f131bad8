"""A circuit in a notebook: `run.circuit()`, its edges as tables."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from model.analysis.metrics import DIFFERENCE
from model.analysis.patching import Pair, metric_between, parting
from model.analysis.paths.edges import Edges, effects
from model.analysis.paths.kept import Curve, Pruning, kept_only
from model.analysis.paths.terms import paths
from model.analysis.paths.words import rows
from model.analysis.second import with_another_word
from model.sources.table import Runnable
from model.sources.tokens import said, token_of
from model.trace import Trace


@dataclass(frozen=True, eq=False)
class Circuit:
    """What makes the answer `answer` rather than `against`, where `second` would make the other.

    `all` counts every edge and keeps those with the largest estimates, MOST_EDGES at most.
    """

    tokens: Sequence[str]
    second: str
    answer: str
    against: str
    all: Edges

    def edges(self, n: int = 300) -> pd.DataFrame:
        """The n edges with the largest estimates, by their exact effects, the largest first.

        An effect is what the answer loses by that edge alone.
        """
        return self._table(self.all.edges[: counted(n)])

    def share(self, n: int) -> float:
        """F: what these n edges keep of the difference, all others as in `second`.

        Few keep nothing: they are on no whole way from a word to the answer.
        """
        return self.all.paths.share(kept_only(self.all.paths, self.all.edges[: counted(n)]))

    def pruned(self) -> pd.DataFrame:
        """As few edges as were found that keep nine tenths; this takes some time.

        ValueError where even the strongest thousands do not.
        """
        curve = Curve(self.all.paths, self.all.edges)
        curve.finish()
        pruning = Pruning(self.all.paths, self.all.edges[: curve.enough])
        pruning.finish()
        return self._table(pruning.edges)

    def _table(self, edges: np.ndarray) -> pd.DataFrame:
        exact = effects(self.all.paths, edges)
        order = np.argsort(-np.abs(exact), kind="stable")
        return pd.DataFrame(rows(self.all.paths, edges[order], exact[order], self.tokens))

    def __repr__(self) -> str:
        asked = f"{self.answer.strip()} rather than {self.against.strip()}"
        return f"<circuit of {asked}: {self.all.n_all:,} edges>"


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
    second = second or with_another_word(opened.tokenizer, trace)
    if not second:
        raise ValueError("no word of the text could be exchanged for another; give a second text")
    other = opened.trace(second).trace
    if len(other.tokens) != len(trace.tokens):
        raise ValueError(parting(trace.tokens, other.tokens))
    base, source, position = trace.ids, other.ids, len(trace.tokens) - 1
    asked = (token_of(opened, text) for text in (answer, against))
    metric = metric_between(opened.model, base, source, position, DIFFERENCE, *asked)
    edges = Edges(paths(Pair(opened.model, base, source, metric)))
    edges.finish()
    answer, against = (said(opened, token) for token in (metric.answer, metric.other))
    return Circuit(trace.tokens, second, answer, against, edges)
