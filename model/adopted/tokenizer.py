"""The tokenizer that a folder of transformers brings, called as transformers calls it."""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

import tokenizers

from model.data.chat import ChatTemplate, ReadChat, read_chat, template_of
from model.data.pieces import BYTE_OF_SYMBOL, bytes_of_symbols, names
from model.data.tokenizer import (
    END_OF_TEXT,
    MASK,
    NO_TEMPLATE,
    PADDING,
    START_OF_TEXT,
    Merges,
    Tokenizer,
    checked,
    grouped,
    one_line_faults,
    words_in,
)
from model.given import Chat, Turn, Typed, words_of

NONE = -1  # an id that no token has


class AdoptedTokenizer(Tokenizer):
    """A vocabulary of transformers; its special tokens are put around a text as it puts them.

    Text that looks like a special token is text, as everywhere here. Models may have rows for more
    ids than there are tokens: these have a name, and stand for no text.
    """

    template: ChatTemplate | None = None  # of a chat

    def __init__(self, own: Any, n_ids: int = 0, start_id: int | None = None) -> None:  # noqa: ANN401
        """own: a fast tokenizer of transformers, which is changed. n_ids: the model's.

        start_id: a target's first.
        """
        backend = own.backend_tokenizer
        backend.no_truncation()
        backend.no_padding()
        backend.encode_special_tokens = True
        self.backend = backend
        self.template = template_of(own)
        self.is_byte_level = "ByteLevel" in str(backend.decoder)
        self._end_of_word = getattr(backend.model, "end_of_word_suffix", None) or ""
        has_unknown = getattr(backend.model, "unk_token", None)
        signs = BYTE_OF_SYMBOL if self.is_byte_level and not has_unknown else ()
        self._lost = {BYTE_OF_SYMBOL[x] for x in signs if backend.token_to_id(x) is None}
        self._know(own, n_ids or backend.get_vocab_size(), start_id)

    def _know(self, own: Any, n_ids: int, start_id: int | None) -> None:  # noqa: ANN401
        """What any tokenizer of transformers says of its special tokens."""
        self._n_ids = n_ids
        self.n_tokens = len(own)
        added = own.added_tokens_decoder
        self._added = {i: x.content for i, x in added.items()}
        self.special_ids = frozenset(i for i, x in added.items() if x.special)
        self.end_id = next(filter(self._has_row, (own.eos_token_id, own.sep_token_id)), NONE)
        special = {MASK: own.mask_token_id, PADDING: own.pad_token_id, START_OF_TEXT: start_id}
        self._special = {name: i for name, i in special.items() if self._has_row(i)}

    @property
    def can_hide(self) -> bool:
        """Whether it has a token that stands for a hidden one."""
        return MASK in self._special

    def _has_row(self, token_id: int | None) -> bool:
        return token_id is not None and token_id < self._n_ids

    def id_of(self, special: str) -> int:
        """See `Tokenizer`; the special tokens go by our names, whatever the folder calls them."""
        token_id = self._special.get(special)
        if token_id is None:
            raise ValueError(f"the tokenizer has no {special} token; use a model that has one")
        return token_id

    @property
    def vocab_size(self) -> int:
        """Number of rows of the model, those of ids without a token included."""
        return self._n_ids

    def token_bytes(self, token_id: int) -> bytes:
        """See `Tokenizer`; of an id without a token its name."""
        piece = self._piece(token_id)
        if not self.is_byte_level or isinstance(self._named(token_id), bytes):
            return piece.encode()
        return bytes_of_symbols(piece.removesuffix(self._end_of_word))

    def _named(self, token_id: int) -> str | bytes:
        """A piece as `names` takes it."""
        piece = None if token_id in self._added else self._spelled(token_id)
        return self._piece(token_id).encode() if piece is None else piece

    def _piece(self, token_id: int) -> str:
        is_unused = self._has_row(token_id) and self._spelled(token_id) is None
        return f"⟨unused {token_id}⟩" if is_unused else super()._piece(token_id)

    def encode(self, given: Typed) -> list[int]:
        """Ids of a text, with the special tokens around it, or of a chat with its answer so far."""
        if isinstance(given, Chat):
            return [*self.chat(given).ids, *given.answer]
        backend = self._reads_with(given)
        with one_line_faults():
            return self._of_model(backend.encode(checked(words_of(given))).ids)

    def _of_model(self, ids: list[Any]) -> list[int]:
        """ids; ValueError for none, and for one that the model has no row for."""
        if None in ids:
            raise ValueError(
                f"token {ids.index(None)} of the text is not in the vocabulary, which has no "
                "unknown token either; leave it out, or add the tokens that the vocabulary lacks"
            )
        if (highest := max(ids, default=0)) >= self._n_ids:
            raise ValueError(
                f"the tokenizer gives token {highest}, and the model has only {self._n_ids}; "
                "use the tokenizer that it was trained with"
            )
        return ids

    def chat(self, given: Chat) -> ReadChat:
        """A chat by the model's own template; ValueError where it has none, or that refuses.

        Its answer is not part of that.
        """
        if self.template is None:
            raise ValueError(NO_TEMPLATE)
        if given.answer and given.turns[-1].role == "assistant":
            raise ValueError("the assistant has the last word in this chat; no answer can begin")
        if strange := [i for i in given.answer if not 0 <= i < self._n_ids]:
            raise ValueError(
                f"token {strange[0]} of the answer is not among the {self._n_ids:,} of the "
                f"vocabulary; give 0 to {self._n_ids - 1:,}"
            )
        with one_line_faults():
            read = read_chat(self.template, given.turns, self._reading, self.backend)
        self._of_model(read.ids)
        return read

    def windows(self, text: str, size: int) -> list[list[int]]:
        """See `Tokenizer`; each with special tokens around it, and of one document."""
        cutting = tokenizers.Tokenizer.from_str(self.backend.to_str())
        cutting.encode_special_tokens = True
        documents = [part for part in checked(text).split(END_OF_TEXT) if part]
        with one_line_faults():
            cutting.enable_truncation(size)
            encodings = cutting.encode_batch(documents)
        return [self._of_model(part.ids) for one in encodings for part in (one, *one.overflowing)]

    def pre_tokens(self, given: Typed) -> list[tuple[int, ...]]:
        """See `Tokenizer`; each special token stands alone, and so do those of an answer."""
        if isinstance(given, Chat):
            read = self.chat(given)
            return [*grouped(read.words, read.ids), *((i,) for i in given.answer)]
        backend = self._reads_with(given)
        with one_line_faults():
            encoding = backend.encode(words_of(given))
        return grouped(words_in(encoding), encoding.ids)

    def labels(self, given: Typed, ids: Sequence[int]) -> tuple[str, ...]:
        """What each id stands for, as the person wrote it, with the space before a word.

        Special tokens go by their names, and so do tokens that share a character, as 😀·2/4.
        """
        if self.is_byte_level or isinstance(given, Chat):
            return self.token_strings(ids)
        backend, text = self._reads_with(given), words_of(given)
        with one_line_faults():
            encoding = backend.encode(text)
        if encoding.ids[: len(ids)] != list(ids):  # some of them were hidden
            return tuple(
                self._piece(i) if i in self._added else label
                for i, label in zip(ids, self.labels(given, encoding.ids[: len(ids)]), strict=False)
            )
        labels: list[str] = []
        done = 0  # of the text
        for (start, end), own in _by_span(encoding.offsets, encoding.ids):
            before, part = text[done:start], text[start:end]
            done = max(done, end)
            first, *others = [part] if part and len(own) == 1 else self.token_strings(own)
            is_spaced = part and before.isspace() and first[:1] != " "
            labels.extend((f"{before}{first}" if is_spaced else first, *others))
        return tuple(labels[: len(ids)])

    def lost_turns(self, given: Typed) -> list[Turn]:
        """See `Tokenizer`."""
        if not isinstance(given, Chat):
            return []
        read = self.chat(given)
        return [x for i, x in enumerate(given.turns) if x.text and i not in read.turns]

    def plain_text(self, given: Typed) -> str:
        """See `Tokenizer`; with the answer so far."""
        if not isinstance(given, Chat):
            return super().plain_text(given)
        read = self.chat(given)
        return read.text + self.decode([i for i in given.answer if i not in self.special_ids])

    def reads(self, given: Typed) -> str | None:
        """See `Tokenizer`: what its normalizer makes of it, with [UNK] for what has no token.

        Bytes without a token are lost where there is no [UNK].
        """
        if not isinstance(given, str):
            return None  # what is read of it stands in its tokens
        text = given
        name = getattr(self.backend.model, "unk_token", None)
        parts = self._known_parts(text, name)
        read = (name or "").join(map(self.normalized, parts)).replace("▁", " ")
        read = bytes(x for x in read.encode() if x not in self._lost).decode(errors="replace")
        return None if read in (text, f" {text}") else read

    def _known_parts(self, text: str, unknown: str | None) -> list[str]:
        """What stands between pieces without a token. unknown: the name of the token for these."""
        unknown_id = None if unknown is None else self.backend.token_to_id(unknown)
        with one_line_faults():
            encoding = self.backend.encode(text)
        parts, done = [], 0
        for (start, end), token_id in zip(encoding.offsets, encoding.ids, strict=True):
            if token_id == unknown_id and end > start:
                parts.append(text[done:start])
                done = end
        return [*parts, text[done:]]

    def token_strings(self, ids: Sequence[int]) -> tuple[str, ...]:
        """See `Tokenizer`; pieces of words as the vocabulary spells them, spaces and bytes as text.

        Special tokens, and ids without one, go by their names.
        """
        pieces = list(map(self._named, ids))
        return names(pieces, is_byte_level=self.is_byte_level, end_of_word=self._end_of_word)

    def continuation(self, ids: Sequence[int], new: Sequence[int]) -> str:
        """See `Tokenizer`; ids without a token go by their names."""
        before, text = list(ids), ""
        for is_there, same in groupby(new, lambda i: self._spelled(i) is not None):
            own = list(same)
            text += self._added_text(before, own) if is_there else "".join(self.token_strings(own))
            before += own
        return text

    def _added_text(self, ids: Sequence[int], new: Sequence[int]) -> str:
        """What new ids, which have tokens, add to the text of others."""
        return super().continuation(ids, new)

    def merges(self) -> Merges | None:
        """See `Tokenizer`."""
        return super().merges() if self.is_byte_level else None


def _by_span(
    offsets: Sequence[tuple[int, int]], ids: Sequence[int]
) -> list[tuple[tuple[int, int], list[int]]]:
    """The ids at each span of a text; those whose spans overlap stand at one span together."""
    spans: list[tuple[tuple[int, int], list[int]]] = []
    for (start, end), token_id in zip(offsets, ids, strict=True):
        (first, last), own = spans[-1] if spans else ((-1, -1), [])
        if (start, end) == (first, last) or first <= start < min(last, end):
            spans[-1] = ((first, max(last, end)), [*own, token_id])
        else:
            spans.append(((start, end), [token_id]))
    return spans
