"""Why there? One cell of attention: its kinds, words × words, and who wrote either side."""

from collections.abc import Collection
from dataclasses import dataclass, field
from functools import cached_property, partial

import numpy as np

from model.analysis.why.opened import in_words, with_mlps_opened
from model.analysis.why.row import OneSide, Row, Scores, by_side, row_of
from model.analysis.why.sides import Sides, Sum, sides_of
from model.analysis.writers import placed, written
from model.architectures.base import Transformer
from model.trace import AttentionRecord, Site, Trace, check_number
from model.work import Steps, result_of

Array = np.ndarray
MOST_TOKENS = 64  # of each side
DEEP = 10  # layers from which MLPs stay writers: opening them for all heads takes too long
SIDES = ("query", "key")
OWN, PLACE = 0, 1  # of what a side is in two
# Which of both sides, the query's first, make each kind of a score.
KINDS = {"place": (PLACE, PLACE), "key": (PLACE, OWN), "query": (OWN, PLACE), "match": (OWN, OWN)}


@dataclass(frozen=True, eq=False)
class Reasons:
    """One attention, of which any cell can be asked; each way to write its streams is made once.

    That of words, and that of who wrote them, takes long: they can be made in steps.
    """

    trace: Trace
    model: Transformer
    site: Site
    _made: dict[object, Sides] = field(default_factory=dict)

    @property
    def record(self) -> AttentionRecord:
        """What ran."""
        return self.trace.record(self.site)

    def placed(self) -> Steps[Sides]:
        """Each side as the token's own, and what says its place alone."""
        return self._once("placed", placed)

    def words(self) -> Steps[Sides]:
        """Each side as the words that were brought there."""
        return self._once("words", in_words)

    def writers(self, heads: Collection[tuple[int, int]] = ()) -> Steps[Sides]:
        """Each side as heads and MLPs wrote it; in the first layers with MLPs opened.

        heads: some, by layer and number, that are told apart by where they look.
        """
        split = tuple(sorted(heads))
        of = written if self.site.layer > DEEP else with_mlps_opened
        return self._once(split, partial(of, split=split))

    def _once(self, name: object, of: Sum) -> Steps[Sides]:
        if name not in self._made:
            self._made[name] = yield from sides_of(self.trace, self.model, self.site, of)
        return self._made[name]

    def cell(self, head: int, query: int, key: int, other: int | None = None) -> "Cell":
        """One cell; ValueError, of one line, where there is nothing to explain."""
        cell = Cell(self, Scores(self.record, head, query), key, other)
        _check(cell)
        return cell


def reasons(trace: Trace, model: Transformer, site: Site) -> Reasons:
    """An attention to be asked; ValueError where it cannot be taken apart."""
    record = trace.record(site)
    streams = [trace.stream(name) for name in (record.queries, record.keys)]
    if not model.stacks or not all(stream.residuals for stream in streams):
        raise ValueError(
            "what the parts of this model write was not found: no score can be explained"
        )
    if record.further:
        done = ", ".join(record.further)
        raise ValueError(
            f"the scores of {site.address} are {done}: they are no sum of what wrote them"
        )
    longest = max(map(len, streams))
    if longest > MOST_TOKENS:
        raise ValueError(
            f"there are {longest} tokens; why a head looks is worked out for up to {MOST_TOKENS}: "
            "shorten the text"
        )
    return Reasons(trace, model, site)


@dataclass(frozen=True, eq=False)
class Cell:
    """Why one query looks at one key: its score less the mean of the keys it may attend to.

    other: a second key, with which it is compared instead; then the score is log p/p′, where no
    soft cap bends it. All sums are exact: they miss what ran by no more than its rounding.
    """

    reasons: Reasons
    of: Scores
    key: int
    other: int | None = None

    @cached_property
    def apart(self) -> Row:
        """Place and own on both sides."""
        row = row_of(result_of(self.reasons.placed()), self.of)
        self.of.check(row.scores)
        return row

    @cached_property
    def words(self) -> Row:
        """Words × words."""
        row = row_of(result_of(self.reasons.words()), self.of)
        self.of.check(row.scores)
        return row

    @cached_property
    def writers(self) -> tuple[OneSide, OneSide]:
        """Who wrote the query, and who wrote the keys."""
        sides = by_side(result_of(self.reasons.writers()), self.of)
        for side in sides:
            self.of.check(side.scores)
        return sides

    def told_apart(self, heads: Collection[tuple[int, int]]) -> tuple[OneSide, OneSide]:
        """The same with some heads told apart by where they look."""
        return by_side(result_of(self.reasons.writers(heads)), self.of)

    def against(self, scores: Array) -> Array:
        """The key's of some scores (…, Tk), less their mean, or the other key's. (…,)."""
        less = scores[..., self.of.seen].mean(-1) if self.other is None else scores[..., self.other]
        return scores[..., self.key] - less

    @property
    def score(self) -> float:
        """Less the mean, or the other key's."""
        return float(self.against(self.apart.scores))

    @property
    def weight(self) -> float:
        """As it ran."""
        record, of = self.of.record, self.of
        return float(record.pattern[of.head][of.query, self.key])

    @cached_property
    def kinds(self) -> dict[str, float]:
        """The score in four, which add up to it.

        "place": what all tokens share or their place says, on both sides. "key": the key's own,
        whoever asks. "query": the query's own, by place. "match": both sides' own.
        """
        centred = self.against(self.apart.terms)
        added = float(self.against(self.of.added))
        return {
            kind: float(centred[sides]) + (added if kind == "place" else 0)
            for kind, sides in KINDS.items()
        }

    @property
    def kind(self) -> str:
        """The largest of them, or the smallest where the score is below what it is told against."""
        most = max if self.score > 0 else min
        return most(self.kinds, key=self.kinds.__getitem__)

    def without_kind(self, kind: str) -> Array:
        """The row of weights without one of the kinds."""
        gone = self.apart.terms[KINDS[kind]] + (self.of.added if kind == "place" else 0)
        return self.of.weights(self.apart.scores - gone)


def _check(cell: Cell) -> None:
    of, keys = cell.of, [cell.key, *([] if cell.other is None else [cell.other])]
    n_queries, n_keys = of.record.mask_of(of.head).shape
    check_number("query", of.query, n_queries)
    for key in keys:
        check_number("key", key, n_keys)
        if not of.seen[key]:
            is_later = cell.reasons.site.kind == "self" and key > of.query
            raise ValueError(
                f"query {of.query} may not attend to key {key}{', which comes later' * is_later}: "
                "nothing was scored there; choose a key that it may attend to"
            )
    if of.seen.sum() == 1:
        raise ValueError(
            f"query {of.query} may attend to one key alone: there is nothing to compare it with; "
            "choose another query"
        )
    if cell.other == cell.key:
        raise ValueError(f"key {cell.key} is compared with itself; give another")
