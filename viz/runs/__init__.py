"""Where Streamlit meets the model: cached checkpoints, cached traces, cached continuations.

Traces are shared between sessions and read-only. Caches are keyed by plain values and bounded.
"""

import io
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import streamlit as st
import torch

from model import checkpoint, cost, timing
from model.analysis import LogitLens, logit_lens
from model.archive import write_npz
from model.capture import Trace, capture
from model.checkpoint import Checkpoint
from model.cost import KnownModel
from model.decoding import DEFAULT_ORDER as DEFAULT_ORDER
from model.decoding import BeamStep, Sampling, Step, beam_search, filter_logits, generate
from model.device import choose_device
from model.kv_cache import KVCache
from model.timing import DECODE, PREFILL, WITH_CACHE, WITHOUT, Lap
from model.verify import Check, check, relative_error, worst
from viz.figures.labels import visible
from viz.live import shelf

FIRST_MODEL = "stories"
LEADING = 10  # likeliest tokens kept of each step


@dataclass(frozen=True, eq=False)
class Run:
    """One sentence through one model: the trace, its checks, and what did not fit."""

    trace: Trace
    checks: tuple[Check, ...]
    n_cut: int  # tokens beyond the context, left out from the end
    key: str  # under which browsers may ask for its arrays


@dataclass(frozen=True, eq=False)
class Distribution:
    """The next token's distribution from the model and after the filters, (V,) each."""

    logits: np.ndarray
    before: np.ndarray  # softmax of the logits
    after: np.ndarray  # what is sampled from; zero where removed
    kept: np.ndarray  # bool


def device_names() -> list[str]:
    """Devices to choose from, the default first: HEADLIGHT_DEVICE if set, else CUDA, else CPU."""
    found = ["cuda", "cpu"] if torch.cuda.is_available() else ["cpu"]
    wanted = os.environ.get("HEADLIGHT_DEVICE")
    if wanted is None:
        return found
    device = str(choose_device(wanted))
    return [device, *(name for name in found if name != device)]


def model_names() -> list[str]:
    """Names of the checkpoints on offer, the one the examples are for first."""
    return sorted(checkpoint.shipped_names(), key=lambda name: name != FIRST_MODEL)


def load(name: str, device: str) -> Checkpoint:
    """The named checkpoint on a device, loaded once for all sessions."""
    return _load(name, device, checkpoint.modified(name))


@st.cache_resource(max_entries=8, show_spinner=False)
def _load(name: str, device: str, modified: int) -> Checkpoint:
    return checkpoint.load(name, device)


def run(name: str, device: str, text: str) -> Run:
    """Capture and check one sentence; tokens beyond the context are cut and counted."""
    return _run(name, device, text, checkpoint.modified(name))


@st.cache_resource(max_entries=10, show_spinner=False)
def _run(name: str, device: str, text: str, modified: int) -> Run:
    loaded = load(name, device)
    ids = loaded.tokenizer.encode(text)
    kept = ids[: loaded.config.max_seq_len]
    trace = capture(loaded.model, kept, loaded.tokenizer.token_strings(kept))
    checks = check(trace, loaded.model)
    return Run(trace, checks, n_cut=len(ids) - len(kept), key=shelf.put(trace))


def lens(name: str, device: str, text: str) -> LogitLens:
    """What the residual stream of one sentence says at every layer."""
    return _lens(name, device, text, checkpoint.modified(name))


@st.cache_resource(max_entries=8, show_spinner=False)
def _lens(name: str, device: str, text: str, modified: int) -> LogitLens:
    return logit_lens(run(name, device, text).trace, load(name, device).model, LEADING)


def verdict(checks: Sequence[Check]) -> tuple[int, Check]:
    """How many checks failed, and the one to name on a badge."""
    return sum(not item.passed for item in checks), worst(checks)


