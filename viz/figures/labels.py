"""Token text on figures: readable, unique, and never taken for markup."""

import unicodedata
from collections.abc import Sequence

_NAMED = {"\n": "⏎", "\r": "␍", "\t": "⇥", "\x7f": "␡", "\u00a0": "⍽"}
_ESCAPED = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "$": "&#36;", "%": "&#37;"}
_ISOLATE, _END_ISOLATE = "\u2068", "\u2069"
_UNIQUE = "\u200b"
_INVISIBLE = {"Cc", "Cf", "Zl", "Zp", "Zs", "Co", "Cs", "Cn"}


def visible(token: str) -> str:
    """A token as a person can read it: white space and control characters get a visible sign.

    One leading space, which most words carry in this vocabulary, is left out.
    """
    word = token[1:] if token.startswith(" ") and token.strip(" ") else token
    return _isolated("".join(map(_visible_character, word.replace(" ", "␣"))))


def token_labels(tokens: Sequence[str]) -> list[str]:
    """Visible tokens; a piece that continues the word before it starts with an ellipsis."""
    before = ["", *tokens]
    return [
        f"…{visible(token)}" if previous[-1:].isalnum() and token[:1].isalnum() else visible(token)
        for previous, token in zip(before, tokens, strict=False)
    ]


def escape(text: str) -> str:
    """Text that Plotly shows as it stands: no tags, no formulas, no template fields."""
    return "".join(_ESCAPED.get(character, character) for character in text)


def axis_labels(tokens: Sequence[str]) -> list[str]:
    """Escaped labels; equal ones differ by invisible characters, so that rows stay apart."""
    counts: dict[str, int] = {}
    labels = []
    for label in map(escape, token_labels(tokens)):
        counts[label] = counts.get(label, 0) + 1
        labels.append(label + _UNIQUE * (counts[label] - 1))
    return labels


def _visible_character(character: str) -> str:
    if character in _NAMED:
        return _NAMED[character]
    if character < " ":
        return chr(0x2400 + ord(character))
    if unicodedata.category(character) in _INVISIBLE:
        return f"⟨U+{ord(character):04X}⟩"
    return character


def _isolated(text: str) -> str:
    """Keep right-to-left text from turning its surroundings around."""
    is_right_to_left = any(unicodedata.bidirectional(x) in ("R", "AL") for x in text)
    return f"{_ISOLATE}{text}{_END_ISOLATE}" if is_right_to_left else text
