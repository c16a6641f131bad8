"""Log probabilities of texts after one prompt, by the independent run: those of a tree of beams."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock

import numpy as np

from model import reference
from model.verify.derived import log_softmax
from model.verify.texts import Vocabulary, texts_of_ids

Array = np.ndarray
Text = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class IndependentTexts:
    """Texts after a prompt, each with the log probability of its last token and of all of it.

    Asked for by address: texts.last, texts.totals and texts.scores, each (N,) in the order of
    `found`, which are ids of new tokens. A score is a total divided by ((5 + n) / 6)^α for n new
    tokens (Wu et al. 2016, eq. 14), α being the `penalty`.
    """

    files: reference.Files
    prompt: Text
    found: tuple[Text, ...]
    penalty: float
    vocabulary: Vocabulary
    _kept: dict[str, Array] = field(default_factory=dict)
    _computing: Lock = field(default_factory=Lock)

    def labels(self, stream: int = -1) -> list[str | None]:
        """What the tokens of the prompt stand for, the one row of input there is."""
        return self.texts(self.prompt)

    def texts(self, wanted: Sequence[int]) -> list[str | None]:
        """What ids stand for; ValueError for an id that the vocabulary does not have."""
        return texts_of_ids(self.vocabulary, wanted)

    def array(self, address: str) -> Array:
        """One of the arrays, or in brackets a number or a stretch of it. ValueError for none."""
        name, _, part = address.rstrip("]").partition("[")
        with self._computing:  # who asks for the same waits for it
            if not self._kept:
                self._kept.update(self._all())
        try:
            array = self._kept[name]
            bounds = [int(bound) if bound else None for bound in part.split(":")]
        except (KeyError, ValueError):
            raise ValueError(f"there is nothing at {address}") from None
        if not part:
            return array
        if len(bounds) > 1:
            return array[slice(*bounds)]
        if bounds[0] is None or not 0 <= bounds[0] < len(array):
            raise ValueError(f"{name} has {len(array)} numbers, from 0")
        return array[bounds[0]]

    def _all(self) -> dict[str, Array]:
        after = self._predictions()
        of_tokens = [[after[text[:n]][text[n]] for n in range(len(text))] for text in self.found]
        totals = np.array([sum(found) for found in of_tokens])
        sizes = np.array([len(text) for text in self.found])
        return {
            "texts.last": np.array([found[-1] for found in of_tokens]),
            "texts.totals": totals,
            "texts.scores": totals / ((5 + sizes) / 6) ** self.penalty,
        }

    def _predictions(self) -> Mapping[Text, Array]:
        """ln p of the vocabulary after each text that one of `found` goes on from, (V,) each.

        A run over a text has those of its beginnings too, so only the longest are run.
        """
        found: dict[Text, Array] = {}
        for text in sorted({text[:-1] for text in self.found}, key=len, reverse=True):
            if text in found:
                continue
            arrays = dict(reference.arrays(self.files, [*self.prompt, *text]))
            rows = log_softmax(arrays["output"][len(self.prompt) - 1 :])  # (len(text) + 1, V)
            found |= {text[:n]: row for n, row in enumerate(rows)}
        return found
