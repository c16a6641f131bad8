"""Tokens of a model by what a person writes, and back."""

from model.data.tokenizer import Tokenizer
from model.given import Ids
from model.lines import quoted
from model.sources.table import Runnable


def token_of(loaded: Runnable, text: str | None) -> int | None:
    """The id of a token by its text, with or without the space before it, or by its number.

    ValueError for a text of several tokens. Of a model without a vocabulary a number alone.
    """
    if text is None:
        return None
    tokenizer = tokenizer_of(loaded)
    if tokenizer is not None and text.strip():
        for spelled in (f" {text}", text):  # as words have it
            ids = [i for i in tokenizer.encode(spelled) if i not in tokenizer.special_ids]
            is_known = len(ids) == 1 and tokenizer.name(ids[0]).strip() == text.strip()
            if is_known and not text.isdecimal():
                return ids[0]
    if not text.isdecimal():
        raise ValueError(
            f"{quoted(text)!r} is not one token of {loaded.name}; give one, or its id as a number"
        )
    return int(text[:9])


def said(loaded: Runnable, token: int) -> str:
    """A token as text, or a class by its number."""
    tokenizer = tokenizer_of(loaded)
    return str(token) if tokenizer is None else tokenizer.name(token)


def strings_of(loaded: Runnable, ids: Ids) -> tuple[str, ...]:
    """Tokens as strings, by their ids, of a model that takes text."""
    return loaded.tokenizer.token_strings(ids)


def tokenizer_of(loaded: Runnable) -> Tokenizer | None:
    """The tokenizer; None where the model takes pictures."""
    return loaded.tokenizer if "vocabulary" in loaded.offers else None
