"""The symbols of the app's formulas: what each means, its shape, and which ones a formula has.

They are rows of assets/symbols.toml. The symbols of a formula are read from its LaTeX: letters and
words, with what stands below them where the two together are a symbol, as in d_head.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import streamlit as st

from viz.frame import ASSETS
from viz.frame.view import View

# What only sets a formula, and what every reader of formulas knows.
ELEMENTARY = {
    *(r"\big", r"\Big", r"\bigg", r"\bigl", r"\bigr", r"\Bigl", r"\Bigr", r"\left", r"\right"),
    r"\allowbreak",
    *(r"\frac", r"\tfrac", r"\sqrt", r"\underbrace", r"\quad", r"\qquad", r"\rVert", r"\mid"),
    *(r"\sum", r"\prod", r"\int", r"\cdot", r"\times", r"\to", r"\dots", r"\ldots", r"\cdots"),
    *(r"\le", r"\ge", r"\approx", r"\notin", r"\infty", r"\pi", "e", r"\mathbbR", r"\mathrmRe"),
    *(r"\sin", r"\cos", r"\tanh", r"\exp", r"\ln", r"\log", r"\max", r"\min", r"\arg"),
}
_BRACED = r"\{(?:[^{}]|\{[^{}]*\})*\}"
_STYLED = rf"\\(?:mathrm|mathcal|mathbb|tilde|hat|bar|overline)\s*(?:{_BRACED}|[A-Za-z])"
_SYMBOL = re.compile(
    rf"\\(?:text|begin|end)\s*{_BRACED}"  # words between formulas, and how their lines stand
    rf"|(?P<base>{_STYLED}|\\[A-Za-z]+|[A-Za-z])(?P<primes>'*)"
    rf"(?P<below>_(?:{_BRACED}|\\[A-Za-z]+|[A-Za-z]))?"
)
_MARKUP = re.compile(r"[\\`*_\[\]$:~<|]")  # what Streamlit may take for Markdown


@dataclass(frozen=True)
class Symbol:
    """A row of the table. The file says what its fields are; `group` is where it stands there."""

    group: str
    latex: str
    means: str
    shape: str = ""
    code: str = ""
    pages: Sequence[str] = ()

    @property
    def key(self) -> str:
        """What is the same however its LaTeX sets spaces and braces."""
        return _key(self.latex)

    @property
    def plain(self) -> str:
        """The symbol as one types it, as d_model."""
        return re.sub(r"\\(mathrm|mathcal|text)|[{}\\ ,]", "", self.latex)


def _key(latex: str) -> str:
    return re.sub(r"[{}\s]|\\,", "", latex)


@cache
def table() -> Sequence[Symbol]:
    """All rows."""
    groups = tomllib.loads((ASSETS / "symbols.toml").read_text(encoding="utf-8"))
    return [Symbol(group, **row) for group, rows in groups.items() for row in rows]


@cache
def _by_key() -> Mapping[str, Sequence[Symbol]]:
    return {key: [x for x in table() if x.key == key] for key in {x.key for x in table()}}


def keys_in(latex: str) -> Iterator[str]:
    """The keys of a formula's symbols as they stand there, of those without a row too."""
    place = 0
    while match := _SYMBOL.search(latex, place):
        base, primes, below = (part or "" for part in match.group("base", "primes", "below"))
        # The longest that has a row; what stands below is read by itself otherwise.
        options = [base + primes + below, base + primes, base]
        symbol = next((text for text in options if _key(text) in _by_key()), base)
        place = match.start() + len(symbol) if base else match.end()
        if base and _key(symbol) not in ELEMENTARY:
            yield _key(symbol)


def meanings(key: str, page: str) -> Sequence[Symbol]:
    """What a symbol means on a page: the rows of that page, or else those of all pages."""
    rows = _by_key().get(key, ())
    return [x for x in rows if page in x.pages] or [x for x in rows if not x.pages]


# --- shapes -------------------------------------------------------------------------------------

# What the letters of shapes are called in formulas, where they are not called so themselves.
_SIZES = {
    "D": "d_model",
    "F": "d_ff",
    "G": "n_kv_heads",
    "Dh": "d_head",
    "nmax": "n_max",
    "Tq": "T_q",
    "Tk": "T_k",
    "Ts": "T_s",
}
OF_THE_MODEL = ("L", "T", "D", "F", "V", "Ts", "nmax")
OF_THE_HEAD = ("H", "G", "Tq", "Tk", "Dh")


def sizes(view: View) -> Mapping[str, str]:
    """Each letter of shapes with its number, as far as the source of the model knows it."""
    trace, record = view.run.trace, view.record
    facts, output, embed = trace.facts, trace.output, trace.main.embed
    known = (
        facts.n_layers,
        len(trace.main),
        facts.d_model if embed is None else embed.shape[-1],
        facts.d_ff,
        None if output is None else output.shape[-1],
        len(trace.streams[0]) if len(trace.streams) > 1 else None,
        facts.max_seq_len,
    )
    of_head = (len(record.q), len(record.k), *record.scores.shape[1:], record.q.shape[-1])
    both = zip((*OF_THE_MODEL, *OF_THE_HEAD), (*known, *of_head), strict=True)
    return {letter: f"{n:,}" for letter, n in both if n is not None}


def shape_of(symbol: Symbol, known: Mapping[str, str]) -> str:
    """The shape of a symbol in letters, and in numbers where all of them are known."""
    if symbol.shape.startswith("="):
        return known.get(symbol.shape[1:], "")
    if not symbol.shape:
        return ""
    parts = [size.split("·") for size in symbol.shape.split(" ")]
    written = _product([[_SIZES.get(letter, letter) for letter in part] for part in parts])
    if any(letter not in known for part in parts for letter in part):
        return written
    return f"{written} = {_product([[known[letter] for letter in part] for part in parts])}"


def _product(parts: Sequence[Sequence[str]]) -> str:
    return " × ".join("·".join(part) for part in parts)


# --- on the page --------------------------------------------------------------------------------


def escaped(text: str) -> str:
    """A text that Markdown leaves as it is."""
    return _MARKUP.sub(r"\\\g<0>", text)


def draw(
    columns: Mapping[str, Sequence[str]], listed: Sequence[Symbol], *, is_brief: bool = False
) -> None:
    """A table of symbols, what they mean, and further columns in Markdown, by their names.

    One that is brief stands in two halves beside each other where there is room.
    """
    symbols, means = ([f"${x.latex}$" for x in listed], [escaped(x.means) for x in listed])
    rows = list(zip(symbols, means, *columns.values(), strict=True))
    head = ["symbol", "means", *columns]
    half = -(-len(rows) // 2) if is_brief else len(rows)
    with st.container(key="symbols-brief" if is_brief else "symbols"):
        for part in (rows[:half], rows[half:]):
            lines = [head, ["---"] * len(head), *part]
            if part:
                st.markdown("\n".join(f"| {' | '.join(line)} |" for line in lines))
