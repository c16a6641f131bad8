"""From logits to text: pure filters over logits, and generation as a stream of steps."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from model.capture import NO_RECORDER, Recorder
from model.kv_cache import KVCache
from model.masks import SEEING_AHEAD
from model.transformer import DecoderTransformer

# A cut that only rounding would move stays where exact arithmetic has it: ten tokens of mass 0.1
# are three at p = 0.3, in whatever order they are added up. sampling.js has the same.
SLACK = 1e-12
# Why a stream of steps ended.
END_OF_TEXT, MAX_NEW_TOKENS, CONTEXT_FULL = "end of text", "max_new_tokens", "context full"


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """How the next token is drawn; `top_k` None, `top_p` 1 and `min_p` 0 remove nothing.

    `top_k=1` is greedy decoding: `GREEDY`. Raises ValueError with the valid range.
    """

    temperature: float = 1.0
    top_k: int | None = None
    top_p: float = 1.0
    min_p: float = 0.0

    def __post_init__(self) -> None:
        if not 1e-3 <= self.temperature < math.inf:
            raise ValueError(
                f"temperature is {self.temperature:g}; it must be above 0, at least 0.001 and "
                "finite (for greedy decoding use top-k 1)"
            )
        if self.top_k is not None and self.top_k < 1:
            raise ValueError(f"top-k is {self.top_k}; it must be at least 1")
        if not 0 < self.top_p <= 1:
            raise ValueError(f"top-p is {self.top_p:g}; it must be above 0 and at most 1")
        if not 0 <= self.min_p < 1:
            raise ValueError(f"min-p is {self.min_p:g}; it must be at least 0 and below 1")


GREEDY = Sampling(top_k=1)


@dataclass(frozen=True, eq=False)
class Step:
    """One generated token: what the model said, what the filters left, what was drawn.

    `rank` counts the tokens that the model found likelier, before any filter: 0 is the likeliest.
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


def scale_temperature(logits: Tensor, temperature: float) -> Tensor:
    """logits / T: below 1 sharpens the distribution, above 1 flattens it (Ackley et al. 1985).

    logits: (V,). Returns (V,).
    """
    return logits / temperature


def top_k(logits: Tensor, k: int) -> Tensor:
    """Keep the k largest logits, −inf elsewhere; exactly k survive, ties go to the lower id.

    (Fan et al. 2018, §5.4.) logits: (V,). Returns (V,). ValueError when k is below 1.
    """
    if k < 1:
        raise ValueError(f"top-k is {k}; it must be at least 1")
    if k >= len(logits):
        return logits
    smallest = logits.topk(k).values[-1]  # without sorting the vocabulary
    larger, equal = logits > smallest, logits == smallest  # (V,) each
    is_kept = larger | (equal & (equal.cumsum(0) <= k - larger.sum()))
    return logits.masked_fill(~is_kept, -math.inf)


def top_p(logits: Tensor, p: float) -> Tensor:
    """Keep the fewest most likely tokens whose mass reaches p, −inf elsewhere; at least one.

    (Nucleus sampling, Holtzman et al. 2020, §3.1.) logits: (V,). Returns (V,).
    """
    left = (logits > -math.inf).nonzero()[:, 0]  # ids, not more than an earlier filter kept
    values, order = logits[left].sort(descending=True, stable=True)
    probs = values.double().softmax(dim=0)
    mass_before = probs.cumsum(0) - probs  # what the likelier tokens hold together
    removed = mass_before >= p - SLACK
    removed[0] = False
    return logits.index_fill(0, left[order[removed]], -math.inf)


def min_p(logits: Tensor, p: float) -> Tensor:
    """Keep the tokens at least p times as likely as the likeliest, −inf elsewhere.

    (Nguyen et al. 2024, §3.) logits: (V,), p: 0 to 1. Returns (V,).
    """
    # p_i ≥ p · p_max without a softmax, whose rounding could decide.
    removed = logits < logits.max() + (math.log(p) if p > 0 else -math.inf) - SLACK
    return logits.masked_fill(removed, -math.inf)


