"""The sentence that wakes a head most: cut from its window so that it opens alone."""

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

import numpy as np

from model.sources.table import Runnable
from model.survey.measured import Sums, strongest
from model.survey.samples import Sample, Samples
from model.survey.stored import Strongest
from model.trace import Trace

TRIED = 4  # of the windows with the strongest arrows, each cut and measured again
LONGEST = 48  # tokens of an excerpt
ENDS = (".", "!", "?", '"', "”", "\n")  # of sentences


def excerpt(tokens: Sequence[str], query: int, key: int) -> str:
    """The sentences around a query and its key, at most 48 tokens, on one line.

    tokens: the strings of a window. A key that is further away is left out; the query is not.
    """
    low, high = sorted((query, key))
    low = max(low, query - LONGEST * 3 // 4)
    high = min(high, low + LONGEST - 1)
    ends = [place for place, token in enumerate(tokens) if token.rstrip(" ").endswith(ENDS)]
    start = max((place + 1 for place in ends if place < low), default=0)
    if start < high + 1 - LONGEST:  # the sentence is too long: from a word on
        words = (x for x in range(high + 1 - LONGEST, low) if tokens[x].startswith(" "))
        start = next(words, low)
    stop = min((place + 1 for place in ends if place >= high), default=len(tokens))
    stop = min(stop, start + LONGEST)
    return " ".join("".join(tokens[start:stop]).split())


def strongest_of_group(
    loaded: Runnable, samples: Samples, parts: Sequence[Sums], group: str
) -> list[list[Strongest]]:
    """For each head the input on which one of its arrows moves most, (L, H).

    parts: the sums of the group in each part of the survey. Of a text the windows with the
    strongest arrows are cut to their sentences, and what is kept is strongest in those.
    """
    best = np.stack([part.best for part in parts])  # (parts, 4, L, H)
    cut = _Cut(loaded, samples, group)
    n_layers, n_heads = best.shape[2:]
    return [
        [cut.best_for((layer, head), best[:, :, layer, head]) for head in range(n_heads)]
        for layer in range(n_layers)
    ]


class _Cut:
    """Excerpts of a survey's inputs, each run once."""

    def __init__(self, loaded: Runnable, samples: Samples, group: str) -> None:
        self.loaded, self.samples, self.group = loaded, samples, group
        self._runs: dict[tuple[Any, ...], tuple[Trace, Any]] = {}

    def best_for(self, head: tuple[int, int], best: np.ndarray) -> Strongest:
        """The best of the inputs tried for a head. best: (parts, 4), as in `Sums.best`."""
        order = np.argsort(-best[:, 0], kind="stable")[:TRIED]
        tried = [self._measured(head, *map(int, best[part, 1:])) for part in order]
        return max(tried, key=lambda one: one.norm)

    def _measured(self, head: tuple[int, int], number: int, query: int, key: int) -> Strongest:
        sample = self.samples.make(number)
        text, target, given = self._given(sample, query, key)
        trace, arrows = self._run((text, target, number if not text else 0), sample, given)
        group = trace.group(self.group)
        at_query, at_key = int(arrows.queries[head]), int(arrows.keys[head])
        return Strongest(
            text=text,
            target=target,
            number=number,
            query=at_query,
            key=at_key,
            query_token=trace.stream(group.queries).labels[at_query],
            key_token=trace.stream(group.keys).labels[at_key],
            weight=float(group.records[head[0]].pattern[head[1], at_query, at_key]),
            norm=float(arrows.norms[head]),
        )

    def _given(self, sample: Sample, query: int, key: int) -> tuple[str, str, str | None]:
        """Text and target as a person would type them, and what is to be cut; None: all of it."""
        if not sample.given:
            return "", "", None
        tokenizer = self.loaded.tokenizer
        ids, *of_target = sample.given
        if of_target:
            source, target = (tokenizer.decode(list(ids)).strip() for ids in sample.given)
            return source, target, None
        # A window that begins within a word may be read as other tokens, and as fewer.
        labels = tokenizer.labels(tokenizer.continuation([], ids), ids)
        pairs = zip_longest(ids, labels, fillvalue="")
        strings = ["" if i in tokenizer.special_ids else text for i, text in pairs]
        text = excerpt(strings, query, key)
        return text, "", text or None

    def _run(self, name: tuple[Any, ...], sample: Sample, text: str | None) -> tuple[Trace, Any]:
        """The run of an excerpt, or of a whole sample, and its strongest arrows."""
        if name not in self._runs:
            loaded, arguments = self.loaded, sample.arguments
            trace = loaded.captured(arguments) if text is None else loaded.trace(text).trace
            self._runs[name] = trace, strongest(trace.group(self.group), loaded.model)
        return self._runs[name]
