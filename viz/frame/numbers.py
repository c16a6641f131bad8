"""Numbers of a run in lines and tables: each carries its address, and the browser reads it back."""

import html
import math
from collections.abc import Sequence
from typing import NamedTuple

import streamlit as st

from viz.digits import digits
from viz.figures.cache import UNITS, bytes_text
from viz.runs import Compared

PRINTED = "numbers-printed"  # those on the page, for who tells one drawing of it from another


class Number(NamedTuple):
    """A number of a run as it is printed, and where the independent run has it.

    `value` is what the text was made of; the text says that many times it, as 100 for per cent.
    """

    text: str
    value: float
    run: str
    address: str
    times: float = 1.0


Said = str | Number | Sequence[str | Number]  # a line or a cell; the words are plain text


def number(run: Compared, address: str, value: float, text: str = "", times: float = 1.0) -> Number:
    """A number of a run; without a text of its own, with four digits after the point."""
    key = "" if run.independent is None else run.key
    return Number(text or digits(times * value), float(value), key, address, times)


def per_cent(run: Compared, address: str, value: float) -> Number:
    """A share of one in per cent, without the sign."""
    return number(run, address, value, digits(100 * value, 1), times=100.0)


def size(run: Compared, address: str, n_bytes: int) -> Said:
    """Bytes as people write them, with their address."""
    text, unit = bytes_text(n_bytes).split(" ")
    times = 1000.0 ** -UNITS.index(unit)
    return [number(run, address, n_bytes, text.replace(",", ""), times), f" {unit}"]


def count(run: Compared, address: str, n: int) -> Number:
    """A whole number to the unit."""
    return number(run, address, n, f"{n:,}")


def begin() -> None:
    """A page begins: nothing is printed yet."""
    st.session_state[PRINTED] = []


def printed() -> list[tuple[str, str, str]]:
    """Text, run and address of all numbers of the page."""
    return st.session_state.get(PRINTED, [])


def html_of(said: Said) -> str:
    """Plain text as HTML, with its numbers."""
    parts = [said] if isinstance(said, str | Number) else said
    return "".join(_number(x) if isinstance(x, Number) else html.escape(x) for x in parts)


def text_of(said: Said) -> str:
    """The same as plain text."""
    parts = [said] if isinstance(said, str | Number) else said
    return "".join(x.text if isinstance(x, Number) else x for x in parts)


def _number(item: Number) -> str:
    if not item.run:
        return html.escape(item.text)
    st.session_state.setdefault(PRINTED, []).append((item.text, item.run, item.address))
    value = f"{item.value!r}" if math.isfinite(item.value) else ""
    return (
        f'<span class="hl-number" tabindex="0" data-run="{html.escape(item.run)}" '
        f'data-address="{html.escape(item.address)}" data-value="{value}" '
        f'data-times="{item.times!r}">{html.escape(item.text)}</span>'
    )
