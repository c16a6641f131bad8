"""Text to numbers and back: byte-level BPE and single characters, over the `tokenizers` library.

Text from a person is never parsed for special tokens: someone who types `<|endoftext|>` or `</s>`
gets those characters. Only `encode_documents`, meant for text files, reads the separator.
"""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import tokenizers
from tokenizers import Regex, decoders, models, pre_tokenizers, trainers

END_OF_TEXT = "<|endoftext|>"
UNKNOWN = "\N{REPLACEMENT CHARACTER}"

# GPT-2's split into words, but a run of line breaks stays one piece and digits stand alone.
_WORDS = Regex(r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}| ?[^\s\p{L}\p{N}]+|\s*[\r\n]+|\s+(?!\S)|\s+")
_ANY_CHARACTER = Regex(r"[\s\S]")


class Tokenizer:
    """One vocabulary, with `encode` for sentences and `encode_documents` for files.

    Byte-level BPE puts a space before a text's first word, so that it becomes the same token as
    anywhere else; not where that costs a token, as for a word seen only at the start of stories.
    """

    def __init__(self, backend: tokenizers.Tokenizer) -> None:
        self.backend = backend
        self.backend.encode_special_tokens = True  # text that looks like a special token is text
        self.is_byte_level = isinstance(backend.model, models.BPE)
        end_id = backend.token_to_id(END_OF_TEXT)
        if end_id is None:
            raise ValueError(f"the tokenizer has no {END_OF_TEXT} token; train it again")
        self.end_id: int = end_id

    @property
    def vocab_size(self) -> int:
        """Number of different ids, the end of text included."""
        return self.backend.get_vocab_size()

    def encode(self, text: str) -> list[int]:
        """Ids of a text, every character of it taken literally."""
        return self._encode_start(_checked(text))

    def encode_documents(self, text: str) -> list[int]:
        """Ids of a text file in which `<|endoftext|>` separates documents."""
        ids: list[int] = []
        for number, document in enumerate(_checked(text).split(END_OF_TEXT)):
            if number:
                ids.append(self.end_id)
            # Pieces keep memory low and never cut a word: a line break ends a piece of its own.
            first, *others = _paragraphs(document)
            ids.extend(self._encode_start(first))
            encodings = self.backend.encode_batch_fast(others, add_special_tokens=False)
            ids.extend(i for encoding in encodings for i in encoding.ids)
        return ids

    def decode(self, ids: Sequence[int]) -> str:
        """The text of some ids, with the space `encode` may have put in front."""
        return self.backend.decode(list(ids), skip_special_tokens=False)

    def token_strings(self, ids: Sequence[int]) -> tuple[str, ...]:
        """What each id stands for, for display; joined they read as the text.

        A character whose bytes are spread over several tokens is shown in each of them with its
        part, as 😀·2/4; bytes that form no character are shown in hexadecimal.
        """
        if not self.is_byte_level:
            return tuple(map(self._piece, ids))
        return tuple(_strings_of_bytes([self._bytes(i) for i in ids]))

    def save(self, path: Path) -> None:
        """Write tokenizer.json."""
        self.backend.save(str(path))

    @classmethod
    def load(cls, path: Path) -> "Tokenizer":
        """Read tokenizer.json; ValueError when it is missing or broken."""
        try:
            backend = tokenizers.Tokenizer.from_str(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise ValueError(f"{path} is missing; copy the whole checkpoint folder") from None
        except Exception as error:  # the library raises bare Exception on bad JSON
            raise ValueError(f"{path} is not a valid tokenizer: {error}; copy it again") from None
        return cls(backend)

    def _encode_start(self, text: str) -> list[int]:
        """Ids of a text that starts a sentence or a document; see the class on the space."""
        plain = self.backend.encode(text, add_special_tokens=False).ids
        if not self.is_byte_level or not text or text[0].isspace():
            return plain
        spaced = self.backend.encode(f" {text}", add_special_tokens=False).ids
        return spaced if len(spaced) <= len(plain) else plain

    def _piece(self, token_id: int) -> str:
        piece = self.backend.id_to_token(token_id)
        if piece is None:
            raise ValueError(
                f"token {token_id} is not in the vocabulary; ids are 0 to {self.vocab_size - 1}"
            )
        return piece

    def _bytes(self, token_id: int) -> bytes:
        piece = self._piece(token_id)
        if token_id == self.end_id:
            return piece.encode()
        return bytes(_BYTE_OF_SYMBOL[symbol] for symbol in piece)


def train_bpe(texts: Iterable[str], vocab_size: int) -> Tokenizer:
    """Learn byte-level BPE merges (Sennrich et al. 2016; bytes as in Radford et al. 2019, §2.2).

    vocab_size counts the 256 bytes and `<|endoftext|>`, so it must be at least 257.
    """
    if vocab_size < 257:
        raise ValueError(f"vocab_size is {vocab_size}; byte-level BPE needs at least 257")
    backend = tokenizers.Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(_WORDS, behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    backend.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        special_tokens=[END_OF_TEXT],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    backend.train_from_iterator(_training_pieces(texts), trainer)
    return Tokenizer(backend)


def train_characters(texts: Iterable[str]) -> Tokenizer:
    """One token for each different character; others become `�` when encoding."""
    characters = sorted(set().union(*texts) - {UNKNOWN})
    vocab = {token: i for i, token in enumerate([END_OF_TEXT, UNKNOWN, *characters])}
    backend = tokenizers.Tokenizer(models.WordLevel(vocab, unk_token=UNKNOWN))
    backend.add_special_tokens([END_OF_TEXT])
    backend.pre_tokenizer = pre_tokenizers.Split(_ANY_CHARACTER, behavior="isolated")
    backend.decoder = decoders.Fuse()
    return Tokenizer(backend)


# How a recipe names a way to make a tokenizer from texts and the size of its vocabulary.
TOKENIZERS: dict[str, Callable[[list[str], int], Tokenizer]] = {
    "bpe": train_bpe,
    "characters": lambda texts, vocab_size: train_characters(texts),
}


def _training_pieces(texts: Iterable[str]) -> Iterable[str]:
    for text in texts:
        for document in text.split(END_OF_TEXT):
            yield from _paragraphs(document)


def _checked(text: str) -> str:
    """The text; ValueError when it holds half a character, as from a terminal that is not UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(
            f"character {error.start} of the text is not valid Unicode; type it again as UTF-8"
        ) from None
    return text


def _paragraphs(text: str) -> list[str]:
    """Cut before the first character after each blank line, so that pieces join to the text."""
    pieces = text.split("\n\n")
    return [f"{piece}\n\n" for piece in pieces[:-1]] + [pieces[-1]]


def _strings_of_bytes(tokens: list[bytes]) -> Iterable[str]:
    """Readable strings for tokens that may hold parts of characters; see `token_strings`."""
    start = 0
    while start < len(tokens):
        end, text = _next_whole_text(tokens, start)
        if text is None:
            yield f"\\x{tokens[start].hex()}"
            start += 1
        elif end == start + 1:
            yield text
            start = end
        else:
            parts = end - start
            yield from (f"{text}·{part}/{parts}" for part in range(1, parts + 1))
            start = end


def _next_whole_text(tokens: list[bytes], start: int) -> tuple[int, str | None]:
    """The fewest tokens from `start` whose bytes decode, as long as only the end is missing."""
    for end in range(start + 1, len(tokens) + 1):
        try:
            return end, b"".join(tokens[start:end]).decode()
        except UnicodeDecodeError as error:
            if error.reason != "unexpected end of data":
                break
    return start + 1, None


def _symbols_of_bytes() -> dict[str, int]:
    """The printable stand-ins that byte-level BPE uses for bytes (GPT-2's `bytes_to_unicode`)."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in printable]
    symbols = {chr(byte): byte for byte in printable}
    return symbols | {chr(256 + i): byte for i, byte in enumerate(others)}


_BYTE_OF_SYMBOL = _symbols_of_bytes()
