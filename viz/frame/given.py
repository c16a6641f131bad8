"""What a person gives the model: a sentence, a source or a picture; one of them, or two to compare.

Of two, a value of one may stand in for that of the other.
"""

import io
from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
import streamlit as st
from PIL import Image

from model.analysis.patching import check_tokens
from model.analysis.question import Both, both
from model.data.images import Images, read_part
from model.data.tokenizer import MASK
from model.given import Ids, Input, Typed, as_input, rows_of, words_of
from model.sources.handle import ModelHandle
from viz import runs
from viz.frame import ASSETS, blanks, box, controls, notices, state
from viz.frame import translating as written_as
from viz.frame.box import Box
from viz.frame.examples import examples
from viz.frame.kinds import Text
from viz.frame.settings import DIGIT, DRAWING, SENTENCE, SOURCE, TOKEN
from viz.frame.view import View
from viz.labels import clipped, token_labels
from viz.runs import Run, patching, translating
from viz.runs import blanks as blanked

Strings = tuple[str, ...]
LONGEST = 60  # characters of what two translations share


@dataclass(frozen=True)
class One:
    """An input as it is run, and the position whose answer is asked.

    `labels` has what stands in each stack's row, by the name of the stack; `hidden` the places that
    are blank.
    """

    given: Input
    position: int
    labels: Mapping[str, Strings]
    hidden: tuple[int, ...] = ()


@dataclass(frozen=True)
class Two:
    """Both inputs, and in words where their answers are asked.

    `labels` has the strings of both, row by row, by the name of the stack they go into.
    """

    inputs: Both
    place: str
    labels: Mapping[str, tuple[Strings, Strings]]


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


def _run_text(handle: ModelHandle, given: Typed, page: str) -> Run:
    return runs.run(handle, given)


def _run_hiding(handle: ModelHandle, given: Typed, page: str) -> Run:
    return blanks.run(handle, words_of(given), page)


def _run_translation(handle: ModelHandle, given: Typed, page: str) -> Run:
    """A source with the target that was written for it, as chosen."""
    text = words_of(given)
    return runs.run_translation(handle, text, written_as.written(handle, text).ids)


def _no_text() -> Box:
    """In the place of the sentence box the picture itself, as the model gets it."""
    image = io.BytesIO()
    Image.fromarray(np.frombuffer(picture(), np.uint8).reshape(28, 28)).save(image, "PNG")
    source = f"data:image/png;base64,{b64encode(image.getvalue()).decode()}"
    with st.container(key="sentence"):
        st.html(f'<img class="hl-given-picture" alt="The picture the model gets" src="{source}">')
    return Box("", False, st.empty(), st.empty())


def _run_picture(handle: ModelHandle, given: Typed, page: str) -> Run:
    return runs.run_picture(handle, picture())


# --- a decoder's: what comes after the last token -----------------------------------------------


def _text(view: View) -> One:
    return One(view.ids, len(view.ids) - 1, {"decoder": tuple(token_labels(view.tokens))})


def _text_ids(view: View, text: Typed) -> Ids:
    return _within(patching.ids_of(view.handle, text), view.config.max_seq_len)


def _texts(view: View, second: Ids) -> Two:
    strings = runs.tokenizer(view.handle).token_strings
    labels = {"decoder": (view.tokens, strings(second))}
    return Two(both(view.ids, second, strings), "after the last token", labels)


def _likely_next(view: View, place: int) -> np.ndarray | None:
    return view.run.trace.logits[place - 1] if place else None


# --- an encoder's: what stands in a blank, the first that is hidden until another is chosen -----


def _blank(view: View) -> One:
    tokens = blanked.tokens_of(view.handle, view.sentence)
    hidden = _hidden(view)
    first = (hidden or blanks.first_blank(tokens))[0]
    place = controls.token(TOKEN.given(label="Blank"), tokens, first, "hidden")
    hidden = hidden if place in hidden else (place,)
    ids = _hiding(view, blanked.ids_of(view.handle, view.sentence), hidden)
    labels = tuple(token_labels(runs.tokenizer(view.handle).token_strings(ids)))
    return One(ids, place, {"encoder": labels}, hidden)


def _blank_ids(view: View, text: Typed) -> Ids:
    return blanked.ids_of(view.handle, words_of(text))


def _both_blank(view: View, second: Ids) -> Two:
    strings, hidden = runs.tokenizer(view.handle).token_strings, _hidden(view)
    texts = (_blank_ids(view, view.given), second)
    check_tokens(*map(strings, texts))
    one, two = (_hiding(view, ids, hidden) for ids in texts)
    place = f"in place of {MASK}, token {hidden[0]}"
    return Two(Both(one, two, hidden[0]), place, {"encoder": (strings(one), strings(two))})


def _hidden(view: View) -> tuple[int, ...]:
    return state.value(blanks.setting(view.handle, view.sentence, has_default=True))


