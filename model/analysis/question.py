"""What is asked of two inputs of as many tokens: a number of the answer that each makes."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import cast

import torch

from model.analysis.branching import logits_at
from model.analysis.metrics import DIFFERENCE, Metric, telling_tokens
from model.analysis.patching import Pair, check_lengths, check_tokens
from model.architectures.base import Transformer
from model.given import Ids, Input, as_given, as_input
from model.trace import Trace

Strings = Callable[[Ids], Sequence[str]]  # of tokens, by their ids
Rows = tuple[Ids, Ids]  # of a translation: source and target


@dataclass(frozen=True)
class Both:
    """Two inputs as they are run, and the position whose answer is asked."""

    first: Input
    second: Input
    position: int


@dataclass(frozen=True)
class Question:
    """A number of the answer of `base`, where `source` has another, as plain values.

    Values of the source replace those of the base, in the blocks of one `stack`.
    """

    base: Input
    source: Input
    metric: Metric
    stack: str = "decoder"

    @property
    def turned(self) -> "Question":
        """The same with both exchanged."""
        return replace(self, base=self.source, source=self.base)

    def of(self, model: Transformer) -> Pair:
        """The same of a model, which runs both."""
        return Pair(model, as_given(self.base), as_given(self.source), self.metric, self.stack)


def of_texts(first: Ids, second: Ids, strings: Strings, place: int | None = None) -> Both:
    """What is asked at one place of two texts, at the last token unless it is said.

    ValueError where they have different numbers of tokens.
    """
    check_tokens(strings(first), strings(second))
    return Both(first, second, len(first) - 1 if place is None else place)


def of_translations(first: Rows, second: Rows, strings: Strings) -> Both:
    """The token of the target after those that both begin with.

    ValueError where the sources have different numbers of tokens, but for their end, which is ours.
    """
    check_tokens(*(strings(source[:-1]) for source, _ in (first, second)))
    pairs = zip(first[1], second[1], strict=False)
    shared = tuple(own for own, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    return Both((first[0], shared), (second[0], shared), len(shared) - 1)


def of_traces(first: Trace, second: Trace, strings: Strings, place: int | None = None) -> Both:
    """The same of two runs of one model; of pictures their classes are asked. See `of_texts`."""
    one, other = as_input(first.given), as_input(second.given)
    if isinstance(one, bytes):
        return Both(one, other, 0)
    if len(first.streams) > 1:
        return of_translations(cast(Rows, one), cast(Rows, other), strings)
    return of_texts(cast(Ids, one), cast(Ids, other), strings, place)


@torch.inference_mode()
def ask(
    model: Transformer,
    both: Both,
    kind: str = DIFFERENCE,
    tokens: Iterable[int | None] = (None, None),
    stack: str = "decoder",
) -> Question:
    """What is asked of the first where the second has another answer.

    tokens: the answer and the one it is asked against; without one, of those that tell both apart.
    ValueError where the inputs have different numbers of tokens, and for one token against itself.
    """
    first, second = as_given(both.first), as_given(both.second)
    check_lengths(first, second)
    logits = (logits_at(model, given, both.position)[0].float() for given in (first, second))
    usual = telling_tokens(*(x.cpu().numpy() for x in logits))
    answer, other = (
        token if given is None else given for token, given in zip(usual, tokens, strict=True)
    )
    if kind == DIFFERENCE and answer == other:
        raise ValueError(
            f"the answer and what it is asked against are one token, {answer}; give two"
        )
    return Question(both.first, both.second, Metric(kind, both.position, answer, other), stack)
