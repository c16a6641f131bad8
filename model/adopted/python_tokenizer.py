"""A tokenizer that transformers has in Python alone, as those of Marian, ESM-2 and BERTweet."""

from collections.abc import Sequence
from typing import Any

from model.adopted.tokenizer import AdoptedTokenizer
from model.data.pieces import END_OF_WORD
from model.data.tokenizer import END_OF_TEXT, Merges, checked, one_line_faults
from model.given import Chat, Markup, Typed, words_of

GOES_ON = "@@"  # how some vocabularies mark that a word goes on


class PythonTokenizer(AdoptedTokenizer):
    """See `AdoptedTokenizer`; it says of no token where in the text that stands."""

    def __init__(self, own: Any, n_ids: int = 0, start_id: int | None = None) -> None:  # noqa: ANN401
        """own: a tokenizer of transformers that is not a fast one. See `AdoptedTokenizer`."""
        if hasattr(own, "target_encoder"):
            raise ValueError("source and target have two vocabularies; one for both is taken")
        self._own = own
        self._pieces = {i: piece for piece, i in own.get_vocab().items()}
        self._goes_on = any(piece.endswith(GOES_ON) for piece in self._pieces.values())
        has_ends = any(piece.endswith(END_OF_WORD) for piece in self._pieces.values())
        self._end_of_word = END_OF_WORD if self._goes_on or has_ends else ""
        self.is_byte_level = hasattr(own, "byte_encoder")
        self._know(own, n_ids or len(own), start_id)

    @property
    def kind(self) -> str:
        """See `Tokenizer`."""
        return type(self._own).__name__

    def merges(self) -> Merges | None:
        """See `Tokenizer`; how it cuts a text is its own code."""
        return None

    def encode(self, given: Typed) -> list[int]:
        """See `AdoptedTokenizer`."""
        if isinstance(given, Chat):
            self._reads_with(given)  # refuses it
        return self._of_model(self._ids(words_of(given), is_markup=isinstance(given, Markup)))

    def windows(self, text: str, size: int) -> list[list[int]]:
        """See `AdoptedTokenizer`."""
        step, put_around = size - len(self._ids("")), self._own.build_inputs_with_special_tokens
        rows = [self._ids(part, False) for part in text.split(END_OF_TEXT) if part]
        cut = [row[i : i + step] for row in rows for i in range(0, len(row), max(step, 1))]
        return [self._of_model(put_around(part)) for part in cut]

    def pre_tokens(self, given: Typed) -> list[tuple[int, ...]]:
        """See `Tokenizer`; each token stands alone."""
        return [(i,) for i in self.encode(given)]

    def labels(self, given: Typed, ids: Sequence[int]) -> tuple[str, ...]:
        """See `Tokenizer`."""
        return self.token_strings(ids)

    def reads(self, given: Typed) -> str | None:
        """See `Tokenizer`; white space aside, of which little is known."""
        text = words_of(given)
        unknown = self._own.unk_token_id
        ids = [i for i in self.encode(given) if i == unknown or i not in self.special_ids]
        decoded = self.decode(ids)
        return None if "".join(decoded.split()) == "".join(text.split()) else decoded

    def decode(self, ids: Sequence[int]) -> str:
        """See `Tokenizer`."""
        known = [i for i in ids if i in self._pieces]
        with one_line_faults():
            return self._own.decode(known, clean_up_tokenization_spaces=False)

    def _added_text(self, ids: Sequence[int], new: Sequence[int]) -> str:
        known = [[i for i in row if i not in self.special_ids] for row in (ids, [*ids, *new])]
        before, after = map(self.decode, known)
        return after[len(before) :]

    def _ids(self, text: str, with_specials: bool = True, *, is_markup: bool = False) -> list[int]:
        """Ids as transformers gives them; letters that spell a special token, as letters.

        Not in markup.
        """
        spells = any(name in text for name in self._own.all_special_tokens) and not is_markup
        options = {"add_special_tokens": with_specials, "split_special_tokens": spells}
        with one_line_faults():
            return self._own(checked(text), **options, verbose=False)["input_ids"]

    def _spelled(self, token_id: int) -> str | None:
        return self._pieces.get(token_id)

    def _named(self, token_id: int) -> str | bytes:
        name = super()._named(token_id)
        if not self._goes_on or isinstance(name, bytes):
            return name
        return name[: -len(GOES_ON)] if name.endswith(GOES_ON) else name + END_OF_WORD
