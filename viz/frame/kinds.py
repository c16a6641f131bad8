"""Kinds of settings: what a value may be, how an address writes it, and the nearest possible one.

A kind knows nothing of Streamlit. What comes from an address, a control or the browser is `raw`:
text, or a value in any form JSON can carry. `nearest` makes a value of it, and a line for the
person where that is not what was asked for.
"""

import json
import math
import re
import zlib
from abc import ABC, abstractmethod
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from itertools import takewhile
from typing import Any, Generic, Self, TypeVar, cast

from model.given import Turn
from model.lines import quoted

Value = TypeVar("Value")

PAIR = re.compile(r"(\d{1,9})-(\d{1,9})")
NO_PLACES = "none"
SPEAKERS = ("user", "assistant")
NO_SUCH = "{label} {raw} does not exist here; showing {value}."


@dataclass(frozen=True)
class Setting(ABC, Generic[Value]):
    """One thing a person can change: its name in the URL, its label, its default, and its page.

    Settings without a page are of several, and stay in the address of every page. One that
    `follows` takes each new default as long as a person has left it alone.
    """

    name: str
    label: str
    default: Value
    _: KW_ONLY
    page: str = ""
    follows: bool = False

    @property
    def is_dragged(self) -> bool:
        """Whether its values are typed or dragged: then all of them are one step of Back."""
        return True

    @abstractmethod
    def nearest(self, raw: object) -> tuple[Value, str | None]:
        """The value asked for, or the nearest possible one and a line that says so."""

    def text(self, value: Value) -> str:
        """A value as the address has it; `nearest` reads it back."""
        return str(value)

    def given(self, **facts: Any) -> Self:  # noqa: ANN401  each field has a type of its own
        """The same setting with what only the model or the sentence knows: options, bounds."""
        return replace(self, **facts)

    def is_in_address_of(self, page: str) -> bool:
        """Whether the address of a page carries this setting."""
        return self.page in ("", page)


@dataclass(frozen=True)
class Choice(Setting[Value]):
    """One of several options; `words` says what an option is called on screen."""

    options: Sequence[Value] = ()
    words: Callable[[Value], str] = str
    refusal: str = NO_SUCH

    @property
    def is_dragged(self) -> bool:
        """Each choice is a step."""
        return False

    def nearest(self, raw: object) -> tuple[Value, str | None]:
        """An option by its value, its text or its words; of numbers the closest."""
        wanted = _with_commas(raw) if isinstance(raw, list) else str(raw)
        for option in self.options:
            if raw == option or wanted == self.text(option):
                return option, None
        for option in self.options:  # last: what a model is called stands in its files
            if wanted == self.words(option):
                return option, None
        value = self._closest(wanted)
        words = self.words(value) or "none"
        return value, self.refusal.format(label=self.label, raw=_shown(raw), value=words)

    def text(self, value: Value) -> str:
        """Parts of an option are joined by commas."""
        return _with_commas(value) if isinstance(value, tuple) else str(value)

    def _closest(self, wanted: str) -> Value:
        number = _number(wanted.lstrip("LH"))  # a layer may be written L3
        if number is None or not isinstance(self.default, int):
            return self.default
        options = cast("Sequence[int]", self.options)  # whole numbers, as the default is
        within = min(max(number, min(options)), max(options))  # infinity has no nearest
        return min(self.options, key=lambda option: abs(cast("int", option) - within))


@dataclass(frozen=True)
class Flag(Setting[bool]):
    """Yes or no."""

    @property
    def is_dragged(self) -> bool:
        """Each choice is a step."""
        return False

    def nearest(self, raw: object) -> tuple[bool, str | None]:
        """True for yes, False for no."""
        if isinstance(raw, bool):
            return raw, None
        if raw in ("yes", "no"):
            return raw == "yes", None
        default = self.text(self.default)
        return self.default, NO_SUCH.format(label=self.label, raw=_shown(raw), value=default)

    def text(self, value: bool) -> str:
        """Yes or no."""
        return "yes" if value else "no"


