"""The tokenizer that a folder of transformers brings, called as transformers calls it."""

import json
from collections.abc import Sequence
from itertools import groupby
from typing import Any

import tokenizers

from model.data.tokenizer import (
    END_OF_TEXT,
    MASK,
    PADDING,
    START_OF_TEXT,
    Merges,
    Tokenizer,
    checked,
    one_line_faults,
)

NONE = -1  # an id that no token has


class AdoptedTokenizer(Tokenizer):
    """A vocabulary of transformers; its special tokens are put around a text as it puts them.

    Text that looks like a special token is text, as everywhere here. Models may have rows for more
    ids than there are tokens: these have a name, and stand for no text.
    """

    def __init__(self, own: Any, n_ids: int = 0, start_id: int | None = None) -> None:  # noqa: ANN401
        """own: a fast tokenizer of transformers. n_ids: the model's. start_id: a target's first."""
        backend = tokenizers.Tokenizer.from_str(own.backend_tokenizer.to_str())
        backend.no_truncation()
        backend.no_padding()
        backend.encode_special_tokens = True
        self.backend = backend
        self._file = json.loads(backend.to_str())
        self.is_byte_level = "ByteLevel" in json.dumps(self._file["decoder"])
        self.end_id = _first_known(own.eos_token_id, own.sep_token_id)
        added = backend.get_added_tokens_decoder()
        self._added = {i: x.content for i, x in added.items()}
        self.special_ids = frozenset(i for i, x in added.items() if x.special)
        self._n_ids = max(n_ids, backend.get_vocab_size())
        self._special = {
            MASK: own.mask_token_id,
            PADDING: own.pad_token_id,
            START_OF_TEXT: start_id,
        }

    def id_of(self, special: str) -> int:
        """See `Tokenizer`; the special tokens go by our names, whatever the folder calls them."""
        found = self._special.get(special)
        if found is None:
            raise ValueError(f"the tokenizer has no {special} token; use a model that has one")
        return found

    @property
    def vocab_size(self) -> int:
        """Number of different ids, those without a token included."""
        return self._n_ids

    def token_bytes(self, token_id: int) -> bytes:
        """See `Tokenizer`; of an id without a token its name."""
        if self.backend.id_to_token(token_id) is None:
            return self._piece(token_id).encode()
        return super().token_bytes(token_id)

    def _piece(self, token_id: int) -> str:
        is_unused = token_id < self._n_ids and self.backend.id_to_token(token_id) is None
        return f"⟨unused {token_id}⟩" if is_unused else super()._piece(token_id)

    def encode(self, text: str) -> list[int]:
        """Ids of a text, with the special tokens around it."""
        with one_line_faults():
            return self.backend.encode(checked(text)).ids

    def windows(self, text: str, size: int) -> list[list[int]]:
        """See `Tokenizer`; each with special tokens around it, and of one document."""
        cutting = tokenizers.Tokenizer.from_str(self.backend.to_str())
        cutting.encode_special_tokens = True
        documents = [part for part in checked(text).split(END_OF_TEXT) if part]
        with one_line_faults():
            cutting.enable_truncation(size)
            found = cutting.encode_batch(documents)
        return [part.ids for first in found for part in (first, *first.overflowing)]

    def pre_tokens(self, text: str) -> list[tuple[int, ...]]:
        """See `Tokenizer`; each special token stands alone."""
        with one_line_faults():
            found = self.backend.encode(text)
        words = enumerate(zip(found.word_ids, found.ids, strict=True))
        alone = ((-1 - place if word is None else word, i) for place, (word, i) in words)
        return [tuple(i for _, i in same) for _, same in groupby(alone, lambda pair: pair[0])]

    def labels(self, text: str, ids: Sequence[int]) -> tuple[str, ...]:
        """What each id stands for, as the person wrote it, with the space before a word.

        Special tokens go by their names. Tokens that share a character are told apart by their part
        of it, as 😀·2/4.
        """
        if self.is_byte_level:
            return self.token_strings(ids)
        with one_line_faults():
            found = self.backend.encode(text)
        if found.ids[: len(ids)] != list(ids):  # some of them were hidden
            return tuple(
                self._piece(i) if i in self._added else label
                for i, label in zip(ids, self.labels(text, found.ids[: len(ids)]), strict=False)
            )
        labels: list[str] = []
        done = 0  # of the text
        for (start, end), same in groupby(zip(found.offsets, found.ids, strict=True), _place):
            own = [i for _, i in same]
            before, part = text[done:start], text[start:end]
            part = f"{before}{part}" if part and before.isspace() else part
            done = max(done, end)
            if not part or len(own) == 1:
                labels.extend(part or self.token_strings([i])[0] for i in own)
            else:
                labels.extend(f"{part}·{n}/{len(own)}" for n in range(1, len(own) + 1))
        return tuple(labels[: len(ids)])

    def reads(self, text: str) -> str | None:
        """See `Tokenizer`: what its normalizer makes of it, with [UNK] for what has no token."""
        normalizer, name = self.backend.normalizer, getattr(self.backend.model, "unk_token", None)
        parts = self._known_parts(text, name)
        with one_line_faults():
            read = parts if normalizer is None else map(normalizer.normalize_str, parts)
            found = (name or "").join(read).replace("▁", " ")
        return None if found in (text, f" {text}") else found

    def _known_parts(self, text: str, unknown: str | None) -> list[str]:
        """What stands between pieces without a token. unknown: the name of the token for these."""
        unknown_id = None if unknown is None else self.backend.token_to_id(unknown)
        with one_line_faults():
            found = self.backend.encode(text)
        parts, done = [], 0
        for (start, end), token_id in zip(found.offsets, found.ids, strict=True):
            if token_id == unknown_id and end > start:
                parts.append(text[done:start])
                done = end
        return [*parts, text[done:]]

    def token_strings(self, ids: Sequence[int]) -> tuple[str, ...]:
        """See `Tokenizer`; pieces of words as the vocabulary spells them, with spaces for ▁."""
        if self.is_byte_level:
            return super().token_strings(ids)
        return tuple(self._piece(i).replace("▁", " ") for i in ids)

    def merges(self) -> Merges | None:
        """See `Tokenizer`."""
        return super().merges() if self.is_byte_level else None


def _place(pair: tuple[tuple[int, int], int]) -> tuple[int, int]:
    return pair[0]


def _first_known(*ids: int | None) -> int:
    return next((i for i in ids if i is not None), NONE)
