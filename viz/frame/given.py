"""What a person gives the model, by its architecture: a sentence, a source or a picture."""

import io
from base64 import b64encode
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
import streamlit as st
from PIL import Image
from streamlit.delta_generator import DeltaGenerator

from model.data.images import Images, read_part
from model.sources.handle import ModelHandle
from viz import runs
from viz.frame import ASSETS, blanks, notices, state, translating
from viz.frame.examples import examples
from viz.frame.kinds import Text
from viz.frame.settings import DIGIT, DRAWING, SENTENCE, SOURCE
from viz.live import component
from viz.live.sentence_box.data import sentence_data
from viz.runs import Run


class Typed(NamedTuple):
    """What stands in the bar: the text, what stands in for none, and the place of a count."""

    text: str
    default: str
    place: DeltaGenerator

    @property
    def has_text(self) -> bool:
        """Whether there is anything but space."""
        return bool(self.text.strip())

    @property
    def sentence(self) -> str:
        """What the model runs on."""
        return self.text if self.has_text else self.default


class Ask(NamedTuple):
    """How an architecture is given its input.

    `draw` draws what a person types in, with the keyboard in it if asked; `run` runs a model on
    the sentence, for the page of a title.
    """

    draw: Callable[[bool], Typed]
    run: Callable[[ModelHandle, str, str], Run]


@cache
def shipped_digits() -> Images:
    """The test digits that come with the app, (N, 28, 28)."""
    return read_part(ASSETS / "digits.npz", "test")


def picture() -> bytes:
    """The picture that was drawn or else the chosen test digit, 28 · 28 bytes row by row."""
    drawn = DRAWING.pixels(state.value(DRAWING))
    if drawn is not None:
        return drawn
    digits = shipped_digits()
    row = int(state.number(DIGIT.given(high=len(digits.labels) - 1)))
    return np.ascontiguousarray(digits.images[row]).tobytes()


def _sentence_box(setting: Text, has_caret: bool) -> Typed:
    text = state.value(setting)
    name = setting.name

    def take_over(changes: dict[str, object]) -> None:
        state.take_over(
            {name if key == SENTENCE.name else key: raw for key, raw in changes.items()}
        )

    with st.container(key="sentence"):
        data = sentence_data(text, has_caret=has_caret, label=setting.label)
        component.show_control(f"{name}-box", data, on_change=take_over)
        count = st.empty()
    if not text.strip():
        notices.add("Type a sentence to see it here. Until then, this is the example.")
    return Typed(text, setting.default, count)


OWN_SENTENCE = SENTENCE.given(default=examples()[0].sentence)


def _sentence(has_caret: bool) -> Typed:
    return _sentence_box(OWN_SENTENCE, has_caret)


def _source(has_caret: bool) -> Typed:
    return _sentence_box(SOURCE, has_caret)


def _run_text(handle: ModelHandle, text: str, page: str) -> Run:
    return runs.run(handle, text)


def _run_translation(handle: ModelHandle, text: str, page: str) -> Run:
    """A source with the target that was written for it, as chosen."""
    return runs.run_translation(handle, text, translating.written(handle, text).ids)


def _no_text(has_caret: bool) -> Typed:
    """In the place of the sentence box the picture itself, as the model gets it."""
    image = io.BytesIO()
    Image.fromarray(np.frombuffer(picture(), np.uint8).reshape(28, 28)).save(image, "PNG")
    source = f"data:image/png;base64,{b64encode(image.getvalue()).decode()}"
    with st.container(key="sentence"):
        st.html(f'<img class="hl-given-picture" alt="The picture the model gets" src="{source}">')
    return Typed("", "", st.empty())


def _run_picture(handle: ModelHandle, text: str, page: str) -> Run:
    return runs.run_picture(handle, picture())


OF_TEXT = Ask(_sentence, _run_text)
ASKS: dict[str, Ask] = {
    "encoder": Ask(_sentence, blanks.run),
    "encoder_decoder": Ask(_source, _run_translation),
    "vision": Ask(_no_text, _run_picture),
}


def ask_of(architecture: str) -> Ask:
    """How to ask for the input of an architecture; a sentence where it is not known."""
    return ASKS.get(architecture, OF_TEXT)