@dataclass(frozen=True)
class Number(Setting[float | None]):
    """A number from `low` to `high`, on steps where there is a `step`; whole where `low` is.

    With `none`, its name in the address, there may be no number at all: no limit, which a number
    above `high` says as well.
    """

    low: float = 0
    high: float = math.inf
    step: float | None = None
    none: str | None = None

    def nearest(self, raw: object) -> tuple[float | None, str | None]:
        """A number within bounds and on a step; the default for what is not a number."""
        if self.none is not None and (raw is None or raw == self.none):
            return None, None
        wanted = _number(raw)
        if self.none is not None and wanted is not None and wanted > self.high:
            return None, None
        if wanted is None:
            line = f"{self.label} {_shown(raw)} is not a number; using {self._plain(self.default)}."
            return self.default, line
        value = self._possible(min(max(wanted, self.low), self.high))
        if abs(value - wanted) <= 1e-9:
            return value, None
        line = f"{self.label} {_shown(raw)} {self._fault(wanted)}; using {self._plain(value)}."
        return value, line

    def text(self, value: float | None) -> str:
        """The number, or the name of none."""
        return str(self.none) if value is None else str(value)

    def _possible(self, number: float) -> float:
        if self.step is not None:
            number = round(round(number / self.step) * self.step, 10)
        return type(self.low)(number)

    def _fault(self, wanted: float) -> str:
        if not self.low <= wanted <= self.high:
            return f"is outside {self._plain(self.low)} to {self._plain(self.high)}"
        if isinstance(self.low, int):
            return "is not a whole number"
        return f"is between steps of {self.step:g}"

    def _plain(self, number: float | None) -> str:
        """A number as people write it."""
        if number is None:
            return str(self.none)
        return f"{number:,}" if isinstance(number, int) else f"{number:g}"


@dataclass(frozen=True)
class Text(Setting[str]):
    """A line of text."""

    def nearest(self, raw: object) -> tuple[str, str | None]:
        """Any text; half a character, which no file and no address can hold, becomes a `?`."""
        text = str(raw)
        value = text.encode("utf-8", "replace").decode()
        n_halves = sum("\ud800" <= character <= "\udfff" for character in text)
        if not n_halves:
            return value, None
        halves = "half a character" if n_halves == 1 else f"{n_halves} half characters"
        return value, f"{self.label} has {halves} (a lone surrogate); each is shown as “?”."


TEXT = Text("text", "Text", "")


@dataclass(frozen=True)
class Turns(Setting[tuple[Turn, ...]]):
    """What was said in a chat; written as JSON, a role and a text for each turn."""

    def nearest(self, raw: object) -> tuple[tuple[Turn, ...], str | None]:
        """The turns; none for what is no such list."""
        found = cast("Any", raw)
        try:
            found = json.loads(raw or "[]") if isinstance(raw, str) else found
            both = [(role, TEXT.nearest(text)) for role, text in found if isinstance(text, str)]
            is_one = len(both) == len(found) and all(role in SPEAKERS for role, _ in both)
        except (ValueError, TypeError, RecursionError):
            both, is_one = [], False
        if not is_one:
            line = f'{self.label} {_shown(raw)} are not such as [["user","Hello"]]; showing none.'
            return self.default, line
        lines = [line.replace(TEXT.label, self.label) for _, (_, line) in both if line]
        return tuple(Turn(role, text) for role, (text, _) in both), lines[0] if lines else None

    def text(self, value: tuple[Turn, ...]) -> str:
        """JSON as short as it can be."""
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")) if value else ""


