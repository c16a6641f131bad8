"""Text as a stream of steps, one token at a time, each drawn from the filtered distribution."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from model.architectures.decoder import DecoderTransformer
from model.decoding.filters import Sampling, filter_logits
from model.decoding.predict import cache_for, check_prompt, predict

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


@torch.inference_mode()
def generate(
    model: DecoderTransformer,
    ids: Sequence[int],
    sampling: Sampling,
    *,
    max_new_tokens: int,
    end_id: int | None = None,
    slide: bool = False,
    record: bool = False,
) -> Iterator[Step]:
    """Continue `ids` by up to `max_new_tokens`, one step at a time, over a cache.

    Stops after `end_id` and when the context is full. With `slide` a full context instead drops
    its older half and goes on: what remains is numbered from position 0 again and computed
    afresh, so the model knows nothing of what was dropped, and every position it sees was trained.
    `record` keeps the attention of each step, on the explicit path.

    Raises ValueError when there is no
    prompt or no room after it, and for settings outside their range.
    """
    context = model.config.max_seq_len
    check_prompt(ids, context, max_new_tokens, slide)
    _check_top_k(model, sampling)
    generator = torch.Generator().manual_seed(sampling.seed)
    seen, n_dropped = list(ids), 0  # what the model sees, and how much of the text it does not
    cache = cache_for(model, context if slide else len(ids) + max_new_tokens)
    for n_new in range(1, max_new_tokens + 1):
        if len(seen) == context:
            n_dropped += context - context // 2
            del seen[: context - context // 2]
            cache.truncate(0)
        logits, attention = predict(model, cache, [seen], record)
        drawn = sample(logits[0], sampling, generator)
        seen.append(drawn.token_id)
        stopped = why_stopped(
            ended=drawn.token_id == end_id,
            enough=n_new == max_new_tokens,
            full=len(seen) == context and not slide,
        )
        yield replace(drawn, attention=attention, n_dropped=n_dropped, stopped=stopped)
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


def _most_likely(logits: Tensor) -> Step:
    token_id = int(logits.argmax())  # the lowest id on ties
    probs = torch.zeros_like(logits)
    probs[token_id] = 1.0
    return Step(token_id, logits, probs > 0, probs, rank=0)


def rank_of(token_id: int, logits: Tensor) -> int:
    """How many tokens are more likely, a lower id first on ties. logits: (V,)."""
    value = logits[token_id]
    return int((logits > value).sum() + (logits[:token_id] == value).sum())


def _check_top_k(model: DecoderTransformer, sampling: Sampling) -> None:
    vocab_size = model.config.vocab_size
    if sampling.top_k is not None and sampling.top_k > vocab_size:
        raise ValueError(
            f"top-k is {sampling.top_k}; it must be between 1 and the {vocab_size} tokens of the "
            "vocabulary"
        )