def trace_npz(run: Run) -> bytes:
    """The whole trace as an .npz file, the same arrays as `python -m model trace` writes."""
    buffer = io.BytesIO()
    write_npz(run.trace, buffer)
    return buffer.getvalue()


def given_probabilities(trace: Trace) -> np.ndarray:
    """Probability the model gave each token from those before it, (T,); NaN for the first."""
    logits = torch.tensor(trace.logits[:-1])
    chosen = torch.tensor(trace.ids[1:])[:, None]
    probs = logits.softmax(dim=-1).gather(1, chosen)[:, 0].numpy()
    return np.concatenate([[np.nan], probs])


def target_probabilities(trace: Trace, targets: Sequence[int]) -> np.ndarray:
    """Probability the model gave a target at each position, (T,)."""
    probs = torch.tensor(trace.logits).double().softmax(dim=-1)
    return probs.gather(1, torch.tensor(targets)[:, None])[:, 0].numpy()


def best_other(logits: np.ndarray, token_id: int) -> int:
    """The likeliest token but one. logits: (V,)."""
    first, second = np.argsort(-logits, kind="stable")[:2]
    return int(second if first == token_id else first)


def next_tokens(
    name: str, device: str, before: Trace, after: Trace, position: int
) -> list[tuple[str, float, float]]:
    """The likeliest next tokens after a position in either of two runs, by the second one."""
    pair = [torch.tensor(x.logits[position]).double().softmax(dim=0) for x in (before, after)]
    leading = {i for probs in pair for i in probs.topk(min(LEADING, len(probs))).indices.tolist()}
    chosen = sorted(leading, key=lambda i: -pair[1][i])
    words = vocabulary(name, device)
    return [(visible(words[i]), float(pair[0][i]), float(pair[1][i])) for i in chosen]


def distribution(logits: np.ndarray, sampling: Sampling, order: Sequence[str]) -> Distribution:
    """The distribution over the whole vocabulary, before and after the filters. logits: (V,)."""
    unfiltered = torch.tensor(logits)
    filtered = filter_logits(unfiltered, sampling, order)
    return Distribution(
        logits=logits,
        before=unfiltered.double().softmax(dim=0).numpy(),
        after=filtered.double().softmax(dim=0).numpy(),
        kept=(filtered > -torch.inf).numpy(),
    )


def vocabulary(name: str, device: str) -> list[str]:
    """What each id stands for, by id."""
    return _vocabulary(name, device, checkpoint.modified(name))


@st.cache_data(max_entries=4, show_spinner=False)
def _vocabulary(name: str, device: str, modified: int) -> list[str]:
    tokenizer = load(name, device).tokenizer
    return [tokenizer.token_strings([i])[0] for i in range(tokenizer.vocab_size)]


@dataclass(frozen=True, eq=False)
class Written:
    """One generated token: how it was drawn, and what the position that predicted it read.

    `leading` are the likeliest tokens as (id, the model's probability, probability drawn with).
    `attention` has an array (H, Tk) a layer; its key 0 is token `n_dropped` of the whole text.
    """

    token_id: int
    rank: int
    before: float
    prob: float
    n_kept: int
    leading: tuple[tuple[int, float, float], ...]
    attention: tuple[np.ndarray, ...]
    n_dropped: int
    stopped: str | None


@dataclass
class Writing:
    """A text while it is written: belongs to one browser session. `stopped` says why it ended."""

    stream: Iterator[Written]
    steps: list[Written] = field(default_factory=list)
    is_running: bool = True
    stopped: str | None = None
    sent: dict[object, list[object]] = field(default_factory=dict)  # steps as sent, by head

    def advance(self, seconds: float = 0.0) -> None:
        """Write one token, and more while there is time. ValueError for a prompt without room."""
        deadline = time.monotonic() + seconds
        while self.stopped is None:
            try:
                step = next(self.stream)
            except ValueError as error:
                self.is_running, self.stopped = False, str(error)
                raise
            self.steps.append(step)
            self.stopped = step.stopped
            if time.monotonic() >= deadline:
                break
        self.is_running = self.is_running and self.stopped is None


