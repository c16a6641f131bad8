"""Text as a stream of steps, one token at a time, each drawn from the filtered distribution."""

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from model.decoding.filters import Sampling, filter_logits
from model.decoding.predict import Decoder, cache_for, check_prompt, predict

# Why a stream of steps ended.
END_OF_TEXT, MAX_NEW_TOKENS, CONTEXT_FULL = "end of text", "max_new_tokens", "context full"


@dataclass(frozen=True, eq=False)
class Step:
    """One generated token: what the model said, what the filters left, what was drawn.

    `rank` counts the tokens that were more likely before any filter: 0 is the most likely.
    `attention` has one array a layer, the pattern (H, Tk) of the position that predicted this
    token; empty unless asked for. Key i of it is token `n_dropped` + i of the whole text.
    `stopped` says on the last step why it is the last, and is None before.
    """

    token_id: int
    logits: Tensor  # (V,) from the model
    kept: Tensor  # (V,) bool, True = survived the filters
    probs: Tensor  # (V,) what was sampled from; zero where removed
    rank: int
    attention: tuple[np.ndarray, ...] = ()
    n_dropped: int = 0
    stopped: str | None = None


@dataclass(frozen=True, eq=False)
class Prediction:
    """What the model says comes next: `logits` (V,), and what the last position attended to.

    `attention` and `n_dropped` are as in `Step`.
    """

    logits: Tensor
    attention: tuple[np.ndarray, ...]
    n_dropped: int


class Continuation:
    """A text that grows by one token at a time over a cache, and can be cut and grown otherwise.

    `slide` and `record` are as in `generate`, and so are the errors. Cut and continued with the
    same tokens, it predicts the same numbers to the last bit as without the cut.
    """

    def __init__(
        self,
        model: Decoder,
        ids: Sequence[int],
        *,
        max_new_tokens: int | None = None,
        slide: bool = False,
        record: bool = False,
    ) -> None:
        """`max_new_tokens` bounds the memory taken; None takes as much as the context needs."""
        self._context = model.config.max_seq_len
        check_prompt(ids, self._context, 1 if max_new_tokens is None else max_new_tokens, slide)
        self._model, self._slide, self._record = model, slide, record
        self.ids, self.n_dropped = list(ids), 0
        n_tokens = None if slide or max_new_tokens is None else len(ids) + max_new_tokens
        self._cache = cache_for(model, n_tokens)
        self._n_prefilled = len(ids)  # tokens of the whole text when the cache was last empty
        self._next: Prediction | None = None

    @property
    def is_full(self) -> bool:
        """Whether there is no room for another token."""
        return not self._slide and len(self.ids) == self._context

    @torch.inference_mode()
    def prediction(self) -> Prediction:
        """What comes after all tokens so far; computed once."""
        if self._next is None:
            if len(self.ids) - self.n_dropped == self._context:
                self._drop_older_half()
            self._next = self._predict(len(self.ids))
        return self._next

    @torch.inference_mode()
    def prediction_before(self, n: int) -> Prediction:
        """What was predicted before token `n` of the whole text came, a new one still at hand.

        ValueError for a token that was predicted from what has been dropped since; see `reaches`.
        """
        if n == len(self.ids):
            return self.prediction()
        self._check_reach(n)
        n_held = self._cache.length
        self._rewind(n)
        prediction = self._predict(n)
        self._cache.advance(n_held - self._cache.length)  # what follows is as it was
        return prediction

    @torch.inference_mode()
    def draw(self, sampling: Sampling, generator: torch.Generator) -> Step:
        """Add a token drawn from the filtered distribution."""
        return self._add(sample(self.prediction().logits, sampling, generator))

    @torch.inference_mode()
    def put(self, token_id: int, sampling: Sampling) -> Step:
        """Add a token somebody chose, as if these settings had drawn it."""
        return self._add(chosen(self.prediction().logits, sampling, token_id))

    def reaches(self, n: int) -> bool:
        """Whether what was computed before token `n` of the whole text is still at hand."""
        return self._n_prefilled <= n <= len(self.ids)

    def cut(self, n: int) -> None:
        """Keep the first `n` tokens of the whole text. ValueError where it does not reach."""
        if n == len(self.ids):
            return
        self._check_reach(n)
        self._rewind(n)
        del self.ids[n:]
        self._next = None

    def _check_reach(self, n: int) -> None:
        if not self.reaches(n):
            raise ValueError(
                f"token {n} is not among {self._n_prefilled} to {len(self.ids)}, which this text "
                "can go back to; continue the prompt again"
            )

    def _rewind(self, n: int) -> None:
        """Have the next forward pass compute what it computed when the text had `n` tokens."""
        is_prefill = n == self._n_prefilled
        held = 0 if is_prefill else n - self.n_dropped - 1
        self._cache.truncate(min(held, self._cache.length))

    def _predict(self, n: int) -> Prediction:
        seen = self.ids[self.n_dropped : n]
        logits, attention = predict(self._model, self._cache, [seen], self._record)
        return Prediction(logits[0], attention, self.n_dropped)

    def _drop_older_half(self) -> None:
        self.n_dropped += self._context - self._context // 2
        self._n_prefilled = len(self.ids)
        self._cache.truncate(0)

    def _add(self, step: Step) -> Step:
        prediction = self.prediction()
        self.ids.append(step.token_id)
        self._next = None
        return replace(step, attention=prediction.attention, n_dropped=prediction.n_dropped)


