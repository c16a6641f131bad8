"""Where Streamlit's caches meet the model: opened models and their runs, shared by all sessions.

Everything is called and cached with a `ModelHandle`, whose revision changes with the model's files.
Traces are read-only. Caches are bounded.
"""

import io
import math
import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from functools import lru_cache
from secrets import token_hex
from typing import Any, cast
from weakref import WeakValueDictionary

import numpy as np
import streamlit as st
import torch

from model.adopted.model import AnyDecoder
from model.analysis.anatomy import Column
from model.analysis.anatomy import anatomy as columns_of
from model.analysis.fitted_lens import FittedLens
from model.analysis.lens import LogitLens, logit_lens
from model.analysis.probabilities import given_probabilities
from model.architectures.decoder import DecoderTransformer
from model.commands.trace import write_npz
from model.data.tokenizer import Tokenizer
from model.decoding.beam import BeamStep, Candidate, beam_search
from model.decoding.cache_run import CacheRun, run_through_cache
from model.device import choose_device
from model.given import Chat, Given, Markup, Translation, Typed
from model.memory import keep_freed_memory, look_at_new_objects_alone
from model.sources import table
from model.sources.checkpoint import Checkpoint
from model.sources.handle import TRANSFORMERS, ModelHandle, OpenModel, Traced
from model.sources.offers import EVERYTHING, missing
from model.sources.places import at_one_look as at_one_look
from model.sources.places import unusable_folders
from model.sources.table import Runnable
from model.trace import Trace
from model.verify.check import Check
from model.verify.independent import ALLOWED, log_probability
from model.verify.texts import NO_WORDS, check_text, texts_of
from viz.runs.checking import Checks, begin
from viz.runs.kept import kept
from viz.runs.under_way import under_way

FIRST_MODEL = "stories"
LONG = 256  # tokens
MOST_LOGITS = LONG * 4096 * 7  # of all layers; of more the logit lens is not made of all tokens
LEADING = 10  # most likely tokens kept of each step
BROKEN = "\ufffd"  # what a part of a character decodes to

# Streamlit looks at each field of a dataclass by itself, which takes a millisecond and more.
BY_NAME: dict[str | type[Any], Callable[[Any], Any]] = {ModelHandle: repr}

# Of texts, as long as a run of them is kept.
_TRACES: WeakValueDictionary[tuple[ModelHandle, tuple[int, ...]], Trace] = WeakValueDictionary()

# All that are open, as long as they are kept.
_OPEN: WeakValueDictionary[ModelHandle, OpenModel] = WeakValueDictionary()

# Of models that were found to lack something when they ran, on whatever device.
_OFFERED: dict[ModelHandle, frozenset[str]] = {}

keep_freed_memory()


@dataclass(frozen=True, eq=False)
class Run:
    """One input through one model: the trace, its checks, and what did not fit.

    `checking` is done when the checks are there; `checks` waits for them.
    """

    trace: Trace
    checking: "Future[Checks]"
    offers: frozenset[str]  # what views may need of the model and the trace
    key: str = field(default_factory=lambda: token_hex(16))  # its own
    n_cut: int = 0  # tokens beyond the context, left out from the end
    reads: str | None = None  # the input as the tokenizer has it, where that is not what was typed

    @property
    def checks(self) -> Checks:
        """All checks of the run, once they are there."""
        return self.checking.result()


def device_names() -> list[str]:
    """Devices to choose from, the default first: HEADLIGHT_DEVICE if set, else CUDA, else CPU."""
    names = ["cuda", "cpu"] if torch.cuda.is_available() else ["cpu"]
    wanted = os.environ.get("HEADLIGHT_DEVICE")
    if wanted is None:
        return names
    device = str(choose_device(wanted))
    return [device, *(name for name in names if name != device)]


def model_names() -> list[str]:
    """Names of the models on offer, the one the examples are for first."""
    return sorted(table.model_names(), key=lambda name: name != FIRST_MODEL)


def architecture_of(name: str) -> str:
    """What kind of model this is; empty where that is not known or cannot be read."""
    try:
        return _architecture_of(handle_of(name, device=""))
    except ValueError:
        return ""


