"""The box in which a person types: a text, read as it is or with its special tokens, or a chat."""

from functools import partial
from typing import NamedTuple

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from model.given import Chat, Markup, Turn, Typed, words_of
from model.sources.handle import ModelHandle
from viz import runs
from viz.frame import ahead, notices, state, words
from viz.frame.kinds import Text
from viz.frame.settings import BEFORE, BEGUN, DEVICE, READ, SENTENCE, SYSTEM
from viz.frame.view import View
from viz.kit.parts.sentence_box import Said, sentence_part
from viz.kit.wire import Option, Settings
from viz.live import component

QUESTION = "What is the capital of France?"  # until another is asked, in a chat
NO_TEXT = "…"  # an answer of special tokens alone, or of a model that cannot be opened
OF_A_CHAT = (SYSTEM, BEFORE, BEGUN)


class Box(NamedTuple):
    """What stands in the bar: what the model is given, and whether it was typed.

    `place` is for a count, `below` for what there is to say of the text. `readings` are the ways
    in which it can be read, `setting` what the text is called and how long it may be.
    """

    given: Typed
    has_text: bool
    place: DeltaGenerator
    below: DeltaGenerator
    readings: tuple[str, ...] = ()
    setting: Text = SENTENCE


def draw(setting: Text, readings: tuple[str, ...], model: str, has_caret: bool) -> Box:
    """The box of a model, with the keyboard in it if asked; a chat is for those with a template."""
    if reads_chats := "markup" in readings and runs.reads_chats(model):
        setting, readings = setting.given(default=QUESTION), ("chat", *readings)
    text = state.value(setting)
    read = state.value(READ.given(options=readings, default=readings[0]))
    given = _given(text if text.strip() else setting.default, read, model)
    ways = [Option(name, name) for name in ("chat", "text")] if reads_chats else []
    before = [[*turn] for turn in state.value(BEFORE)]
    begun = given.answer if isinstance(given, Chat) else ()
    said = Said(text, read, state.value(SYSTEM), before, begun)
    part = sentence_part(
        said,
        has_caret=has_caret,
        label=setting.label,
        ways=ways,
        answer=_answer(given, model),
        ahead=ahead.of_visitor(),
    )
    with st.container(key="sentence"):
        take_over = partial(_take_over, setting.name)
        component.show_small(f"{setting.name}-box", part, on_change=take_over)
        count, below = st.empty(), st.empty()
    if not text.strip():
        notices.add("Type a sentence to see it here. Until then, this is the example.")
    if read != "chat":
        for one in OF_A_CHAT:
            state.leave_out(one)
    return Box(given, bool(text.strip()), count, below, readings, setting)


def _given(text: str, read: str, model: str) -> Typed:
    if read == "markup":
        return Markup(text)
    if read == "text":
        return text
    system = state.value(SYSTEM)
    first = [Turn("system", system)] if system.strip() else []
    turns = (*first, *state.value(BEFORE), Turn("user", text))
    state.only_for(_owner(model, turns), BEGUN)
    return Chat(turns, state.value(BEGUN))


def _owner(model: str, turns: tuple[Turn, ...]) -> tuple[object, ...]:
    """What a begun answer belongs to."""
    return model, *turns


def _answer(given: Typed, model: str) -> str:
    """The answer so far; it has begun only where the model was open."""
    if not isinstance(given, Chat) or not given.answer:
        return ""
    devices = runs.device_names()
    device = state.value(DEVICE.given(options=devices, default=devices[0]))
    try:
        return runs.decode(runs.handle_of(model, device), given.answer) or NO_TEXT
    except ValueError:
        return NO_TEXT  # what is wrong is said once the box stands


def _take_over(name: str, changes: Settings) -> None:
    """Keep what was typed, whatever the setting of the text is called."""
    state.take_over({name if key == SENTENCE.name else key: raw for key, raw in changes.items()})


def go_on(view: View, given: Typed) -> None:
    """Have the box say what is given from now on: what was given before, and a token more."""
    if isinstance(given, Chat):
        state.put((BEGUN, given.answer), chosen_for=_owner(view.model, given.turns))
    else:
        state.put((SENTENCE, words_of(given)))


def address_of(given: Typed) -> dict[str, str]:
    """What an address says to give the same again."""
    said = {SENTENCE: words_of(given), READ: "text"}
    if isinstance(given, Markup):
        said[READ] = "markup"
    elif isinstance(given, Chat):
        *before, _ = given.turns
        system = "".join(turn.text for turn in before if turn.role == "system")
        turns = tuple(turn for turn in before if turn.role != "system")
        said |= {READ: "chat", SYSTEM: system, BEFORE: BEFORE.text(turns)}
        said[BEGUN] = BEGUN.text(given.answer)
    return {setting.name: text for setting, text in said.items() if text}


def say_what_was_left_out(given: Chat, handle: ModelHandle) -> None:
    """Of turns that the template did not write as they were typed, a line."""
    lost = runs.tokenizer(handle).lost_turns(given)
    if lost:
        roles = " and ".join(dict.fromkeys(turn.role for turn in lost))
        words.notice(
            f"The chat template leaves out or rewrites what the {roles} says in {len(lost)} of "
            f"{len(given.turns)} turns: look at the tokens for what the model is given."
        )


def _typed(given: Typed) -> str:
    """All that a person typed."""
    turns = given.turns if isinstance(given, Chat) else [Turn("user", words_of(given))]
    return "\n".join(turn.text for turn in turns)


def say_what_is_markup(box: Box, handle: ModelHandle) -> None:
    """Of special tokens that a text spells, how they are read, and the other way to read them."""
    if "markup" not in box.readings:
        return
    spelled = runs.tokenizer(handle).spelled_specials(_typed(box.given))
    if not spelled:
        return
    is_markup = isinstance(box.given, Markup)
    names = ", ".join(f"“{name}”" for name in spelled[:3]) + ", …" * (len(spelled) > 3)
    one = "the one token it names" if len(spelled) == 1 else "the tokens they name"
    verb = "is" if len(spelled) == 1 else "are"
    with box.below.container(horizontal=True, vertical_alignment="center", key="markup"):
        words.caption([f"{names} {verb} read as {one if is_markup else 'text'}."])
        if isinstance(box.given, Chat):  # whose template alone writes the tokens
            return
        label = f"Read {'it' if len(spelled) == 1 else 'them'} as {'text' if is_markup else one}"
        other = "text" if is_markup else "markup"
        st.button(label, type="tertiary", on_click=lambda: state.put((READ, other)))
