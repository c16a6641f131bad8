"""Numbers and words of a run in lines and tables: each has an address, and is read back there."""

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


class Word(NamedTuple):
    """The label of a token as it is printed, and where the independent run has the token's id."""

    text: str
    run: str = ""
    address: str = ""


class Claim(NamedTuple):
    """Words of ours, and the address where the independent run has 1 if they hold."""

    text: str
    run: str
    address: str


Piece = str | Number | Word | Claim
Said = Piece | Sequence[Piece]  # a line or a cell; the words are plain text


def number(run: Compared, address: str, value: float, text: str = "", times: float = 1.0) -> Number:
    """A number of a run; without a text of its own, with four digits after the point."""
    key = "" if run.independent is None else run.key
    return Number(text or digits(times * value), float(value), key, address, times)


def word(run: Compared, address: str, label: str) -> Word:
    """A token's label: the text of the id at an address of a run."""
    return Word(label, "" if run.independent is None else run.key, address)


def claim(run: Compared, address: str, text: str) -> Claim:
    """Words of ours that are true where the array at an address of a run has 1."""
    return Claim(text, "" if run.independent is None else run.key, address)


def stated(run: Compared, address: str, place: Sequence[int], which: str = "max") -> list[Number]:
    """The numbers of a place, axis by axis, that is said to have the largest of an array.

    `which` is what `model.verify.stated` knows: max, min, size, max2.
    """
    at = f"{address}[{','.join(map(str, place))}]={which}"
    return [number(run, f"{at}.{axis}", i, str(i)) for axis, i in enumerate(place)]


def head(run: Compared, address: str, place: Sequence[int], which: str = "max") -> list[Piece]:
    """A head's name, as L2 H4, that is said to have the largest of an array of layers × heads."""
    layer, of_layer = stated(run, address, place, which)
    return ["L", layer, " H", of_layer]


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
    """Plain text as HTML, with its numbers and words."""
    return "".join(map(_html, _pieces(said)))


def text_of(said: Said) -> str:
    """The same as plain text."""
    return "".join(x if isinstance(x, str) else x.text for x in _pieces(said))


def _pieces(said: Said) -> Sequence[Piece]:
    return [said] if isinstance(said, str | Number | Word | Claim) else said


def _html(piece: Piece) -> str:
    if isinstance(piece, Number):
        return _number(piece)
    if isinstance(piece, Claim):
        return _claim(piece)
    return _word(piece) if isinstance(piece, Word) else html.escape(piece)


def _claim(item: Claim) -> str:
    return _read_back(item, "span", "claim") if item.run else html.escape(item.text)


def whole_text(item: Word) -> str:
    """A text as it stands, of all ids at its address together, as HTML."""
    return _read_back(item, "span", "text") if item.run else html.escape(item.text)


def _read_back(item: Word | Claim, tag: str, kind: str) -> str:
    """Words that the browser compares with what is at their address."""
    st.session_state.setdefault(PRINTED, []).append((item.text, item.run, item.address))
    at = f'data-run="{html.escape(item.run)}" data-{kind}="{html.escape(item.address)}"'
    return f"<{tag} {at}>{html.escape(item.text)}</{tag}>"


def _word(item: Word) -> str:
    if not item.run:
        return f"<bdi>{html.escape(item.text)}</bdi>"
    return _read_back(item, "bdi", "word")


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
