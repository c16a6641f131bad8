"""Controls whose settings live in the session and the URL; impossible ones are mended and said."""

import math
from collections.abc import Callable, Sequence
from typing import Literal, TypeVar
from urllib.parse import quote

import streamlit as st

from viz.say import notice

Option = TypeVar("Option")

LONGEST_IN_URL = 8_000  # servers and browsers refuse addresses much longer


def kept(
    key: str, default: Option, nearest: Callable[[object], tuple[Option, str | None]]
) -> Option:
    """A setting whose control is in the browser; it lives in the session and in the URL."""
    settle(key, default, nearest)
    return publish(key, st.session_state[key], default)


def kept_option(label: str, key: str, options: Sequence[Option], default: Option) -> Option:
    """One of several, set in the browser; an impossible value becomes the nearest, and says so."""
    return kept(key, default, lambda raw: _nearest_option(label, raw, options, default, str))


def kept_number(
    label: str, key: str, low: float, high: float, default: float, step: float
) -> float:
    """A number set in the browser; one outside, or between its steps, becomes the nearest."""

    def nearest(raw: object) -> tuple[float, str | None]:
        value, complaint = nearest_number(label, raw, low, high, default)
        on_step = round(round(value / step) * step, 10)
        if complaint is None and abs(on_step - value) > 1e-9:
            complaint = f"{label} {raw} is between steps of {step:g}; using {on_step:g}."
        return on_step, complaint

    return kept(key, default, nearest)


def choice(
    label: str,
    key: str,
    options: Sequence[Option],
    default: Option,
    name: Callable[[Option], str] = str,
    width: int | Literal["stretch"] = "stretch",
) -> Option:
    """A selectbox that lives in the URL; an impossible value becomes the nearest, and says so."""
    settle(key, default, lambda raw: _nearest_option(label, raw, options, default, name))
    value = st.selectbox(
        label, options, key=key, format_func=name, persist_state="session", width=width
    )
    return publish(key, value, default)


def segments(label: str, key: str, names: dict[str, str], default: str) -> str:
    """A row of buttons that lives in the URL, one of them pressed; `names` are what they say."""
    options = list(names)
    settle(key, default, lambda raw: _nearest_option(label, raw, options, default, names.get))
    value = st.segmented_control(
        label,
        options,
        default=st.session_state[key],
        required=True,
        key=key,
        persist_state="session",
        format_func=names.get,
        label_visibility="collapsed",
    )
    return publish(key, value, default)


def several(label: str, key: str, options: range, default: Sequence[int], most: int) -> list[int]:
    """Some of many numbers, in the URL as 0-20-50; those that do not exist are let go, and said."""

    def nearest(raw: object) -> tuple[str, str | None]:
        words = [word for word in str(raw).split("-") if word]
        found = {word: _number(word) for word in words}
        good = dict.fromkeys(int(x) for x in found.values() if x in options)
        lost = [word for word, number in found.items() if number not in options]
        too_many = list(map(str, good))[most:]
        complaint = f"{label} {', '.join(lost + too_many)[:60]} cannot be shown here."
        kept = "-".join(map(str, list(good)[:most]))
        return kept, complaint if lost + too_many else None

    def keep() -> None:
        st.session_state[key] = "-".join(map(str, st.session_state[widget]))

    usual, widget = "-".join(map(str, default)), f"{key}_shown"
    settle(key, usual, nearest)
    st.session_state[widget] = [int(word) for word in st.session_state[key].split("-") if word]
    chosen = st.multiselect(label, options, key=widget, max_selections=most, on_change=keep)
    publish(key, st.session_state[key], usual)
    return chosen


def steps(
    label: str, key: str, options: Sequence[int], default: int, name: Callable[[int], str]
) -> int:
    """A slider over given values that lives in the URL; others become the nearest one."""
    settle(key, default, lambda raw: _nearest_option(label, raw, options, default, name))
    value = st.select_slider(label, options, key=key, format_func=name, persist_state="session")
    return publish(key, value, default)


