"""A second text for one, of as many tokens: one word exchanged."""

from collections.abc import Iterable, Sequence

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