def generate(
    model: Decoder,
    ids: Sequence[int],
    sampling: Sampling,
    *,
    max_new_tokens: int,
    end_ids: Collection[int] = (),
    slide: bool = False,
    record: bool = False,
) -> Iterator[Step]:
    """Continue `ids` by up to `max_new_tokens`, one step at a time, over a cache.

    Stops after one of the `end_ids` and when the context is full. With `slide` a full context
    instead drops its older half and goes on: what remains is numbered from position 0 again and
    computed afresh, so the model knows nothing of what was dropped, and every position it sees was
    trained.
    `record` keeps the attention of each step, on the explicit path.

    Raises ValueError when there is no
    prompt or no room after it, and for settings outside their range.
    """
    text = Continuation(model, ids, max_new_tokens=max_new_tokens, slide=slide, record=record)
    generator = torch.Generator().manual_seed(sampling.seed)
    for n_new in range(1, max_new_tokens + 1):
        drawn = text.draw(sampling, generator)
        stopped = why_stopped(
            ended=drawn.token_id in end_ids, enough=n_new == max_new_tokens, full=text.is_full
        )
        yield replace(drawn, stopped=stopped)
        if stopped:
            return


def why_stopped(*, ended: bool, enough: bool, full: bool) -> str | None:
    """The reason to end here, the first that applies; None to go on."""
    reasons = {END_OF_TEXT: ended, MAX_NEW_TOKENS: enough, CONTEXT_FULL: full}
    return next((reason for reason, applies in reasons.items() if applies), None)


def sample(logits: Tensor, sampling: Sampling, generator: torch.Generator) -> Step:
    """Draw one token from the filtered distribution. logits: (V,)."""
    if sampling.top_k == 1:  # the most likely survives every filter in any order: spare them
        return _most_likely(logits)
    filtered = filter_logits(logits, sampling)
    probs = filtered.softmax(dim=0)
    token_id = int(torch.multinomial(probs, 1, generator=generator))
    return Step(token_id, logits, filtered > -math.inf, probs, rank_of(token_id, logits))


def chosen(logits: Tensor, sampling: Sampling, token_id: int) -> Step:
    """The step in which a token came that somebody chose: nothing is drawn. logits: (V,)."""
    filtered = filter_logits(logits, sampling)
    kept = filtered > -math.inf
    return Step(token_id, logits, kept, filtered.softmax(dim=0), rank_of(token_id, logits))


def _most_likely(logits: Tensor) -> Step:
    token_id = int(logits.argmax())  # the lowest id on ties
    probs = torch.zeros_like(logits)
    probs[token_id] = 1.0
    return Step(token_id, logits, probs > 0, probs, rank=0)


def rank_of(token_id: int, logits: Tensor) -> int:
    """How many tokens are more likely, a lower id first on ties. logits: (V,)."""
    value = logits[token_id]
    return int((logits > value).sum() + (logits[:token_id] == value).sum())
