"""A second text for one, of as many tokens: some of its words exchanged."""

import re
from collections.abc import Callable, Iterable, Iterator

from model.data.tokenizer import Tokenizer


def in_form_of(tokenizer: Tokenizer, own: int, order: Iterable[int]) -> Iterator[int]:
    """Of tokens in an order those of the form of one: a whole word for one, a name for a name.

    Without that one itself, and without special tokens.
    """
    form = _form(tokenizer.name(own))
    left_out = {own, *tokenizer.special_ids}
    return (i for i in order if i not in left_out and _form(tokenizer.name(i)) == form)


def _form(name: str) -> tuple[bool, bool, bool]:
    """Whether it begins with a space, has letters alone, and the first of them is a capital."""
    word = name.lstrip(" ▁")
    return word != name, word.isalpha(), word[:1].isupper()


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
    if len(ids) == 1:
        yield from (tokenizer.name(i).strip() for i in in_form_of(tokenizer, ids[0], alike(ids[0])))