def slider(label: str, key: str, low: float, high: float, default: float, step: float) -> float:
    """A slider that lives in the URL; a value outside becomes the nearest one, and says so."""
    settle(key, default, lambda raw: nearest_number(label, raw, low, high, default))
    value = st.slider(label, low, high, step=step, key=key, persist_state="session")
    return publish(key, value, default)


def number(label: str, key: str, low: int, high: int, default: int) -> int:
    """A whole number that lives in the URL; one outside becomes the nearest, and says so."""
    settle(key, default, lambda raw: nearest_number(label, raw, low, high, default))
    value = st.number_input(label, low, high, key=key, persist_state="session", width=130)
    return publish(key, value, default)


def text(label: str, key: str, default: str) -> str:
    """A line of text that lives in the URL."""
    settle(key, default, lambda raw: (str(raw), None))
    value = st.text_input(label, key=key, persist_state="session", live="400ms")
    return publish(key, value, default)


def settle(
    key: str, default: object, nearest: Callable[[object], tuple[object, str | None]]
) -> None:
    """Give a control its value before it is drawn: the session's, else the URL's, else the default.

    What is not possible (any more) becomes the nearest that is, and a line says so. Streamlit's own
    binding to the URL drops such values without a word, and forgets controls of other pages.
    """
    held = key in st.session_state
    raw = st.session_state[key] if held else st.query_params.get(key)
    value, complaint = (default, None) if raw is None else nearest(raw)
    if complaint:
        complain(complaint)
    if not held or value != raw:
        st.session_state[key] = value


def complain(text: str) -> None:
    """Keep a line about a setting until `show_complaints`, so that controls stay in their row."""
    st.session_state.setdefault("complaints", []).append(text)


def show_complaints() -> None:
    """Say, once, what was mended since the last time."""
    for text in dict.fromkeys(st.session_state.pop("complaints", [])):
        st.session_state.setdefault("said", []).append(text)
        notice(text)


def repeat_complaints() -> None:
    """Say them again when the page is drawn again though nobody asked for anything."""
    st.session_state.setdefault("complaints", []).extend(st.session_state.get("said", []))


def publish(key: str, value: Option, default: Option) -> Option:
    """Write a control's value into the URL, or take it out when it is the default."""
    if value == default:
        st.query_params.pop(key, None)
    elif len(quote(str(value))) > LONGEST_IN_URL:
        st.query_params.pop(key, None)
        complain(f"Too long for the address: {key}. A copied link opens without it.")
    elif st.query_params.get(key) != str(value):
        st.query_params[key] = str(value)
    return value


def _nearest_option(
    label: str,
    raw: object,
    options: Sequence[Option],
    default: Option,
    name: Callable[[Option], str],
) -> tuple[Option, str | None]:
    if raw in options:
        return raw, None
    for option in options:
        if str(raw) in (str(option), name(option)):
            return option, None
    value, wanted = default, _number(str(raw).lstrip("LH"))
    if wanted is not None and isinstance(default, int):
        within = min(max(wanted, min(options)), max(options))  # an infinity has no nearest
        value = min(options, key=lambda option: abs(option - within))
    return value, f"{label} {_shown(raw)} does not exist here; showing {name(value)}."


def nearest_number(
    label: str, raw: object, low: float, high: float, default: float
) -> tuple[float, str | None]:
    """A number within bounds, the default for what is none, and a line about what was mended."""
    wanted = _number(raw)
    if wanted is None:
        return default, f"{label} {_shown(raw)} is no number; using {_plain(default)}."
    value = type(default)(min(max(wanted, low), high))
    if value != wanted and low <= wanted <= high:
        return value, f"{label} {raw} is no whole number; using {_plain(value)}."
    if value != wanted:
        range_ = f"{_plain(low)} to {_plain(high)}"
        return value, f"{label} {raw} is outside {range_}; using {_plain(value)}."
    return value, None


def _shown(raw: object) -> str:
    """What a person gave, as it is named in a line."""
    return str(raw).strip() or "(empty)"


def _plain(number: float) -> str:
    """A number as people write it."""
    return f"{number:,}" if isinstance(number, int) else f"{number:g}"


def _number(raw: object) -> float | None:
    try:
        value = float(str(raw))
    except ValueError:
        return None
    return None if math.isnan(value) else value
