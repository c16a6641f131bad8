"""Translations: what a model writes of a source, and what comes of it under other conditions."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import numpy as np
import streamlit as st

from model.analysis.alignment import (
    Agreement,
    Link,
    agreement,
    merged_to_words,
    rows_of_target,
    strongest_links,
)
from model.analysis.source import losses_when_damaged
from model.architectures.encoder_decoder import EncoderDecoderTransformer
from model.capture import capture_translation
from model.data.tokenizer import START_OF_TEXT
from model.decoding.cache_run import TwoParts, two_parts
from model.decoding.translation import Way, Written, write
from model.inputs import source_within, translation_of
from model.sources.handle import ModelHandle
from viz import runs
from viz.labels import words_of
from viz.runs.kept import kept
from viz.runs.under_way import under_way

Picked = Callable[[np.ndarray], np.ndarray]  # of patterns (L, H, Tq, Tk), one (Tq, Tk)
Example = tuple[str, str, tuple[Link, ...]]  # a source, its target, links made by hand


def translator(handle: ModelHandle) -> EncoderDecoderTransformer:
    """The encoder-decoder of a handle; ValueError where the model is of another kind."""
    loaded = runs.checkpoint(handle)
    if "translates" not in loaded.offers:
        raise ValueError(f"{handle.spelled} is not an encoder-decoder: it translates nothing")
    return cast("EncoderDecoderTransformer", loaded.model)


def source_ids(handle: ModelHandle, text: str) -> tuple[int, ...]:
    """The same as plain values."""
    return tuple(_source(handle, text))


def _source(handle: ModelHandle, text: str) -> list[int]:
    """A source as the encoder takes it, cut to the context."""
    tokenizer, model = runs.tokenizer(handle), translator(handle)
    kept, _ = source_within(tokenizer, text, model.config.max_seq_len)
    return [*kept, tokenizer.end_id]


def written(handle: ModelHandle, text: str, way: Way, begun: tuple[int, ...] = ()) -> Written:
    """What a model writes of a source, after what the target is to begin with."""
    return written_of(handle, source_ids(handle, text), way, begun)


@kept
@under_way("Translating")
def written_of(
    handle: ModelHandle, source: tuple[int, ...], way: Way, begun: tuple[int, ...] = ()
) -> Written:
    """The same of a source's ids, with its end."""
    tokenizer = runs.tokenizer(handle)
    start = [tokenizer.id_of(START_OF_TEXT), *begun]
    return write(translator(handle), source, start, tokenizer.end_id, way)


@dataclass(frozen=True, eq=False)
class Aligned:
    """Cross-attention of a pair fed in: patterns (L, H, Tt, Ts), and the strings of its tokens.

    The source's are without its end, the target's without its start; the patterns have both.
    """

    patterns: np.ndarray
    source: tuple[str, ...]
    target: tuple[str, ...]


@kept
@under_way("Aligning the words of both sentences")
def aligned(handle: ModelHandle, source: str, target: str) -> Aligned:
    """Cross-attention of a source and a target that is fed in."""
    tokenizer, model = runs.tokenizer(handle), translator(handle)
    context = model.config.max_seq_len
    kept, _ = source_within(tokenizer, source, context)
    fed = tokenizer.encode(target)[: context - 1]
    trace = capture_translation(model, *translation_of(tokenizer, kept, fed))
    cross = trace.group("decoder.cross_attn")
    return Aligned(cross.patterns(), tokenizer.token_strings(kept), tokenizer.token_strings(fed))


def between_words(pattern: np.ndarray, pair: Aligned, *, is_input: bool) -> np.ndarray:
    """A pattern (Tt, Ts) between the words of a pair, (words of target, words of source)."""
    rows = list(rows_of_target(len(pair.target), is_input=is_input))
    own = pattern[rows, : len(pair.source)]
    return merged_to_words(own, words_of(pair.target)[0], words_of(pair.source)[0])


def agreement_of(
    handle: ModelHandle, examples: tuple[Example, ...], picked: Picked, *, is_input: bool
) -> Agreement:
    """Of the strongest links in a pattern with those by hand, over all examples together."""
    found_links: set[Link] = set()
    sure: set[Link] = set()
    for number, (source, target, links) in enumerate(examples):
        pair = aligned(handle, source, target)
        matrix = between_words(picked(pair.patterns), pair, is_input=is_input)
        found_links |= {(number, *link) for link in strongest_links(matrix)}
        sure |= {(number, *link) for link in links}
    return agreement(found_links, sure)


@st.cache_data(max_entries=8, show_spinner=False)
@under_way("Measuring the errors of every head")
def error_rates(
    handle: ModelHandle, examples: tuple[Example, ...], *, is_input: bool
) -> np.ndarray:
    """Alignment error rates of all heads and of the mean of each layer, (L, H + 1)."""
    n_layers, n_heads = aligned(handle, *examples[0][:2]).patterns.shape[:2]

    def rate(picked: Picked) -> float:
        return agreement_of(handle, examples, picked, is_input=is_input).error_rate

    return np.array(
        [
            [rate(lambda x, at=(layer, head): x[at]) for head in range(n_heads)]
            + [rate(lambda x, at=layer: x[at].mean(axis=0))]
            for layer in range(n_layers)
        ]
    )


@kept
def damaged(
    handle: ModelHandle, source: str, target: tuple[int, ...], seed: int
) -> dict[str, np.ndarray]:
    """Losses of a target, without start and with its end, under damage to its source, by name."""
    tokenizer = runs.tokenizer(handle)
    whole = [tokenizer.id_of(START_OF_TEXT), *target]
    return losses_when_damaged(translator(handle), _source(handle, source), whole, seed)


@kept
def cache_parts(handle: ModelHandle, source: str, target: tuple[int, ...]) -> TwoParts:
    """Bytes of both parts of the cache while a target, its start left out here, is fed in."""
    start = runs.tokenizer(handle).id_of(START_OF_TEXT)
    return two_parts(translator(handle), _source(handle, source), [start, *target])