# Each takes and returns (V,), and does nothing where its setting is off.
FILTERS: dict[str, Callable[[Tensor, Sampling], Tensor]] = {
    "temperature": lambda logits, sampling: scale_temperature(logits, sampling.temperature),
    "top_k": lambda logits, sampling: (
        logits if sampling.top_k is None else top_k(logits, sampling.top_k)
    ),
    "top_p": lambda logits, sampling: (
        logits if sampling.top_p == 1 else top_p(logits, sampling.top_p)
    ),
    "min_p": lambda logits, sampling: (
        logits if sampling.min_p == 0 else min_p(logits, sampling.min_p)
    ),
}
DEFAULT_ORDER = ("temperature", "top_k", "top_p", "min_p")


def filter_logits(
    logits: Tensor, sampling: Sampling, order: Sequence[str] = DEFAULT_ORDER
) -> Tensor:
    """Temperature, then top-k, top-p and min-p; at least one token survives. (V,) → (V,).

    The order matters: a later filter measures only what an earlier one left. `order` names each
    filter once; anything else is a ValueError. Computed and returned in float64.
    """
    if sorted(order) != sorted(FILTERS):
        raise ValueError(
            f"the order of filters is {', '.join(order)}; name each of {', '.join(FILTERS)} once"
        )
    logits = logits.double()
    for name in order:
        logits = FILTERS[name](logits, sampling)
    return logits


def entropy(probs: Tensor) -> float:
    """−Σ p ln p in nats: 0 when one token is certain, ln V when all are alike. probs: (V,)."""
    return torch.special.entr(probs.double()).sum().item()


