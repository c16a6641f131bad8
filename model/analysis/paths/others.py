"""What the edges of a circuit keep on other texts, and what as many edges drawn at random keep."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from model.analysis.paths.kept import kept_only
from model.analysis.paths.terms import Paths, paths
from model.analysis.question import Both, ask


class Elsewhere(NamedTuple):
    """F on another text, whose answer is the token that it makes likelier than its second does."""

    answer: int
    against: int
    share: float


def on_another(found: Paths, edges: np.ndarray, ids: Sequence[int]) -> Elsewhere:
    """F of edges on another text of as many tokens; its second text has the same words exchanged.

    ids: those of the other text. ValueError where there is no difference to keep.
    """
    pair = found.pair
    first, second = np.asarray(pair.base), np.asarray(pair.source)
    base = tuple(map(int, ids))
    if len(base) != len(first):
        raise ValueError(f"{len(base)} tokens; the first text has {len(first)}: take as many")
    source = tuple(np.where(first == second, base, second).tolist())
    both = Both(base, source, len(base) - 1)
    question = ask(pair.model, both, pair.metric.kind, stack=pair.stack)
    other, metric = paths(question.of(pair.model)), question.metric
    return Elsewhere(metric.answer, metric.other, other.share(kept_only(other, edges)))


def at_random(found: Paths, edges: np.ndarray, n: int, seed: int = 0) -> float:
    """F of n of these edges, drawn at random."""
    some = np.random.default_rng(seed).choice(len(edges), min(n, len(edges)), replace=False)
    return found.share(kept_only(found, edges[np.sort(some)]))