def write(
    name: str,
    device: str,
    ids: tuple[int, ...],
    sampling: Sampling,
    order: tuple[str, ...],
    n_tokens: int,
    seed: int,
    slide: bool,
) -> Writing:
    """Begin to continue a prompt; nothing is computed before `advance`."""
    loaded = load(name, device)
    steps = generate(
        loaded.model,
        ids,
        sampling,
        order=order,
        max_new_tokens=n_tokens,
        seed=seed,
        end_id=loaded.tokenizer.end_id,
        slide=slide,
        record=True,
    )
    return Writing(map(_written, steps))


def _written(step: Step) -> Written:
    before, probs = step.logits.double().softmax(dim=0), step.probs.double()
    top = step.logits.topk(min(LEADING, len(before))).indices.tolist()
    return Written(
        token_id=step.token_id,
        rank=step.rank,
        before=float(before[step.token_id]),
        prob=float(probs[step.token_id]),
        n_kept=int(step.kept.sum()),
        leading=tuple((i, float(before[i]), float(probs[i])) for i in top),
        attention=step.attention,
        n_dropped=step.n_dropped,
        stopped=step.stopped,
    )


def beams(
    name: str, device: str, ids: tuple[int, ...], width: int, n_tokens: int, length_penalty: float
) -> tuple[BeamStep, ...]:
    """All steps of a beam search behind a prompt."""
    return _beams(name, device, ids, width, n_tokens, length_penalty, checkpoint.modified(name))


@st.cache_resource(max_entries=8, show_spinner=False)
def _beams(
    name: str,
    device: str,
    ids: tuple[int, ...],
    width: int,
    n_tokens: int,
    length_penalty: float,
    modified: int,
) -> tuple[BeamStep, ...]:
    loaded = load(name, device)
    return tuple(
        beam_search(
            loaded.model,
            ids,
            beam_width=width,
            max_new_tokens=n_tokens,
            length_penalty=length_penalty,
            end_id=loaded.tokenizer.end_id,
        )
    )


@dataclass(frozen=True, eq=False)
class Filling:
    """A sentence as it went into a real cache: a prefill, then one token at a time.

    `keys` and `values` (L, n_kv_heads, T, Dh) were read out of the cache's tensors behind each
    step, the columns that step had written. `bytes_held` has, by the number of tokens held, what
    was measured then; `is_kept` says whether the full cache still held the very same numbers.
    """

    keys: np.ndarray
    values: np.ndarray
    bytes_held: dict[int, int]
    bytes_reserved: int  # for the whole context
    bytes_per_value: int
    is_kept: bool


def fed_at_once(name: str, device: str) -> int:
    """How many first tokens a cache must be given together; at least 1."""
    return timing.fed_at_once(load(name, device).model)


def fill(name: str, device: str, ids: tuple[int, ...], n_prefill: int) -> Filling:
    """Run ids through a cache, the first `n_prefill` at once and then one a step."""
    return _fill(name, device, ids, n_prefill, checkpoint.modified(name))


@st.cache_resource(max_entries=8, show_spinner=False)
@torch.inference_mode()
def _fill(name: str, device: str, ids: tuple[int, ...], n_prefill: int, modified: int) -> Filling:
    model = load(name, device).model
    weight = next(model.parameters())
    cache = KVCache(model.config, device=weight.device, dtype=weight.dtype)
    tokens = torch.tensor([ids], device=weight.device)  # (1, T)
    steps, bytes_held = [], {0: _bytes_held(cache)}
    for stop in range(n_prefill, len(ids) + 1):
        start = cache.length
        model(tokens[:, start:stop], cache=cache)
        bytes_held[stop] = _bytes_held(cache)
        steps.append(_read(cache, start))
    keys, values = (np.concatenate(parts, axis=2) for parts in zip(*steps, strict=True))
    is_kept = all(map(np.array_equal, (keys, values), _read(cache, 0)))
    return Filling(keys, values, bytes_held, cache.bytes_reserved, weight.element_size(), is_kept)


