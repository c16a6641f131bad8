"""Log probabilities of texts after one prompt, by the independent run: those of a tree of beams."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from model import reference
from model.verify.derived import log_softmax
from model.verify.named import Array, Made, Named
from model.verify.stated import ALIKE, NEITHER
from model.verify.texts import Vocabulary

Text = tuple[int, ...]
ROUNDING = 1e-4  # of a log probability, between tokens that are as likely as each other


@dataclass(frozen=True)
class Tree:
    """Texts that a search looked at, the ids of the new tokens of each.

    `places` are those that the first of them are said to have among the continuations of their
    step, from 0; the others were looked at by another search. `width` beams were kept, an ended one
    among them, which has `end_id` last.
    """

    found: tuple[Text, ...]
    places: tuple[int, ...] = ()
    width: int = 0
    end_id: int = -1

    @cached_property
    def placed(self) -> dict[Text, int]:
        """The place of each that has one."""
        return dict(zip(self.found, self.places, strict=False))

    @cached_property
    def n_steps(self) -> int:
        """How many steps there were."""
        return max(map(len, self.placed), default=0)

    @cached_property
    def kept(self) -> list[list[Text]]:
        """The texts of 0, 1, 2 … tokens that were kept, of which some have ended."""
        found: list[list[Text]] = [[()]]
        n_ended = 0
        for n in range(1, self.n_steps + 1):
            own = [x for x, at in self.placed.items() if len(x) == n and at < self.width - n_ended]
            n_ended += sum(map(self.has_ended, own))
            found.append(own)
        return found

    def has_ended(self, text: Text) -> bool:
        """Whether nothing can follow."""
        return text[-1:] == (self.end_id,)

    def beams(self, n: int) -> list[Text]:
        """The texts of n tokens that were continued."""
        return [text for text in self.kept[n] if not self.has_ended(text)]

    @property
    def winners(self) -> list[Text]:
        """The texts that may win: those kept last, and those that ended before."""
        ended = [text for texts in self.kept for text in texts if self.has_ended(text)]
        return [*self.kept[-1], *ended]


@dataclass(frozen=True, eq=False)
class IndependentTexts(Named):
    """Texts after a prompt, each with the log probability of its last token and of all of it.

    Asked for by address, each (N,) in the order of `found`: texts.last, texts.totals, texts.scores
    and texts.steps, the steps from 0 at which they came about; texts.ids, (N, longest), and
    texts.tokens, the last of each; texts.places, where they stand among their step's; texts.greedy,
    a total where each token is the most likely; texts.winners, the score of a text that may win. A
    score is a total divided by ((5 + n) / 6)^α for n new tokens (Wu et al. 2016, eq. 14), α being
    the `penalty`. A translation has a `source`; its prompt is what the target begins with.
    """

    files: reference.Files
    prompt: Text
    tree: Tree
    penalty: float
    vocabulary: Vocabulary
    source: Text = ()

    @property
    def words(self) -> Vocabulary:
        """See `Named`."""
        return self.vocabulary

    @property
    def row(self) -> Sequence[int]:
        """See `Named`."""
        return self.prompt

    def made(self) -> Made:
        """See `Named`."""
        return {
            "texts.last": lambda: np.array([found[-1] for found in self.of_tokens]),
            "texts.totals": self.totals,
            "texts.scores": self.scores,
            "texts.steps": lambda: np.array([len(text) - 1.0 for text in self.found]),
            "texts.ids": self.ids,
            "texts.tokens": lambda: np.array([text[-1] for text in self.found]),
            "texts.places": self.places,
            "texts.branches": self.branches,
            "texts.greedy": self.greedy,
            "texts.winners": self.winners,
        }

    @property
    def found(self) -> tuple[Text, ...]:
        """The texts."""
        return self.tree.found

    def ids(self) -> Array:
        """The ids of each text, −1 after its end, (N, longest)."""
        longest = max(map(len, self.found))
        return np.array([[*text, *[NEITHER] * (longest - len(text))] for text in self.found])

    def places(self) -> Array:
        """Where each text stands among all continuations of the beams of its step, (N,).

        NaN of a text that is no continuation of one. Up to rounding: of those as likely as each
        other each has the place that it is said to have.
        """
        totals = dict(zip(self.found, self.totals(), strict=True))
        found = dict.fromkeys(self.found, np.nan)
        for n in range(1, self.tree.n_steps + 1):
            beams = self.tree.beams(n - 1)
            of_all = np.concatenate([totals.get(x, 0.0) + self.after[x] for x in beams])
            falling = -np.sort(-of_all)
            for text in (text for text in self.tree.placed if len(text) == n):
                if text[:-1] in beams:
                    found[text] = _place(falling, totals[text], self.tree.placed[text])
        return np.array([found[text] for text in self.found])

    def branches(self) -> Array:
        """From which place to which each text was continued, and NaN after each, (3N,)."""
        places = {(): 0.0, **dict(zip(self.found, self.places(), strict=True))}
        ends = [(places.get(text[:-1], np.nan), places[text], np.nan) for text in self.found]
        return np.array(ends).ravel()

    def greedy(self) -> Array:
        """The total of each text whose tokens are all the most likely ones, else NaN, (N,)."""

        def is_greedy(text: Text) -> bool:
            rows = [(self.after[text[:n]], token) for n, token in enumerate(text)]
            return all(row.max() - row[token] <= ROUNDING for row, token in rows)

        return np.where(list(map(is_greedy, self.found)), self.totals(), np.nan)

    def winners(self) -> Array:
        """The score of each text that may win, else NaN, (N,)."""
        may_win = set(self.tree.winners)
        return np.where([text in may_win for text in self.found], self.scores(), np.nan)

    @cached_property
    def of_tokens(self) -> list[list[float]]:
        """ln p of each token of each text."""
        after = self.after
        return [[after[text[:n]][text[n]] for n in range(len(text))] for text in self.found]

    def totals(self) -> Array:
        """Σ ln p of each text, (N,)."""
        return np.array([sum(found) for found in self.of_tokens])

    def scores(self) -> Array:
        """The totals as they are compared, (N,)."""
        sizes = np.array([len(text) for text in self.found])
        return self.totals() / ((5 + sizes) / 6) ** self.penalty

    @cached_property
    def after(self) -> Mapping[Text, Array]:
        """ln p of the vocabulary after each text that was or could have been continued, (V,) each.

        A run over a text has those of its beginnings too, so only the longest are run.
        """
        found: dict[Text, Array] = {}
        beams = [text for n in range(1, self.tree.n_steps) for text in self.tree.beams(n)]
        continued = {text[:-1] for text in self.found} | set(beams)
        for text in sorted(continued, key=len, reverse=True):
            if text in found:
                continue
            whole = np.array([*self.prompt, *text])
            given = (np.array(self.source), whole) if self.source else whole
            logits = dict(reference.arrays(self.files, given))["output"]
            rows = log_softmax(logits[len(self.prompt) - 1 :])  # (len(text) + 1, V)
            found |= {text[:n]: row for n, row in enumerate(rows)}
        return found


def _place(falling: Array, total: float, said: int) -> int:
    """Where a total stands among all, largest first; where it is said to, if that is like it."""
    if said < len(falling) and abs(falling[said] - total) <= ALIKE * max(1.0, abs(total)):
        return said
    return int((falling > total).sum())
