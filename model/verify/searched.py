"""Log probabilities of texts after one prompt, by the independent run: those of a tree of beams."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from model import reference
from model.verify.derived import log_softmax
from model.verify.named import Array, Made, Named
from model.verify.texts import Vocabulary

Text = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class IndependentTexts(Named):
    """Texts after a prompt, each with the log probability of its last token and of all of it.

    Asked for by address: texts.last, texts.totals, texts.scores and texts.steps, the steps from 0
    at which they came about, each (N,) in the order of `found`, which are ids of new tokens. A
    score is a total divided by ((5 + n) / 6)^α for n new tokens (Wu et al. 2016, eq. 14), α being
    the `penalty`. A translation has a `source`; its prompt is what the target begins with.
    """

    files: reference.Files
    prompt: Text
    found: tuple[Text, ...]
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
        }

    @cached_property
    def of_tokens(self) -> list[list[float]]:
        """ln p of each token of each text."""
        after = self._predictions()
        return [[after[text[:n]][text[n]] for n in range(len(text))] for text in self.found]

    def totals(self) -> Array:
        """Σ ln p of each text, (N,)."""
        return np.array([sum(found) for found in self.of_tokens])

    def scores(self) -> Array:
        """The totals as they are compared, (N,)."""
        sizes = np.array([len(text) for text in self.found])
        return self.totals() / ((5 + sizes) / 6) ** self.penalty

    def _predictions(self) -> Mapping[Text, Array]:
        """ln p of the vocabulary after each text that one of `found` goes on from, (V,) each.

        A run over a text has those of its beginnings too, so only the longest are run.
        """
        found: dict[Text, Array] = {}
        for text in sorted({text[:-1] for text in self.found}, key=len, reverse=True):
            if text in found:
                continue
            whole = np.array([*self.prompt, *text])
            given = (np.array(self.source), whole) if self.source else whole
            logits = dict(reference.arrays(self.files, given))["output"]
            rows = log_softmax(logits[len(self.prompt) - 1 :])  # (len(text) + 1, V)
            found |= {text[:n]: row for n, row in enumerate(rows)}
        return found