def _read(cache: KVCache, start: int) -> tuple[np.ndarray, np.ndarray]:
    """Copies of the keys and values of tokens from `start` on, (L, n_kv_heads, T − start, Dh)."""
    held = [layer.held() for layer in cache.layers]
    keys, values = (torch.cat(parts)[:, :, start:] for parts in zip(*held, strict=True))
    return keys.float().cpu().numpy(), values.float().cpu().numpy()


def _bytes_held(cache: KVCache) -> int:
    """Element size × number of elements, over all tensors with the tokens held."""
    tensors = (x for layer in cache.layers for x in layer.held())
    return sum(x.element_size() * x.numel() for x in tensors)


def filling_errors(filling: Filling, trace: Trace, n_held: int) -> tuple[float, float]:
    """How far the first `n_held` keys and values are from the trace's own k and v."""
    pairs = ((filling.keys, "k"), (filling.values, "v"))
    return tuple(
        relative_error(
            held[:, :, :n_held],
            np.stack([getattr(record, name)[:, :n_held] for record in trace.attention]),
        )
        for held, name in pairs
    )


def cache_variants(known: KnownModel, n_tokens: int) -> dict[str, int | None]:
    """Bytes of a known model's cache in several layouts; see `model.cost.cache_variants`."""
    return cost.cache_variants(known, n_tokens)


@dataclass(frozen=True)
class Pace:
    """Medians of a measurement: seconds of one more token by text length, and tokens a second."""

    with_cache: dict[int, float]
    without: dict[int, float]
    prefill: float | None
    decode: float | None
    n_rounds: int
    spread: float  # 1 when all rounds took equally long; see `model.timing.spread`
    difference: float  # between the logits of the two ways


@dataclass
class Measuring:
    """A measurement while it is taken: belongs to one browser session."""

    stream: Iterator[Lap]
    laps: list[Lap] = field(default_factory=list)
    is_running: bool = True

    @property
    def progress(self) -> float:
        """How much of it is done, 0 to 1."""
        return self.laps[-1].progress if self.laps else 0.0

    def advance(self, seconds: float) -> None:
        """Take one more time, and further ones while there is time."""
        deadline = time.monotonic() + seconds
        while self.is_running:
            lap = next(self.stream, None)
            self.is_running = lap is not None
            self.laps += [lap] if lap else []
            if time.monotonic() >= deadline:
                break


def measure(name: str, device: str) -> Measuring:
    """Begin to time tokens with and without the cache; nothing runs before `advance`."""
    return Measuring(timing.time_tokens(load(name, device).model))


def pace(laps: Sequence[Lap]) -> Pace | None:
    """What the times so far amount to; None while fewer than two lengths ran both ways."""
    with_cache, without = (timing.medians(laps, way) for way in (WITH_CACHE, WITHOUT))
    if len(without) < 2:
        return None
    rates = {
        way: timing.tokens_per_second(laps, way) if any(lap.way == way for lap in laps) else None
        for way in (PREFILL, DECODE)
    }
    return Pace(
        {n: with_cache[n] for n in without},
        without,
        rates[PREFILL],
        rates[DECODE],
        n_rounds=sum(lap.way == PREFILL for lap in laps),
        spread=timing.spread(laps),
        difference=max(lap.difference for lap in laps),
    )


def growth(seconds: dict[int, float]) -> tuple[float, float]:
    """Exponent and factor of the power of the length that times follow; see `model.timing`."""
    return timing.growth(seconds)


def decode(name: str, device: str, ids: list[int]) -> str:
    """The text of generated ids, without the end-of-text token."""
    tokenizer = load(name, device).tokenizer
    return tokenizer.decode([i for i in ids if i != tokenizer.end_id])
