"""What is asked of two inputs of as many tokens: a number of the answer that each makes."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

import torch

from model.analysis.branching import logits_at
from model.analysis.metrics import DIFFERENCE, Metric, telling_tokens
from model.analysis.patching import Pair, check_lengths, check_tokens
from model.architectures.base import Transformer
from model.given import Ids, Input, as_given, rows_of

Strings = Callable[[Ids], Sequence[str]]  # of tokens, by their ids


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


def both(first: Input, second: Input, strings: Strings, place: int | None = None) -> Both:
    """Two inputs of one kind, and where their answers are asked.

    Of texts it is a place, the last unless it is said; of translations that after all that both
    targets begin with, and no more of these is given; of pictures the class. ValueError where they
    have different numbers of tokens, but for the end of a source, which is ours.
    """
    if isinstance(first, bytes):
        return Both(first, second, 0)
    (one, *own), (other, *theirs) = rows_of(first), rows_of(second)
    if not own:
        check_tokens(strings(one), strings(other))
        return Both(one, other, len(one) - 1 if place is None else place)
    check_tokens(strings(one[:-1]), strings(other[:-1]))
    pairs = zip(own[0], theirs[0], strict=False)
    shared = tuple(token for token, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    return Both((one, shared), (other, shared), len(shared) - 1)


@torch.inference_mode()
def ask(
    model: Transformer,
    inputs: Both,
    kind: str = DIFFERENCE,
    tokens: Iterable[int | None] = (None, None),
    stack: str = "decoder",
) -> Question:
    """What is asked of the first where the second has another answer.

    tokens: the answer and the one it is asked against; without one, of those that tell both apart.
    ValueError where the inputs have different numbers of tokens, and for one token against itself.
    """
    first, second = as_given(inputs.first), as_given(inputs.second)
    check_lengths(first, second)
    logits = (logits_at(model, given, inputs.position)[0].float() for given in (first, second))
    usual = telling_tokens(*(x.cpu().numpy() for x in logits))
    answer, other = (
        token if given is None else given for token, given in zip(usual, tokens, strict=True)
    )
    if kind == DIFFERENCE and answer == other:
        raise ValueError(
            f"the answer and what it is asked against are one token, {answer}; give two"
        )
    metric = Metric(kind, inputs.position, answer, other)
    return Question(inputs.first, inputs.second, metric, stack)
