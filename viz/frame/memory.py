"""What one visitor's session keeps beside settings: results of long work, presses."""

from typing import Any

import streamlit as st


def remember(key: str, made_with: object, result: object) -> None:
    """Keep a result of long work for as long as what it was made with stays the same."""
    st.session_state[f"remembered-{key}"] = (made_with, result)


def remembered(key: str, made_with: object) -> Any:  # noqa: ANN401  who kept it knows its type
    """What was kept that was made with the same, or None."""
    kept_with, result = last(key)
    return result if kept_with == made_with else None


def last(key: str) -> tuple[Any, Any]:
    """What was kept last was made with, and the result; None for both where nothing was."""
    return st.session_state.get(f"remembered-{key}", (None, None))


def press(key: str, meaning: str) -> None:
    """Note which button was pressed, from its callback.

    A run that is cut short by the next one would lose what `st.button` gives back.
    """
    st.session_state[f"pressed-{key}"] = meaning


def pressed(key: str) -> str | None:
    """The button noted since the last time this was asked."""
    return st.session_state.pop(f"pressed-{key}", None)


def keep_choices(key: str, changes: dict[str, object]) -> None:
    """Keep what was chosen inside an instrument and makes no sense in a link."""
    st.session_state[f"choices-{key}"] = st.session_state.get(f"choices-{key}", {}) | changes


def choices(key: str, defaults: dict[str, object]) -> dict[str, object]:
    """What was chosen inside an instrument, and the defaults of the rest."""
    return defaults | st.session_state.get(f"choices-{key}", {})
