"""Token text on figures: readable, unique, and never taken for markup."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import count

_NAMED = {"\n": "⏎", "\r": "␍", "\t": "⇥", "\x7f": "␡", "\u00a0": "⍽"}
# What a sign in a label means, for those who meet it.
_MEANS = {
    "…": "… continues a word",
    "␣": "␣ is a space",
    "⏎": "⏎ is a line break",
    "·1/": "·1/2 is a part of a character",
    "◌": "◌ is where a mark finds its letter",
}
_ESCAPED = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "$": "&#36;", "%": "&#37;"})
_PART = re.compile(r"^( ?.)·(\d)/\d$", re.DOTALL)  # how the tokenizer writes part of a character
_ISOLATE, _END_ISOLATE = "\u2068", "\u2069"
APOSTROPHES = ("'", "’")
_UNIQUE = "\u200b"
_INVISIBLE = {"Cc", "Cf", "Zl", "Zp", "Zs", "Co", "Cs", "Cn"}
# Letters, signs and marks that draw nothing: fillers, the blank of Braille, variation selectors.
_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
NO_SPACE, _SPACE = "…", "␣"
LINE = 13  # pixels of a label of 12 and the space to the next
NARROW = 380  # pixels of an axis on half of a page


def thinned(n: int, pixels: float, each: float = LINE, first: int = 0) -> range:
    """Which of n places along an axis are labelled, from `first` on, where each takes some pixels.

    It is every k-th, with the smallest k of 1, 2, 5, 10, 20 and so on that leaves them room.
    """
    steps = (k * 10**power for power in count() for k in (1, 2, 5))
    return range(first, n, next(k for k in steps if k * pixels >= each * n or k >= n))


def visible(token: str) -> str:
    """A token as a person can read it: white space and control characters get a visible sign.

    One leading space, which most words carry in this vocabulary, is left out. A combining mark that
    has no letter before it stands on a dotted circle.
    """
    text = _word(token).replace(" ", _SPACE)
    if not text.isprintable() or _UNSEEN.search(text):
        text = "".join(map(_visible_character, text))
    return _isolated(f"◌{text}" if _is_mark(text[:1]) else text)


def told_apart(
    vocabulary: Sequence[str], ids: Iterable[int], name: Callable[[str], str] = visible
) -> dict[int, str]:
    """Names of the tokens of one list, by id; where two would look the same, they show why not.

    Of two words the one without a space gets an ellipsis, of two other signs the one with a space
    shows it; what is still the same gets its id.
    """
    labels = {i: name(vocabulary[i]) or f"#{i}" for i in dict.fromkeys(ids)}
    counts = Counter(labels.values())
    found: dict[str, int] = {}
    for i, label in labels.items():
        shown = label if counts[label] == 1 else f"{_sign_of_space(vocabulary[i])}{label}"
        found[f"{shown} #{i}" if shown in found else shown] = i
    return {i: label for label, i in found.items()}


def token_labels(tokens: Sequence[str]) -> list[str]:
    """Visible tokens; a piece that continues the word before it starts with an ellipsis."""
    before = ["", *tokens]
    return [
        f"{NO_SPACE}{visible(token)}" if _continues(previous, token) else visible(token)
        for previous, token in zip(before, tokens, strict=False)
    ]


def signs(labels: Iterable[str]) -> list[str]:
    """What the signs mean that stand in these labels, a few words each."""
    shown = list(labels)
    return [words for sign, words in _MEANS.items() if any(sign in label for label in shown)]


def clipped(label: str, most: int) -> str:
    """A label of at most so many characters, its end replaced by an ellipsis when it is longer.

    A letter keeps its marks, or goes with them.
    """
    if len(label) <= most:
        return label
    end = _END_ISOLATE if label.startswith(_ISOLATE) else ""
    n = last = most - 1 - len(end)
    while n > len(end) and _is_mark(label[n]):
        n -= 1
    return f"{label[: n if n > len(end) else last]}…{end}"


def word_groups(tokens: Sequence[str], borders: Collection[int] = ()) -> list[int]:
    """Which word each token belongs to, counted from 0: pieces of a word and of a character join.

    An apostrophe between letters stays with its word, other punctuation stands alone. A word begins
    at each of the `borders`, the places of tokens.
    """
    characters = [(_character(token), _part(token)) for token in tokens]
    groups, group, is_inside = [], -1, False  # inside a word, after an apostrophe
    for number, (text, part) in enumerate(characters):
        is_new = not number or number in borders
        previous = "" if is_new else characters[number - 1][0]
        following = next((x for x, n in characters[number + 1 :] if n == 1), "")
        is_apostrophe = text[:1] in APOSTROPHES and _is_of_word(previous[-1:])
        follows = is_apostrophe and (text[1:2] or following[:1]).isalpha()
        is_inside = is_inside and not is_new
        letters = _is_of_word(text[:1]) and (_is_of_word(previous[-1:]) or is_inside)
        if part == 1:
            group += 0 if follows or letters else 1
            is_inside = follows
        groups.append(group)
    return groups


def word_labels(tokens: Sequence[str], groups: Sequence[int]) -> list[str]:
    """Each word of `word_groups` as a person can read it."""
    words = [""] * (groups[-1] + 1)
    for token, group in zip(tokens, groups, strict=True):
        words[group] += _character(token) if _part(token) == 1 else ""
    return list(map(visible, words))


def words_of(tokens: Sequence[str]) -> tuple[list[int], list[str]]:
    """The word of each token, from 0, and each word's label; white space is of the word after it.

    As `word_groups` where tokens begin with their spaces; with one token per character, a space is
    a token of its own.
    """
    kept: list[str] = []
    owners: list[int] = []
    space = ""
    for token in tokens:
        owners.append(len(kept))
        if token.strip():
            kept.append(token if token[:1] == " " else space + token)
            space = ""
        else:
            space = " "
    if not kept:
        return [0] * len(tokens), [visible("".join(tokens))]
    groups = word_groups(kept)
    return [groups[min(owner, len(kept) - 1)] for owner in owners], word_labels(kept, groups)


def _continues(previous: str, token: str) -> bool:
    """Whether a token goes on with the word or the character before it."""
    if _part(token) > 1:
        return False  # 😀·2/4 says so itself
    start = _character(token)[:1]
    return all(map(_is_of_word, (_character(previous)[-1:], start))) and not _is_mark(start)


def _is_of_word(character: str) -> bool:
    """Whether it is a letter, a digit or a mark on one."""
    return (character.isalnum() or _is_mark(character)) and not _UNSEEN.match(character)


def _is_mark(character: str) -> bool:
    """Whether it is drawn on the character before it; nothing is not."""
    return not character.isascii() and unicodedata.category(character)[0] == "M"


def _word(token: str) -> str:
    """A token without the space that most words begin with."""
    return token[1:] if token.startswith(" ") and token.strip(" ") else token


def _sign_of_space(token: str) -> str:
    """What tells a token apart from the one that differs by a space in front alone."""
    word = _word(token)
    if word[:1].isalnum():
        return NO_SPACE if word == token else ""
    return "" if word == token else _SPACE


def _character(token: str) -> str:
    """The text of a token; of a part of a character, that character."""
    part = "·" in token and _PART.search(token)
    return part[1] if part else token


def _part(token: str) -> int:
    """Which part of a character a token is, counted from 1; whole ones are 1."""
    part = "·" in token and _PART.search(token)
    return int(part[2]) if part else 1


def escape(text: str) -> str:
    """Text that Plotly shows as it stands: no tags, no formulas, no template fields."""
    return text.translate(_ESCAPED)


def unique(texts: Iterable[str]) -> list[str]:
    """Escaped labels; equal ones differ by invisible characters, so that rows stay apart."""
    counts: dict[str, int] = {}
    labels = []
    for label in map(escape, texts):
        counts[label] = counts.get(label, 0) + 1
        labels.append(label + _UNIQUE * (counts[label] - 1))
    return labels


def _visible_character(character: str) -> str:
    if character in _NAMED:
        return _NAMED[character]
    if character < " ":
        return chr(0x2400 + ord(character))
    if unicodedata.category(character) in _INVISIBLE or _UNSEEN.match(character):
        return f"⟨U+{ord(character):04X}⟩"
    return character


def _isolated(text: str) -> str:
    """Keep right-to-left text from turning its surroundings around."""
    if text.isascii():
        return text
    is_right_to_left = any(unicodedata.bidirectional(x) in ("R", "AL") for x in text)
    return f"{_ISOLATE}{text}{_END_ISOLATE}" if is_right_to_left else text
