"""How a text is cut into tokens, in numbers: as a whole, and by the scripts it is written in."""

import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from model.analysis.merges import PreToken

LONGEST_WITHOUT_CASE = 3  # CJK is an abbreviation


@dataclass(frozen=True)
class Counts:
    """Sizes of a text in four units; characters are Unicode's, words stand between white space."""

    characters: int
    bytes: int
    words: int
    tokens: int

    @property
    def bytes_per_token(self) -> float:
        """How much of a text a token holds."""
        return self.bytes / self.tokens

    @property
    def tokens_per_word(self) -> float | None:
        """Also called fertility; None for a text without words."""
        return self.tokens / self.words if self.words else None


@dataclass(frozen=True)
class ScriptShare:
    """What the pre-tokens written in one script have of bytes and of tokens."""

    script: str
    bytes: int
    tokens: int


def count(text: str, n_tokens: int) -> Counts:
    """The sizes of a text that has so many tokens."""
    return Counts(len(text), len(text.encode()), len(text.split()), n_tokens)


def by_script(forest: Sequence[PreToken]) -> list[ScriptShare]:
    """Bytes and tokens of each script, of those with the fewest bytes per token first.

    A pre-token belongs to the script of most of its letters; without letters it belongs to none.
    A space before a word is counted with it.
    """
    n_bytes: Counter[str] = Counter()
    n_tokens: Counter[str] = Counter()
    for pre_token in forest:
        content = b"".join(token.bytes for token in pre_token)
        if script := script_of(content.decode(errors="ignore")):
            n_bytes[script] += len(content)
            n_tokens[script] += len(pre_token)
    shares = [ScriptShare(script, n_bytes[script], n_tokens[script]) for script in n_bytes]
    return sorted(shares, key=lambda share: share.bytes / share.tokens)


def script_of(text: str) -> str | None:
    """The script of most letters of a text, as the names of Unicode's characters begin."""
    letters = (unicodedata.name(x, "") for x in text if unicodedata.category(x).startswith("L"))
    scripts = Counter(name.split()[0] for name in letters if name)
    if not scripts:
        return None
    script = scripts.most_common(1)[0][0]
    return script if len(script) <= LONGEST_WITHOUT_CASE else script.capitalize()


def single_bytes(forest: Sequence[PreToken]) -> tuple[int, int]:
    """How many tokens are one byte, and how many of these are but a part of a character."""
    single = [x.bytes for pre_token in forest for x in pre_token if len(x.bytes) == 1]
    return len(single), sum(not x.isascii() for x in single)
