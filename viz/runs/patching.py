"""Activation patching while it is done: grids that fill in, of one browser session."""

import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import streamlit as st

from model.analysis.metrics import Metric
from model.analysis.patching import Pair, Patched, Piece, begin, check_lengths, estimated, pieces
from model.capture import capture
from model.device import one_thread
from model.sources.handle import ModelHandle
from model.trace import Trace
from model.verify.asked import Wanted
from model.verify.patched import IndependentPatches
from model.verify.texts import texts_of
from viz import runs
from viz.live import store

Ids = tuple[int, ...]
MOST_TRIED = 12  # words in the place of one


@dataclass(frozen=True)
class Request:
    """What is asked for: values of the text `source` in the text `base`, on one model."""

    handle: ModelHandle
    base: Ids
    source: Ids
    metric: Metric


@dataclass(eq=False)
class Patching:
    """The cells so far, the stream that gives more, and the estimate of all.

    Browsers may ask for the independent run's by the key.
    """

    patched: Patched
    estimate: dict[str, np.ndarray]
    stream: Iterator[Piece]
    key: str
    trace: Trace
    independent: IndependentPatches
    is_running: bool = True

    @property
    def is_done(self) -> bool:
        """Whether all cells are there."""
        return self.patched.n_done == self.patched.n_cells

    @property
    def progress(self) -> float:
        """How many of the cells are there, 0 to 1."""
        return self.patched.n_done / self.patched.n_cells

    def advance(self, seconds: float) -> None:
        """Compute a few cells, and further ones while there is time; on one thread of the CPU."""
        deadline = time.monotonic() + seconds
        with one_thread():
            while self.is_running:
                piece = next(self.stream, None)
                self.is_running = piece is not None
                if piece is not None:
                    self.patched.take(piece)
                if time.monotonic() >= deadline:
                    break
        self.is_running = self.is_running and not self.is_done


def patch(request: Request, trace: Trace) -> Patching:
    """Begin: both runs and the estimate; no cell is computed before `advance`.

    `trace` is that of the sentence on screen. ValueError for different numbers of tokens.
    """
    found = runs.checkpoint(request.handle)
    pair = Pair(found.model, list(request.base), list(request.source), request.metric)
    check_lengths(pair.base, pair.source)
    with one_thread():
        patched = begin(pair)
        estimate = estimated(pair, patched.kept)
    metric = request.metric
    independent = IndependentPatches(
        found.files,
        tuple(trace.ids.tolist()),
        Wanted(metric.kind, metric.position, metric.answer, metric.other),
        texts_of(found.folder),
        request.base,
        request.source,
    )
    key = store.put(trace, independent)
    stream = pieces(pair, patched.kept)
    return Patching(patched, estimate, stream, key, trace, independent)


@st.cache_data(max_entries=64, show_spinner=False)
def ids_of(handle: ModelHandle, text: str) -> Ids:
    """The tokens of a text, all of them."""
    return tuple(runs.tokenizer(handle).encode(text))


@st.cache_data(max_entries=64, show_spinner=False)
def last_logits(handle: ModelHandle, ids: Ids) -> np.ndarray:
    """What a text is predicted to go on with, (V,)."""
    tokens = runs.tokenizer(handle).token_strings(ids)
    return capture(runs.decoder(handle), ids, tokens).logits[-1]


@st.cache_data(max_entries=64, show_spinner=False)
def with_another_word(handle: ModelHandle, text: str, places: tuple[int, ...]) -> str:
    """A text of as many tokens as the model runs on, with one of them exchanged; empty for none.

    In its place stands the word that the model found most likely there among all others: of the
    first place where that makes a text of as many tokens.
    """
    found, trace = runs.tokenizer(handle), runs.run(handle, text).trace
    ids = tuple(trace.ids.tolist())
    for place in places:
        if not 0 < place < len(trace.logits):
            continue
        for token in np.argsort(-trace.logits[place - 1], kind="stable")[:MOST_TRIED].tolist():
            (word,) = found.token_strings([token])
            changed = (*ids[:place], token, *ids[place + 1 :])
            if token == ids[place] or not word.strip().isalpha() or word[:1] != " ":
                continue
            written = found.decode(list(changed))
            if ids_of(handle, written) == changed:
                return written
    return ""