@lru_cache(maxsize=64)
def _architecture_of(handle: ModelHandle) -> str:
    return table.architecture_of(handle)


def reads_chats(name: str) -> bool:
    """Whether a model has a template of chats; no where that cannot be read."""
    try:
        return _reads_chats(handle_of(name, device=""))
    except ValueError:
        return False


@lru_cache(maxsize=64)
def _reads_chats(handle: ModelHandle) -> bool:
    return table.has_template(handle)


def lacking(name: str, needs: Iterable[str]) -> list[str]:
    """Why a model does not do for a page, as far as is known: before it has run, by its files."""
    try:
        handle = handle_of(name, device="")
    except ValueError:
        return []  # opening it says why
    return missing(needs, _OFFERED[handle] if handle in _OFFERED else _offered_unopened(handle))


@lru_cache(maxsize=64)
def _offered_unopened(handle: ModelHandle) -> frozenset[str]:
    try:
        return EVERYTHING - table.lacks(handle)
    except ValueError:
        return EVERYTHING


def has_lacked(name: str) -> bool:
    """Whether a model was opened and found to lack what a page needed."""
    return handle_of(name, device="") in _OFFERED


def note_offers(handle: ModelHandle, offers: frozenset[str]) -> None:
    """Remember what a model that has run turned out to offer."""
    _OFFERED[replace(handle, device="")] = offers


def what_it_is(name: str) -> tuple[str, ...]:
    """A model in a few short parts, as 5.8 M, 6 × 8; none where its files cannot be read."""
    try:
        return _what_it_is(handle_of(name, device=""))
    except ValueError:
        return ()


@lru_cache(maxsize=64)
def _what_it_is(handle: ModelHandle) -> tuple[str, ...]:
    return table.described(handle)


def card(handle: ModelHandle) -> str:
    """What was written about a model; empty where there is nothing to read."""
    try:
        return table.card(handle)
    except ValueError:
        return ""


def unusable_models() -> list[str]:
    """One line for each model that is found and cannot be offered."""
    return unusable_folders()


def handle_of(name: str, device: str) -> ModelHandle:
    """The handle of a model as its files are now."""
    return table.handle_of(name, device)


@st.cache_resource(max_entries=8, show_spinner=False, hash_funcs=BY_NAME)
@under_way("Opening the model")
def opened(handle: ModelHandle) -> OpenModel:
    """The model of a handle, opened once for all sessions: seconds, where weights are large."""
    model = table.open_model(handle)
    if "weights" not in model.offers:  # ours are in no cycles, and few objects
        look_at_new_objects_alone()
    _OPEN[handle] = model
    return model


def opens_at_once(handle: ModelHandle) -> bool:
    """Whether nobody waits for a model of a handle: it is open, or one of ours, which are small."""
    return handle in _OPEN or handle.source != TRANSFORMERS


def checkpoint(handle: ModelHandle) -> Checkpoint:
    """The checkpoint of a handle; ValueError where the model is not one."""
    loaded = opened(handle)
    if "weights" not in loaded.offers:
        raise ValueError(f"{handle.spelled} is not a checkpoint: it has no weights to run again")
    return cast("Checkpoint", loaded)


def runnable(handle: ModelHandle) -> Runnable:
    """A model that runs again, on other texts; ValueError where one only has its records."""
    return table.runnable(opened(handle), handle.spelled)


def decoder(handle: ModelHandle) -> AnyDecoder:
    """The decoder of a handle, whoever built it; ValueError where the model is of another kind."""
    return runnable(handle).decoder


def own_decoder(handle: ModelHandle) -> DecoderTransformer:
    """The decoder of a checkpoint, whose parts are ours; ValueError where the model is none."""
    return checkpoint(handle).decoder


def tokenizer(handle: ModelHandle) -> Tokenizer:
    """The tokenizer of a handle; ValueError where the model has none."""
    return runnable(handle).tokenizer


