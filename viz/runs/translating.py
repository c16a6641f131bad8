"""Translations: what a model writes of a source, and what comes of it under other conditions."""

from dataclasses import dataclass

import numpy as np
import streamlit as st

from model.analysis.source import losses_when_damaged
from model.architectures.encoder_decoder import EncoderDecoderTransformer
from model.capture import capture_translation
from model.data.tokenizer import START_OF_TEXT
from model.decoding.cache_run import TwoParts, two_parts
from model.decoding.translation import Way, Written, write
from model.inputs import source_within, translation_of
from model.sources.handle import ModelHandle
from viz import runs


def translator(handle: ModelHandle) -> EncoderDecoderTransformer:
    """The encoder-decoder of a handle; ValueError where the model is of another kind."""
    model = runs.checkpoint(handle).model
    if not isinstance(model, EncoderDecoderTransformer):
        raise ValueError(f"{handle.spelled} is not an encoder-decoder: it translates nothing")
    return model


def _source(handle: ModelHandle, text: str) -> list[int]:
    """A source as the encoder takes it, cut to the context."""
    tokenizer, model = runs.tokenizer(handle), translator(handle)
    kept, _ = source_within(tokenizer, text, model.config.max_seq_len)
    return [*kept, tokenizer.end_id]


@st.cache_resource(max_entries=32, show_spinner=False)
def written(handle: ModelHandle, text: str, way: Way, begun: tuple[int, ...] = ()) -> Written:
    """What a model writes of a source, after what the target is to begin with."""
    tokenizer = runs.tokenizer(handle)
    start = [tokenizer.id_of(START_OF_TEXT), *begun]
    return write(translator(handle), _source(handle, text), start, tokenizer.end_id, way)


@dataclass(frozen=True, eq=False)
class Aligned:
    """Cross-attention of a pair fed in: patterns (L, H, Tt, Ts), and the strings of its tokens.

    The source's are without its end, the target's without its start; the patterns have both.
    """

    patterns: np.ndarray
    source: tuple[str, ...]
    target: tuple[str, ...]


@st.cache_resource(max_entries=16, show_spinner=False)
def aligned(handle: ModelHandle, source: str, target: str) -> Aligned:
    """Cross-attention of a source and a target that is fed in."""
    tokenizer, model = runs.tokenizer(handle), translator(handle)
    context = model.config.max_seq_len
    kept, _ = source_within(tokenizer, source, context)
    fed = tokenizer.encode(target)[: context - 1]
    trace = capture_translation(model, *translation_of(tokenizer, kept, fed))
    cross = trace.group("decoder.cross_attn")
    return Aligned(cross.patterns(), tokenizer.token_strings(kept), tokenizer.token_strings(fed))


@st.cache_resource(max_entries=8, show_spinner=False)
def damaged(
    handle: ModelHandle, source: str, target: tuple[int, ...], seed: int
) -> dict[str, np.ndarray]:
    """Losses of a target, without start and with its end, under damage to its source, by name."""
    tokenizer = runs.tokenizer(handle)
    whole = [tokenizer.id_of(START_OF_TEXT), *target]
    return losses_when_damaged(translator(handle), _source(handle, source), whole, seed)


@st.cache_resource(max_entries=8, show_spinner=False)
def cache_parts(handle: ModelHandle, source: str, target: tuple[int, ...]) -> TwoParts:
    """Bytes of both parts of the cache while a target, its start left out here, is fed in."""
    start = runs.tokenizer(handle).id_of(START_OF_TEXT)
    return two_parts(translator(handle), _source(handle, source), [start, *target])
