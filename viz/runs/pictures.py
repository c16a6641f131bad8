"""Pictures through a vision model: answers while a person draws, and what-ifs on one picture."""

import base64
from collections.abc import Mapping
from typing import Any, cast

import numpy as np
import streamlit as st

from model.analysis import patches
from model.architectures.vision import VisionTransformer
from model.config import VisionConfig
from model.sources.handle import ModelHandle
from model.trace import Trace
from viz import runs
from viz.kit.parts.digit_pad import SPLIT, answer_arrays
from viz.runs.kept import kept
from viz.runs.under_way import under_way


def model_of(handle: ModelHandle) -> VisionTransformer:
    """The vision model of a handle; ValueError where the model is of another kind."""
    loaded = runs.runnable(handle)
    if "pictures" not in loaded.offers:
        raise ValueError(f"{handle.spelled} is not laid out as digits is; choose digits above")
    return cast("VisionTransformer", loaded.model)


def config_of(handle: ModelHandle) -> VisionConfig:
    """Its sizes."""
    return model_of(handle).config


class Answers:
    """What a browser asks while its visitor draws: the same capture as a run of the page makes."""

    def __init__(self, handle: ModelHandle) -> None:
        self.handle = handle
        self.size = config_of(handle).image_size
        self.last: tuple[bytes, Trace] | None = None

    def more(self, asked: Mapping[str, Any]) -> Mapping[str, Any]:
        """The classes of `pixels`, base64 of S · S bytes, and what the row `query` attends to.

        ValueError where these are not what they should be.
        """
        query = asked.get("query", 0)
        trace = self._trace(self._pixels(asked.get("pixels")))
        n_rows = len(trace.main)
        if not isinstance(query, int) or not 0 <= query < n_rows:
            raise ValueError(f"the row is {query!r:.20}; give a number from 0 to {n_rows - 1}")
        arrays = answer_arrays(trace)
        return {"arrays": {**arrays, **{name: arrays[name][query] for name in SPLIT}}}

    def _pixels(self, text: object) -> bytes:
        expected = self.size**2
        try:
            pixels = base64.b64decode(text if isinstance(text, str) else "", validate=True)
        except ValueError:
            pixels = b""
        if len(pixels) != expected:
            raise ValueError(f"the picture has {len(pixels)} pixels; expected {expected}")
        return pixels

    def _trace(self, pixels: bytes) -> Trace:
        """The capture of a picture; the last one is kept, for its other rows."""
        kept = self.last
        if kept is None or kept[0] != pixels:
            picture = np.frombuffer(pixels, np.uint8).reshape(self.size, self.size)
            trace, *_ = runs.opened(self.handle).trace(picture / np.float32(255))
            self.last = kept = (pixels, trace)
        return kept[1]


@kept
def answers(handle: ModelHandle) -> Answers:
    """What answers of a model; it has one for all visitors."""
    return Answers(handle)


@st.cache_data(max_entries=4, show_spinner=False)
@under_way("Running the model on the pictures")
def answered(handle: ModelHandle, pictures: np.ndarray) -> np.ndarray:
    """The class a model gives each picture of bytes (N, S, S), (N,)."""
    return patches.logits_of(model_of(handle), pictures / 255).argmax(axis=-1)


@st.cache_data(max_entries=16, show_spinner=False)
@under_way("Running the picture without each patch")
def without_each(handle: ModelHandle, pixels: bytes) -> np.ndarray:
    """Logits where one patch after the other is masked, (P, C)."""
    return patches.logits_without_each(model_of(handle), _picture(pixels))


@st.cache_data(max_entries=16, show_spinner=False)
@under_way("Running the picture with its patches exchanged")
def shuffled(handle: ModelHandle, pixels: bytes, order: tuple[int, ...]) -> np.ndarray:
    """Logits of a picture whose patches stand in another order, (C,)."""
    other = patches.shuffled(_picture(pixels), config_of(handle).patch_size, order)
    return patches.logits_of(model_of(handle), other[None])[0]


def _picture(pixels: bytes) -> np.ndarray:
    flat = np.frombuffer(pixels, np.uint8)
    side = int(len(flat) ** 0.5)
    return flat.reshape(side, side) / np.float32(255)