@torch.inference_mode()
def generate(
    model: DecoderTransformer,
    ids: Sequence[int],
    sampling: Sampling,
    *,
    max_new_tokens: int,
    seed: int = 0,
    end_id: int | None = None,
    order: Sequence[str] = DEFAULT_ORDER,
    slide: bool = False,
    record: bool = False,
) -> Iterator[Step]:
    """Continue `ids` by up to `max_new_tokens`, one step at a time, over a cache.

    Stops behind `end_id` and when the context is full. With `slide` a full context instead drops
    its older half and goes on: what remains is numbered from position 0 again and computed
    afresh, so the model knows nothing of what was dropped, and every position it sees was trained.
    `record` keeps the attention of each step, on the explicit path.

    The same seed gives the same tokens on the same machine. Raises ValueError when there is no
    prompt or no room behind it, and for settings outside their range.
    """
    context = model.config.max_seq_len
    _check_prompt(ids, context, max_new_tokens, slide)
    _check_settings(model, sampling, seed)
    generator = torch.Generator().manual_seed(seed)
    seen, n_dropped = list(ids), 0  # what the model sees, and how much of the text it does not
    cache = _cache_for(model, context if slide else len(ids) + max_new_tokens)
    for n_new in range(1, max_new_tokens + 1):
        if len(seen) == context:
            n_dropped += context - context // 2
            del seen[: context - context // 2]
            cache.truncate(0)
        logits, attention = _predict(model, cache, [seen], record)
        drawn = sample(logits[0], sampling, generator, order)
        seen.append(drawn.token_id)
        stopped = _why_stopped(
            ended=drawn.token_id == end_id,
            enough=n_new == max_new_tokens,
            full=len(seen) == context and not slide,
        )
        yield replace(drawn, attention=attention, n_dropped=n_dropped, stopped=stopped)
        if stopped:
            return


def _why_stopped(*, ended: bool, enough: bool, full: bool) -> str | None:
    reasons = {END_OF_TEXT: ended, MAX_NEW_TOKENS: enough, CONTEXT_FULL: full}
    return next((reason for reason, applies in reasons.items() if applies), None)


def sample(
    logits: Tensor,
    sampling: Sampling,
    generator: torch.Generator,
    order: Sequence[str] = DEFAULT_ORDER,
) -> Step:
    """Draw one token from the filtered distribution. logits: (V,)."""
    if sampling.top_k == 1:  # the likeliest survives every filter in any order: spare them
        return _likeliest(logits)
    filtered = filter_logits(logits, sampling, order)
    probs = filtered.softmax(dim=0)
    token_id = int(torch.multinomial(probs, 1, generator=generator))
    return Step(token_id, logits, filtered > -math.inf, probs, rank_of(token_id, logits))


def _likeliest(logits: Tensor) -> Step:
    token_id = int(logits.argmax())  # the lowest id on ties
    probs = torch.zeros_like(logits)
    probs[token_id] = 1.0
    return Step(token_id, logits, probs > 0, probs, rank=0)


def rank_of(token_id: int, logits: Tensor) -> int:
    """How many tokens are likelier, a lower id first on ties: 0 for the likeliest. logits: (V,)."""
    value = logits[token_id]
    return int((logits > value).sum() + (logits[:token_id] == value).sum())


@dataclass(frozen=True)
class Candidate:
    """A continuation that beam search considered: one more token behind a beam.

    `parent` is its place among the candidates of the step before, None in the first step. Logs
    are natural; `score` is `total` normalised for length. A finished one ends the text: it keeps
    its place in the beam and is not continued.
    """

    parent: int | None
    ids: tuple[int, ...]  # the generated tokens up to this one
    log_prob: float  # of this token
    total: float  # of all of `ids`
    score: float
    kept: bool
    finished: bool

    @property
    def token_id(self) -> int:
        """The token it adds."""
        return self.ids[-1]


@dataclass(frozen=True)
class BeamStep:
    """All continuations considered at one step, likeliest first; the last step has a winner."""

    candidates: tuple[Candidate, ...]
    stopped: str | None = None
    winner: Candidate | None = None


def normalised_score(total: float, n_tokens: int, length_penalty: float) -> float:
    """total / ((5 + n)/6)^α (Wu et al. 2016, eq. 14): a larger α favours longer texts, 0 does not.

    total: log probability of n generated tokens, the end of text counted.
    """
    return total / ((5 + n_tokens) / 6) ** length_penalty


@torch.inference_mode()
def beam_search(
    model: DecoderTransformer,
    ids: Sequence[int],
    *,
    beam_width: int,
    max_new_tokens: int,
    length_penalty: float = 0.0,
    end_id: int | None = None,
) -> Iterator[BeamStep]:
    """Look for the likeliest continuation of `ids`, keeping the `beam_width` best at each step.

    (Wu et al. 2016, §7.) A finished beam keeps its place, so the others have one fewer. Each step
    considers up to twice as many continuations as there are places left. Stops when every beam
    has finished or none can still become better than the best finished one, after
    `max_new_tokens`, and when the context is full; the winner has the best score.
    Raises ValueError as `generate` does, and for a width outside 1 to the vocabulary.
    """
    context = model.config.max_seq_len
    _check_prompt(ids, context, max_new_tokens)
    _check_beam(model, beam_width, length_penalty)
    n_steps = min(max_new_tokens, context - len(ids))
    cache = _cache_for(model, len(ids) + n_steps)
    root = Candidate(None, (), 0.0, 0.0, 0.0, kept=True, finished=False)
    finished: list[Candidate] = []
    beams: dict[int | None, Candidate] = {None: root}  # by their place among the candidates
    for n_new in range(1, n_steps + 1):
        texts = [[*ids, *beam.ids] for beam in beams.values()]
        logits, _ = _predict(model, cache, texts)
        n_places = beam_width - len(finished)
        candidates = _continuations(beams, logits, n_places, length_penalty, end_id)
        kept = {place: item for place, item in enumerate(candidates) if item.kept}
        finished += [item for item in kept.values() if item.finished]
        rows = list(beams)
        beams = {place: item for place, item in kept.items() if not item.finished}
        best = max([*finished, *beams.values()], key=lambda item: item.score)
        # A total only falls, so a beam can at most keep its own up to the longest text.
        hopes = (normalised_score(beam.total, n_steps, length_penalty) for beam in beams.values())
        stopped = _why_stopped(
            ended=best.finished and best.score >= max(hopes, default=-math.inf),
            enough=n_new == max_new_tokens,
            full=n_new == n_steps,
        )
        yield BeamStep(candidates, stopped, best if stopped else None)
        if stopped:
            return
        cache.reorder([rows.index(beam.parent) for beam in beams.values()])


def _continuations(
    beams: dict[int | None, Candidate],
    logits: Tensor,
    n_places: int,
    length_penalty: float,
    end_id: int | None,
) -> tuple[Candidate, ...]:
    """The likeliest next tokens behind all beams, of which the first `n_places` are kept.

    logits: (B, V), a row for each beam.
    """
    log_probs = logits.double().log_softmax(dim=-1)  # (B, V)
    totals = log_probs + log_probs.new_tensor([[beam.total] for beam in beams.values()])
    n_shown = min(2 * n_places, totals.numel())
    parents, candidates = list(beams), []
    for index in totals.flatten().topk(n_shown).indices.tolist():
        row, token_id = divmod(index, logits.shape[1])
        new_ids = (*beams[parents[row]].ids, token_id)
        total = totals[row, token_id].item()
        candidates.append(
            Candidate(
                parent=parents[row],
                ids=new_ids,
                log_prob=log_probs[row, token_id].item(),
                total=total,
                score=normalised_score(total, len(new_ids), length_penalty),
                kept=len(candidates) < n_places,
                finished=token_id == end_id,
            )
        )
    return tuple(candidates)


def _predict(
    model: DecoderTransformer, cache: KVCache, texts: Sequence[Sequence[int]], record: bool = False
) -> tuple[Tensor, tuple[np.ndarray, ...]]:
    """Logits (B, V) of the token behind each text, and of the first text its attention (H, Tk).

    texts: B of equal length, of which the cache holds the beginnings; the rest is fed to it.
    """
    if cache.length < SEEING_AHEAD[model.config.mask](model.config):
        cache.truncate(0)  # a later token may have changed what these have seen
    new = [text[cache.length :] for text in texts]
    recorder = Recorder() if record else NO_RECORDER
    ids = torch.tensor(new, device=next(model.parameters()).device)
    logits = model(ids, recorder=recorder, cache=cache)[:, -1].float().cpu()  # (B, V)
    patterns = [x for name, x in recorder.values.items() if name.endswith(".pattern")]
    return logits, tuple(_read_only(x[0, :, -1]) for x in patterns)


def _read_only(x: Tensor) -> np.ndarray:
    array = x.float().cpu().numpy().copy()
    array.flags.writeable = False
    return array


def _cache_for(model: DecoderTransformer, n_tokens: int, batch_size: int = 1) -> KVCache:
    weight = next(model.parameters())
    capacity = min(n_tokens, model.config.max_seq_len)
    return KVCache(
        model.config, capacity, batch_size=batch_size, device=weight.device, dtype=weight.dtype
    )


def _check_prompt(
    ids: Sequence[int], context: int, max_new_tokens: int, slide: bool = False
) -> None:
    most = context if slide and context > 1 else context - 1
    if not 1 <= len(ids) <= most:
        raise ValueError(
            f"the prompt has {len(ids)} tokens; it must have between 1 and {most}, so "
            f"that something fits behind it in the context of {context}; shorten the prompt"
        )
    if max_new_tokens < 1:
        raise ValueError(f"max_new_tokens is {max_new_tokens}; it must be at least 1")


def _check_beam(model: DecoderTransformer, beam_width: int, length_penalty: float) -> None:
    vocab_size = model.config.vocab_size
    if not 1 <= beam_width <= vocab_size:
        raise ValueError(
            f"beam width is {beam_width}; it must be between 1 and the {vocab_size} tokens of the "
            "vocabulary"
        )
    if not 0 <= length_penalty < math.inf:
        raise ValueError(f"length penalty is {length_penalty:g}; it must be at least 0 and finite")


def _check_settings(model: DecoderTransformer, sampling: Sampling, seed: int) -> None:
    vocab_size = model.config.vocab_size
    if sampling.top_k is not None and sampling.top_k > vocab_size:
        raise ValueError(
            f"top-k is {sampling.top_k}; it must be between 1 and the {vocab_size} tokens of the "
            "vocabulary"
        )
    if not 0 <= seed < 2**63:
        raise ValueError(f"seed is {seed}; it must be between 0 and 2⁶³ − 1")