def end_ids(handle: ModelHandle) -> frozenset[int]:
    """Tokens that end a text of a handle; ValueError where the model has no tokenizer."""
    return runnable(handle).end_ids


@kept
def run(handle: ModelHandle, given: Typed) -> Run:
    """Capture and check one input; of a text what is beyond the context is cut and counted."""
    return _run(handle, given)


@kept
def run_ids(handle: ModelHandle, ids: tuple[int, ...], roles: tuple[str, ...]) -> Run:
    """Capture and check a text by its ids; of a chat, who wrote each."""
    loaded = runnable(handle)
    with under_way(f"Running the model on {len(ids):,} tokens"):
        trace = loaded.captured(([*ids], loaded.tokenizer.token_strings(ids)))
    trace = replace(trace, streams=(replace(trace.main, roles=roles),))
    return Run(trace, begin(trace, loaded.check), loaded.offers | trace.offers)


@kept
def run_picture(handle: ModelHandle, pixels: bytes) -> Run:
    """Capture and check one picture: S · S bytes, row by row."""
    size = math.isqrt(len(pixels))
    return _run(handle, np.frombuffer(pixels, np.uint8).reshape(size, size) / np.float32(255))


@kept
def run_translation(handle: ModelHandle, source: str, target: tuple[int, ...]) -> Run:
    """Capture and check a source with a target that is fed in, by its ids."""
    return _run(handle, Translation(source, target))


def _run(handle: ModelHandle, given: Given) -> Run:
    loaded = opened(handle)
    with under_way(f"Running the model on {_size_of(handle, given)}"):
        trace, n_cut, reads = _traced(handle, given)
    offers = loaded.offers | trace.offers

    def check(trace: Trace) -> tuple[Check, ...]:
        is_ours = "weights" in loaded.offers
        words = texts_of(checkpoint(handle).folder) if is_ours else NO_WORDS
        is_whole = words.keeps_all and len(trace.streams) == 1
        if not is_whole or not isinstance(given, str):
            return loaded.check(trace)  # it is read otherwise, as the page says
        said = check_text(given, trace.ids.tolist(), words, is_cut=n_cut > 0)
        return (*loaded.check(trace), said)

    return Run(trace, begin(trace, check), offers, n_cut=n_cut, reads=reads)


def _size_of(handle: ModelHandle, given: Given) -> str:
    """How much an input is; of a text the tokens that are run."""
    if "decoder" not in opened(handle).offers or not isinstance(given, Typed):
        return "this input"
    loaded = runnable(handle)
    n = min(len(loaded.tokenizer.encode(given)), loaded.model.config.max_seq_len)
    return f"{n:,} tokens"


def _traced(handle: ModelHandle, given: Given) -> Traced:
    """A trace; of a text that goes on by one token with one that is kept, made of that."""
    loaded = opened(handle)
    if "decoder" not in loaded.offers or not isinstance(given, Typed):
        return loaded.trace(given)
    traced = runnable(handle).trace(given, known=lambda ids: _TRACES.get((handle, ids)))
    _TRACES[handle, tuple(traced.trace.ids.tolist())] = traced.trace
    return traced


@kept
def anatomy(handle: ModelHandle, lengths: tuple[int, ...]) -> tuple[Column, ...]:
    """The parts of a model, for inputs of these lengths."""
    return columns_of(runnable(handle).model, lengths)


@st.cache_data(max_entries=8, show_spinner=False)
def check_anatomy(handle: ModelHandle) -> Check:
    """Whether a model's parts have as many weights together as the model has."""
    model = runnable(handle).model
    columns = columns_of(model, (1,) * len(model.stacks))
    counted = sum(column.n_parameters for column in columns)
    held = sum(weight.numel() for weight in model.parameters())
    return Check("weights of all boxes = weights of the model", float(abs(counted - held)), 0.0)