@dataclass(frozen=True)
class Pair(Setting[tuple[int, int] | None]):
    """Two whole numbers, each below its limit, or none; written 3-1."""

    limits: tuple[int, int] = (0, 0)

    def nearest(self, raw: object) -> tuple[tuple[int, int] | None, str | None]:
        """The pair with each number brought below its limit; the default for what is none."""
        text = "" if raw is None else _joined(raw)
        match = PAIR.fullmatch(text)
        if not text:
            return None, None
        if match is None:
            asked = f"{self.label} {_shown(text)}"
            line = f"{asked} is not two numbers such as 3-1; showing the default."
            return self.default, line
        value = (min(int(match[1]), self.limits[0] - 1), min(int(match[2]), self.limits[1] - 1))
        shown = self.text(value)
        line = f"{self.label} {_shown(text)} does not exist; showing {shown}."
        return value, None if shown == text else line

    def text(self, value: tuple[int, int] | None) -> str:
        """Both numbers with a hyphen between them, or nothing."""
        return "" if value is None else _joined(value)


@dataclass(frozen=True)
class Numbers(Setting[tuple[int, ...]]):
    """Some of many numbers, at most `most` of them; written 0-20-50."""

    options: range = range(0)
    most: int = 1

    def nearest(self, raw: object) -> tuple[tuple[int, ...], str | None]:
        """Those that exist, each once; the others are let go, and named."""
        numbers = {str(word): _number(word) for word in _parts(raw, "-")}
        good = tuple(
            dict.fromkeys(int(x) for x in numbers.values() if x is not None and x in self.options)
        )
        lost = [word for word, number in numbers.items() if number not in self.options]
        lost += map(str, good[self.most :])
        line = f"{self.label} {', '.join(lost)[:60]} cannot be shown here."
        return good[: self.most], line if lost else None

    def text(self, value: tuple[int, ...]) -> str:
        """The numbers with hyphens between them."""
        return _joined(value)


@dataclass(frozen=True)
class Group(Setting[tuple[Any, ...]]):
    """Settings that are one, such as the sizes of a model; written 12,768,gpt."""

    parts: tuple[Setting, ...] = ()

    def nearest(self, raw: object) -> tuple[tuple[Any, ...], str | None]:
        """Each part's nearest; those that are left out at the end have their defaults."""
        words = list(raw) if isinstance(raw, list | tuple) else str(raw).split(",")
        n = len(self.parts)
        if "" in words or len(words) > n:
            line = f"{self.label} {_shown(raw)} is not up to {n} values; using the default."
            return self.default, line
        pairs = [part.nearest(word) for part, word in zip(self.parts, words, strict=False)]
        lines = [line for _, line in pairs if line]
        if len(pairs) < n:
            lines.append(f"{self.label}: {len(pairs)} of {n} values; the others are the default’s.")
        value = (*(value for value, _ in pairs), *self.default[len(pairs) :])
        return value, " ".join(lines) or None

    def text(self, value: tuple[Any, ...]) -> str:
        """The parts with commas between them."""
        return _with_commas(part.text(of) for part, of in zip(self.parts, value, strict=True))


@dataclass(frozen=True)
class Ids(Setting[tuple[int, ...]]):
    """Tokens in their order, by ids below `n`, at most `most`; written 3-1-3."""

    n: int = 0
    most: int = 1

    def nearest(self, raw: object) -> tuple[tuple[int, ...], str | None]:
        """As many as there are before the first that does not exist; what follows hangs on it."""
        words = _parts(raw, "-")
        good = list(takewhile(lambda x: x in range(self.n), map(_number, words)))[: self.most]
        value = tuple(int(x) for x in good if x is not None)
        n_lost = len(words) - len(value)
        line = f"{self.label}: {n_lost} of {len(words)} cannot be used here and are left out."
        return value, line if n_lost else None

    def text(self, value: tuple[int, ...]) -> str:
        """The ids with hyphens between them."""
        return _joined(value)