def _likely_here(view: View, place: int) -> np.ndarray | None:
    """Of the token itself, when it is hidden."""
    if "blanks" not in view.offers:
        return None
    return patching.logits_of(view.handle, _hiding(view, view.ids, (place,)), place)


def _hiding(view: View, ids: Ids, hidden: tuple[int, ...]) -> Ids:
    hiding = runs.tokenizer(view.handle).id_of(MASK)
    return tuple(hiding if place in hidden else i for place, i in enumerate(ids))


# --- a translation's: the German token after one of those that are there --------------------------


def _target(view: View) -> One:
    source, target = rows_of(as_input(view.run.trace.given))
    rows = [stream.labels for stream in view.run.trace.streams]
    setting = TOKEN.given(label="After German token")
    place = controls.token(setting, rows[1], len(target) // 2, "middle")
    first, second = (tuple(token_labels(row)) for row in (rows[0], rows[1][: place + 1]))
    return One((source, target[: place + 1]), place, {"encoder": first, "decoder": second})


def _source_ids(view: View, text: Typed) -> Ids:
    return translating.source_ids(view.handle, words_of(text))


def _sources(view: View, second: Ids) -> Two:
    """The token at which both translations part, after what they share."""
    tokenizer = runs.tokenizer(view.handle)
    first, own = rows_of(as_input(view.run.trace.given))
    theirs = (own[0], *translating.written_of(view.handle, second, translating.Way()).ids)
    if own[: len(theirs)] == theirs[: len(own)]:  # nowhere do they part
        own = theirs = own[:1]
    inputs = both((first, own), (second, theirs), tokenizer.token_strings)
    target = rows_of(inputs.first)[1]
    german = tokenizer.token_strings(target)
    sides = tokenizer.token_strings(first), tokenizer.token_strings(second)
    shared = clipped(tokenizer.decode(list(target[1:])).strip(), LONGEST)
    place = f"after “{shared}”" if shared else "for the first German token"
    return Two(inputs, place, {"encoder": sides, "decoder": (german, german)})


# --- a picture's: its class, which the class token says -------------------------------------------


def _picture(view: View) -> One:
    return One(as_input(view.run.trace.given), 0, {"encoder": tuple(view.tokens)})


def _pictures(view: View, second: Ids) -> Two:
    """The other is a digit of the test set, by its number there."""
    shipped = np.ascontiguousarray(shipped_digits().images[second[0]])
    other = runs.run_picture(view.handle, shipped.tobytes()).trace
    inputs = Both(as_input(view.run.trace.given), as_input(other.given), 0)
    return Two(inputs, "of the picture", {"encoder": (view.tokens, view.tokens)})


# --- all of them ----------------------------------------------------------------------------------


class Kind(NamedTuple):
    """How an architecture is given its input.

    `text` is what a person types, if anything; `run` runs a model on it, for the page of a title.
    `one` and `two` are what experiments are made on, `readings` how a text may be read. Of a second
    text `read` gives the ids, `likely` what could stand at a place of the first, (V,), where the
    model says that; `hidden` are places that both have blank.
    """

    text: Text | None
    run: Callable[[ModelHandle, Typed, str], Run]
    one: Callable[[View], One]
    two: Callable[[View, Ids], Two]
    read: Callable[[View, Typed], Ids] = _text_ids
    likely: Callable[[View, int], np.ndarray | None] = lambda view, place: None
    hidden: Callable[[View], tuple[int, ...]] = lambda view: ()
    readings: tuple[str, ...] = ("text",)

    @property
    def is_text_alone(self) -> bool:
        """Whether a run depends on nothing but the text."""
        return self.run is _run_text


OWN_SENTENCE = SENTENCE.given(default=examples()[0].sentence)
KINDS: Mapping[str, Kind] = {
    "decoder": Kind(
        OWN_SENTENCE,
        _run_text,
        _text,
        _texts,
        likely=_likely_next,
        readings=("text", "markup"),
    ),
    "encoder": Kind(
        OWN_SENTENCE,
        _run_hiding,
        _blank,
        _both_blank,
        _blank_ids,
        _likely_here,
        _hidden,
    ),
    "encoder_decoder": Kind(SOURCE, _run_translation, _target, _sources, _source_ids),
    "vision": Kind(None, _run_picture, _picture, _pictures),
}


def kind_of(architecture: str) -> Kind:
    """How the input of an architecture is given; a sentence where it is not known."""
    return KINDS.get(architecture, KINDS["decoder"])


def kind_on(view: View) -> Kind:
    """How what is on screen was given."""
    return kind_of(view.run.trace.facts.architecture)


def draw(kind: Kind, model: str, has_caret: bool) -> Box:
    """What a person types in, with the keyboard in it if asked."""
    if kind.text is None:
        return _no_text()
    return box.draw(kind.text, kind.readings, model, has_caret)


def _within(ids: Ids, context: int) -> Ids:
    """The tokens of the second sentence, cut to the context."""
    if len(ids) > context:
        notices.add(f"The last {len(ids) - context} tokens of the second sentence are cut.")
    return ids[:context]
