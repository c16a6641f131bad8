"""What comes from outside, inside our own lines: printable, on one line, never at length."""

import math
import sys
from io import TextIOWrapper
from pathlib import Path

LONGEST_QUOTE = 200
LONGEST_LINE = 600

# Line ends to some readers of JSON, though JSON lets them stand (RFC 8259, § 7).
_LINE_ENDS = {ord(end): f"\\u{ord(end):04x}" for end in "\x85\u2028\u2029"}

# Control characters, which nobody would see in a line, by their pictures (Unicode block 2400), and
# those that turn the direction of all that follows (Unicode annex 9).
_PICTURES = {**{i: 0x2400 + i for i in range(32)}, 127: 0x2421}
_PICTURES |= dict.fromkeys((*range(0x202A, 0x202F), *range(0x2066, 0x206A)), 0xFFFD)


def print_utf8() -> None:
    """Have all that is printed be UTF-8: many a locale and PYTHONIOENCODING has no → and no 日."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # a notebook's own is none
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def spelled(name: str | Path) -> str:
    """A name or a path as it can be printed; what is not UTF-8 in hexadecimal."""
    return str(name).encode("utf-8", "backslashreplace").decode()


def quoted(given: object, most: int = LONGEST_QUOTE) -> str:
    """What a person or a file gave, as a line may repeat it: at most so many characters of it."""
    text = " ".join(spelled(str(given)[: 2 * most]).split()).translate(_PICTURES)
    return text if len(text) <= most else f"{text[: most - 1]}…"


def one_line(message: str) -> str:
    """A message on one line; of a very long one the beginning and the end, where the remedy is."""
    line = " ".join(spelled(message).split())
    if len(line) <= LONGEST_LINE:
        return line
    end = line[-LONGEST_LINE // 3 :]
    return f"{line[: LONGEST_LINE - len(end) - 3]} … {end}"


def json_line(text: str) -> str:
    """JSON without the characters that some programs take for the end of a line."""
    return text.translate(_LINE_ENDS)


def finite(value: object) -> object:
    """The value with null for NaN and infinity, which JSON does not know."""
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def in_millions(n: int) -> str:
    """A number of parameters as people say it: 5.8 M, 40 k."""
    return f"{n / 1e6:.1f} M" if n >= 1e5 else f"{n / 1e3:.0f} k"