def lens(
    handle: ModelHandle,
    given: Typed,
    wanted: Iterable[int],
    fitted: FittedLens | None = None,
) -> LogitLens:
    """What the residual stream says at every layer, of many logits at the wanted tokens alone.

    It is read by the logit lens, or by the one that is `fitted` to the model.
    """
    trace = run(handle, given).trace
    has_many = trace.logits.size * (1 + len(trace.residuals)) > MOST_LOGITS
    positions = tuple(sorted(set(wanted))) if has_many else None
    return _lens(handle, given, positions, fitted is not None, fitted)


@kept
@under_way("Decoding what every layer says")
def _lens(
    handle: ModelHandle,
    given: Typed,
    positions: tuple[int, ...] | None,
    is_fitted: bool,
    _fitted: FittedLens | None,
) -> LogitLens:
    return logit_lens(run(handle, given).trace, decoder(handle), LEADING, positions, _fitted)


def predicted(run: Run) -> np.ndarray | None:
    """What the model gave each token from those before it, (T,); None where it says no next one."""
    return _predicted(run.key, run.trace) if "logits" in run.trace.offers else None


@kept
def _predicted(key: str, _trace: Trace) -> np.ndarray:
    return given_probabilities(_trace)


@st.cache_resource(max_entries=4, show_spinner=False)
@under_way("Reading the vocabulary")
def vocabulary(handle: ModelHandle) -> list[str]:
    """What each id stands for, by id."""
    own = tokenizer(handle)
    return list(map(own.name, range(own.vocab_size)))


@kept
@under_way("Searching with beams")
def beams(
    handle: ModelHandle, ids: tuple[int, ...], width: int, n_tokens: int, length_penalty: float
) -> tuple[BeamStep, ...]:
    """All steps of a beam search after a prompt."""
    steps = beam_search(
        decoder(handle),
        ids,
        beam_width=width,
        max_new_tokens=n_tokens,
        length_penalty=length_penalty,
        end_ids=end_ids(handle),
    )
    return tuple(steps)


@st.cache_data(max_entries=16, show_spinner=False)
def check_beam(handle: ModelHandle, ids: tuple[int, ...], name: str, candidate: Candidate) -> Check:
    """Whether a text's log probability is that of an independent run; `name` says which text.

    Relative to its size where that is above one, as the sum of many tokens' is.
    """
    logits = runnable(handle).independent_logits([*ids, *candidate.ids])
    expected = log_probability(logits, ids, candidate.ids)
    error = abs(candidate.total - expected) / max(1.0, abs(expected))
    return Check(f"log probability of the {name} = an independent run", error, ALLOWED)


@kept
@under_way("Running the tokens through a cache")
def cache_run(handle: ModelHandle, ids: tuple[int, ...], n_prefill: int) -> CacheRun:
    """Run ids through a cache, the first `n_prefill` at once and then one per step."""
    return run_through_cache(decoder(handle), ids, n_prefill)


def decode(handle: ModelHandle, ids: Sequence[int]) -> str:
    """The text of generated ids, without tokens that end it."""
    ends = end_ids(handle)
    return tokenizer(handle).decode([i for i in ids if i not in ends])


def spelled(handle: ModelHandle, ids: Sequence[int]) -> str:
    """The text of ids, its special tokens by their names."""
    return tokenizer(handle).decode(ids)


def with_token(
    handle: ModelHandle, given: Typed, ids: Sequence[int], token_id: int
) -> Typed | None:
    """The same with one more token, whose own ids (T,) are given; of a chat its answer goes on.

    None where the token is a part of a character, which cannot stand at the end of a text.
    """
    own = tokenizer(handle)
    if not 0 <= token_id < own.vocab_size:
        raise ValueError(f"no token {token_id}: the vocabulary has {own.vocab_size}")
    if isinstance(given, Chat):
        return given._replace(answer=(*given.answer, token_id))
    after = own.decode([*ids, token_id]).removeprefix(own.decode(list(ids)))
    if BROKEN in after:
        return None
    return Markup(given.text + after) if isinstance(given, Markup) else given + after


def trace_npz(run: Run) -> bytes:
    """The whole trace as an .npz file, the same arrays as `python -m model trace` writes."""
    buffer = io.BytesIO()
    write_npz(run.trace, buffer)
    return buffer.getvalue()