@dataclass(frozen=True)
class Places(Setting[tuple[int, ...]]):
    """Some of `n` tokens by their places, in their order; written 3,7, and `none` for none."""

    n: int = 0

    def nearest(self, raw: object) -> tuple[tuple[int, ...], str | None]:
        """Those that exist, each once; of what does not, the first few are named."""
        if raw == NO_PLACES:
            return (), None
        numbers = {str(word): _number(word) for word in _parts(raw, ",")}
        good = {int(x) for x in numbers.values() if x is not None and x in range(self.n)}
        lost = [word for word, number in numbers.items() if number not in range(self.n)]
        line = (
            f"{self.label} {_shown(', '.join(lost))} cannot be shown: the sentence has {self.n} "
            "tokens, counted from 0."
        )
        value = tuple(sorted(good))
        return (value or self.default) if lost else value, line if lost else None

    def text(self, value: tuple[int, ...]) -> str:
        """The places with commas between them."""
        return _with_commas(value) or NO_PLACES


@dataclass(frozen=True)
class Pixels(Setting[str]):
    """A grey picture of `size` by `size` bytes as text for an address; empty for none."""

    size: int = 28

    def nearest(self, raw: object) -> tuple[str, str | None]:
        """The text itself where it is such a picture; none for anything else."""
        text = str(raw or "")
        if not text or self.pixels(text) is not None:
            return text, None
        return self.default, f"{self.label} in the address is damaged; it is left out."

    def pixels(self, text: str) -> bytes | None:
        """The bytes, row by row; None where the text is no such picture."""
        n_bytes = self.size**2
        try:
            pixels = zlib.decompressobj().decompress(b64decode(text, b"-_", True), n_bytes + 1)
        except (ValueError, zlib.error):
            return None
        return pixels if len(pixels) == n_bytes else None

    @staticmethod
    def text_of(pixels: bytes) -> str:
        """A picture as text; `pixels` reads it back."""
        return b64encode(zlib.compress(pixels, 9), b"-_").decode()


@dataclass(frozen=True)
class Cells(Setting[tuple[tuple[int, int], ...]]):
    """Cells of a square map of `n` rows, query and key each; written 3-1.5-2."""

    n: int = 0

    def nearest(self, raw: object) -> tuple[tuple[tuple[int, int], ...], str | None]:
        """The cells that exist, each once; the others are counted."""
        parts = map(_joined, raw) if isinstance(raw, list | tuple) else str(raw).split(".")
        cells = [] if raw in ("", None) else [self._cell(part) for part in parts]
        n_lost = cells.count(None)
        lost = "1 edited cell does" if n_lost == 1 else f"{n_lost} edited cells do"
        line = f"{lost} not exist here: cells are such as 2-0, below {self.n} tokens."
        return tuple(dict.fromkeys(filter(None, cells))), line if n_lost else None

    def text(self, value: tuple[tuple[int, int], ...]) -> str:
        """Query and key with a hyphen between them, cells with a dot."""
        return ".".join(map(_joined, value))

    def _cell(self, text: str) -> tuple[int, int] | None:
        match = PAIR.fullmatch(text)
        cell = (int(match[1]), int(match[2])) if match else (self.n, self.n)
        return cell if max(cell) < self.n else None


def _parts(raw: object, separator: str) -> list[object]:
    """Several values as they are, or what a text has between its separators."""
    return [*raw] if isinstance(raw, list | tuple) else [*filter(None, str(raw).split(separator))]


def _joined(numbers: object) -> str:
    """Numbers with hyphens between them; what is not several as it is."""
    is_several = isinstance(numbers, list | tuple)
    return "-".join(map(str, numbers)) if is_several else str(numbers)


def _with_commas(parts: Iterable[object]) -> str:
    return ",".join(map(str, parts))


def _shown(raw: object) -> str:
    """What a person gave, as it is named in a line."""
    return quoted(str(raw).strip()) or "(empty)"


def _number(raw: object) -> float | None:
    """A number of any size, or None for what is not one."""
    try:
        value = float(str(raw))
    except ValueError:
        return None
    return None if math.isnan(value) else value
