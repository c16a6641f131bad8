"""A second text for one, of as many tokens: one word exchanged."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from model.data.tokenizer import Tokenizer
from model.trace import Trace

MOST_TRIED = 12  # words in the place of one


def with_token(tokenizer: Tokenizer, ids: Sequence[int], place: int, token: int) -> str:
    """The text with one token exchanged; empty where it is no word or is read as other tokens."""
    word = tokenizer.name(token)
    changed = [*ids[:place], token, *ids[place + 1 :]]
    if token == ids[place] or not word.strip().isalpha() or word[:1] != " ":
        return ""
    written = tokenizer.decode(changed)
    return written if list(tokenizer.encode(written)) == changed else ""


def with_another_word(
    tokenizer: Tokenizer, trace: Trace, places: Iterable[int] | None = None
) -> str:
    """A text of as many tokens as the model runs on, with one of them exchanged; empty for none.

    In its place stands the word that the model found most likely there among all others: of the
    first place where that makes a text of as many tokens; by default of the longest word.
    """
    ids = trace.ids.tolist()
    if places is None:
        places = sorted(range(len(ids)), key=lambda place: -len(trace.tokens[place].strip()))
    for place in places:
        if not 0 < place < len(trace.logits):
            continue
        for token in np.argsort(-trace.logits[place - 1], kind="stable")[:MOST_TRIED].tolist():
            if written := with_token(tokenizer, ids, place, token):
                return written
    return ""


def in_same_form(
    tokenizer: Tokenizer, alike: Callable[[int], Iterable[int]], both: tuple[str, str], most: int
) -> list[str]:
    """Texts like the first of both: in each one more word that both share is another, alike.

    It is exchanged wherever it stands, long words first; all have as many tokens as the first.
    alike: tokens that are most like one, the nearest first.
    """
    words, others = ([*dict.fromkeys(re.findall(r"\w{3,}", text))] for text in both)
    n, text = len(tokenizer.encode(both[0])), both[0]
    made: list[str] = []
    names = (x for x in words if x in others and (len(x) > 3 or x.lower() not in words))
    for word in sorted(names, key=lambda x: -len(x)):
        for other in _alike_words(tokenizer, alike, word):
            changed = re.sub(rf"\b{word}\b", other, text)
            is_new = not re.search(rf"\b{other}\b", " ".join((text, *both)))
            if is_new and len(tokenizer.encode(changed)) == n:
                text = changed
                made.append(text)
                break
    return made[:most]


def _alike_words(
    tokenizer: Tokenizer, alike: Callable[[int], Iterable[int]], word: str
) -> Iterator[str]:
    ids = tokenizer.encode(f" {word}")
    for token in alike(ids[0]) if len(ids) == 1 else ():
        name = tokenizer.name(token)
        if name[:1] == " " and name.strip().isalpha() and name.strip().istitle() == word.istitle():
            yield name.strip()
