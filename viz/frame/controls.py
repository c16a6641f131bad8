"""Widgets bound to settings: each shows its setting's value and gives back the chosen one."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeVar

import streamlit as st

from viz.frame import memory, state
from viz.frame.kinds import Choice, Flag, Group, Number, Numbers, Setting, Text
from viz.frame.settings import TOKEN
from viz.frame.view import View
from viz.inside_streamlit import unbroken
from viz.kit.parts.pickers import Picker, pickers_part
from viz.kit.wire import Option, Settings
from viz.labels import token_labels
from viz.live import component

Value = TypeVar("Value")
Width = int | Literal["stretch"]


def _bound(setting: Setting[Value], widget: Callable[..., object], **about: Any) -> Value:  # noqa: ANN401
    """A widget of Streamlit that holds the setting: its value is what the widget is set to."""
    state.settle(setting)
    widget(setting.label, key=setting.name, persist_state="session", **about)
    return state.publish(setting)


def select(setting: Choice[Value], width: Width = "stretch") -> Value:
    """A list to choose from."""
    about: dict[str, Any] = {"options": setting.options, "format_func": setting.words}
    state.settle(setting)
    # Set again, it is shown as its option is called now: the token at a place is another's word.
    st.session_state[setting.name] = st.session_state[setting.name]
    return _bound(setting, st.selectbox, width=width, **about)


def picker(setting: Choice[Value], shown: Value | None = None) -> Picker:
    """A list of a choice's options, as `pickers` shows it; `shown` in the place of its value."""
    options = [Option(setting.text(value), setting.words(value)) for value in setting.options]
    chosen = state.value(setting) if shown is None else shown
    return Picker(setting.name, setting.label, options, setting.text(chosen))


def pickers(key: str, *lists: Picker, on_change: Callable[[Settings], None]) -> None:
    """Lists side by side; `on_change` gets what a person chose, by the names of settings."""
    component.show_small(key, pickers_part(lists), on_change=on_change)


def segments(setting: Choice[str], *, has_label: bool = False) -> str:
    """A row of buttons, one of them pressed."""
    return _bound(
        setting,
        st.segmented_control,
        options=setting.options,
        format_func=setting.words,
        default=state.value(setting),
        required=True,
        label_visibility="visible" if has_label else "collapsed",
    )


def flag(setting: Flag) -> bool:
    """A switch."""
    return _bound(setting, st.toggle)


def steps(setting: Choice[int]) -> int:
    """A slider over given values."""
    about: dict[str, Any] = {"options": setting.options, "format_func": setting.words}
    return _bound(setting, st.select_slider, **about)


def listed(
    label: str,
    options: Mapping[Value, str],
    chosen: Value | None,
    on_choice: Callable[[Any], None],
    *,
    placeholder: str,
    takes_new: bool = False,
) -> None:
    """A list of what options are called; `on_choice` gets what is chosen, None for none.

    What is typed and is no option it gets as text.
    """
    shown = f"{label}_listed"
    st.session_state[shown] = chosen
    st.selectbox(
        label,
        list(options),
        index=None,
        format_func=lambda value: options.get(value, value),
        key=shown,
        on_change=unbroken(lambda: on_choice(st.session_state[shown])),
        placeholder=placeholder,
        accept_new_options=takes_new,
        disabled=not options,
        width=220,
    )


def number(setting: Number, *, is_off: bool = False) -> int:
    """A whole number to type; one that changes nothing now is off."""
    about = {"min_value": int(setting.low), "max_value": int(setting.high), "width": 130}
    return int(_given(_bound(setting, st.number_input, disabled=is_off, **about)))


def maybe(setting: Number) -> int | None:
    """A whole number to type, or none."""
    about = {"min_value": int(setting.low), "max_value": int(setting.high), "width": 130}
    number = _bound(setting, st.number_input, value=None, placeholder="choose one", **about)
    return None if number is None else int(number)


def _given(number: float | None) -> float:
    assert number is not None  # these widgets have a number always
    return number


def slider(setting: Number) -> float:
    """A slider from the lowest to the highest number."""
    about = {"min_value": setting.low, "max_value": setting.high, "step": setting.step}
    return _given(_bound(setting, st.slider, **about))


def text(setting: Text, placeholder: str | None = None) -> str:
    """A line of text, taken over while it is typed."""
    return _bound(setting, st.text_input, live="400ms", placeholder=placeholder)


def several(setting: Numbers) -> tuple[int, ...]:
    """Some of many numbers.

    The widget has a key of its own, since Streamlit keeps a list where the setting has a tuple.
    """
    shown = f"{setting.name}_shown"
    chosen = state.value(setting)
    st.session_state[shown] = list(chosen)
    st.multiselect(
        setting.label,
        setting.options,
        key=shown,
        max_selections=setting.most,
        on_change=unbroken(lambda: state.put((setting, st.session_state[shown]))),
    )
    return chosen


def some(setting: Text, options: Sequence[str]) -> list[str]:
    """Some of several names, which the setting has a line each; by default none."""
    shown = f"{setting.name}_shown"
    chosen = [name for name in state.value(setting).splitlines() if name in options]
    st.session_state[shown] = chosen
    st.multiselect(
        setting.label,
        options,
        key=shown,
        placeholder="none",
        on_change=unbroken(lambda: state.put((setting, "\n".join(st.session_state[shown])))),
    )
    return chosen


def parts(setting: Group) -> tuple[Any, ...]:
    """The parts of a group: a list for a choice, a slider where there are steps, else a number.

    Their widgets are set to what the group is: none of them has a value of its own.
    """
    chosen = state.value(setting)

    def take_over() -> None:
        state.put((setting, [st.session_state[part.name] for part in setting.parts]))

    for part, value in zip(setting.parts, chosen, strict=True):
        st.session_state[part.name] = value
        about: dict[str, Any] = {"key": part.name, "on_change": unbroken(take_over)}
        if isinstance(part, Choice):
            st.selectbox(part.label, part.options, format_func=part.words, width=330, **about)
        elif isinstance(part, Number) and part.step is not None:
            st.slider(part.label, part.low, part.high, step=part.step, **about)
        elif isinstance(part, Number):
            st.number_input(part.label, int(part.low), int(part.high), width=130, **about)
    return chosen


def button(
    key: str,
    meaning: str,
    label: str,
    icon: str,
    *,
    primary: bool = False,
    disabled: bool = False,
) -> None:
    """A button whose press is noted as its meaning; see `memory.pressed`."""
    st.button(
        label,
        icon=f":material/{icon}:",
        type="primary" if primary else "secondary",
        disabled=disabled,
        on_click=unbroken(memory.press),
        args=(key, meaning),
    )


def token(setting: Choice[int], tokens: Sequence[str], default: int, name: str) -> int:
    """One of the tokens; `default` and its name may change with the sentence."""
    labels = token_labels(tokens)

    def words(i: int) -> str:
        return f"{name}: {labels[default]}" if i < 0 else f"{i}: {labels[i]}"

    # −1, the default, stays what its name says however the sentence changes.
    chosen = select(setting.given(options=range(-1, len(labels)), words=words), width=220)
    return default if chosen < 0 else chosen


def position(view: View) -> int:
    """The position whose next token is predicted."""
    return token(TOKEN.given(label="After token"), view.tokens, len(view.tokens) - 1, "last")
