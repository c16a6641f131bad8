"""Text to numbers and back: byte-level BPE and single characters, over the `tokenizers` library.

Text from a person is never parsed for special tokens: someone who types `<|endoftext|>` or `</s>`
gets those characters. Only `encode_documents`, meant for text files, reads the separator.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import tokenizers
from tokenizers import Regex, decoders, models, pre_tokenizers, trainers

from model.files import LARGEST_TOKENIZER, read_text
from model.lines import quoted, spelled

END_OF_TEXT = "<|endoftext|>"
UNKNOWN = "\N{REPLACEMENT CHARACTER}"

# GPT-2's split into words, but a run of line breaks stays one piece and digits stand alone.
_WORDS = Regex(r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}| ?[^\s\p{L}\p{N}]+|\s*[\r\n]+|\s+(?!\S)|\s+")
_ANY_CHARACTER = Regex(r"[\s\S]")


@dataclass(frozen=True)
class Merges:
    """What byte-level BPE makes tokens by, in ids; a merge's rank is its place in `rules`.

    `bytes` has the id of each byte, a rule is left part, right part and whole. Where
    `takes_known_whole` a pre-token that is in the vocabulary becomes one token without merges.
    """

    bytes: dict[int, int]
    rules: list[tuple[int, int, int]]
    takes_known_whole: bool = False


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
        self._added = {i: x.content for i, x in backend.get_added_tokens_decoder().items()}

    @property
    def vocab_size(self) -> int:
        """Number of different ids, the end of text included."""
        return self.backend.get_vocab_size()

    def encode(self, text: str) -> list[int]:
        """Ids of a text, every character of it taken literally."""
        return self._encode_start(_checked(text)).ids

    def pre_tokens(self, text: str) -> list[tuple[int, ...]]:
        """The ids `encode` gives, grouped by the pre-tokens the text is first split into."""
        encoding = self._encode_start(_checked(text))
        pairs = zip(encoding.word_ids, encoding.ids, strict=True)
        return [tuple(i for _, i in group) for _, group in groupby(pairs, lambda pair: pair[0])]

    def encode_documents(self, text: str) -> list[int]:
        """Ids of a text file in which `<|endoftext|>` separates documents."""
        ids: list[int] = []
        for number, document in enumerate(_checked(text).split(END_OF_TEXT)):
            if number:
                ids.append(self.end_id)
            # Pieces keep memory low and never cut a word: a line break ends a piece of its own.
            first, *others = _paragraphs(document)
            ids.extend(self._encode_start(first).ids)
            with _faults_as_one_line():
                encodings = self.backend.encode_batch_fast(others, add_special_tokens=False)
            ids.extend(i for encoding in encodings for i in encoding.ids)
        return ids

    def reads(self, text: str) -> str | None:
        """The text as its tokens have it, where that is not the text; None where it is.

        They differ where the tokenizer changes what it gets, as by writing it in lower case, or
        has no token for a character.
        """
        found = self.decode(self.encode(text))
        return None if found in (text, f" {text}") else found

    def decode(self, ids: Sequence[int]) -> str:
        """The text of some ids, with the space `encode` may have put in front."""
        with _faults_as_one_line():
            return self.backend.decode(list(ids), skip_special_tokens=False)

    def token_strings(self, ids: Sequence[int]) -> tuple[str, ...]:
        """What each id stands for, for display; joined they read as the text.

        A character whose bytes are spread over several tokens is shown in each of them with its
        part, as 😀·2/4; bytes that form no character are shown in hexadecimal.
        """
        if not self.is_byte_level:
            return tuple(map(self._piece, ids))
        return tuple(_strings_of_bytes([self.token_bytes(i) for i in ids]))

    def token_bytes(self, token_id: int) -> bytes:
        """What an id stands for, as UTF-8; of byte-level BPE it may be part of a character."""
        piece = self._piece(token_id)
        if token_id in self._added:  # text as it is, not the stand-ins of its bytes
            return self._added[token_id].encode()
        if not self.is_byte_level:
            return piece.encode()
        return bytes(_BYTE_OF_SYMBOL[symbol] for symbol in piece)

    def is_added(self, token_id: int) -> bool:
        """Whether an id is of a text that was added to the vocabulary, and that no merge makes."""
        return token_id in self._added

    @property
    def kind(self) -> str:
        """How it makes tokens, as its file calls it: BPE, WordLevel, WordPiece, Unigram."""
        return type(self.backend.model).__name__

    def merges(self) -> Merges | None:
        """What its file says of merges; None where tokens are not made of bytes by merges alone."""
        model = json.loads(self.backend.to_str())["model"]
        if model["type"] != "BPE" or any(map(model.get, _WORD_MARKS)):
            return None
        vocab = model["vocab"]
        return Merges(
            bytes={byte: vocab[symbol] for symbol, byte in _BYTE_OF_SYMBOL.items()},
            rules=[
                (vocab[left], vocab[right], vocab[left + right]) for left, right in model["merges"]
            ],
            takes_known_whole=bool(model.get("ignore_merges")),
        )

    def to_json(self) -> str:
        """What tokenizer.json holds."""
        return self.backend.to_str(pretty=True)

    def save(self, path: Path) -> None:
        """Write tokenizer.json."""
        path.write_text(self.to_json(), encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> "Tokenizer":
        """Read tokenizer.json; ValueError when it is missing, broken, or would shorten a text."""
        text = read_text(path, LARGEST_TOKENIZER)
        try:
            backend = tokenizers.Tokenizer.from_str(text)
        except BaseException as error:
            if not _is_of_the_library(error):
                raise
            raise ValueError(
                f"{spelled(path)} is not a valid tokenizer: {quoted(error)}; copy it again"
            ) from None
        try:
            found = cls(backend)
            _refuse_unfaithful(backend)
        except ValueError as error:
            raise ValueError(f"{spelled(path)}: {error}") from None
        return found

    def _encode_start(self, text: str) -> tokenizers.Encoding:
        """A text that starts a sentence or a document; see the class on the space."""
        with _faults_as_one_line():
            plain = self.backend.encode(text, add_special_tokens=False)
            if not self.is_byte_level or not text or text[0].isspace():
                return plain
            spaced = self.backend.encode(f" {text}", add_special_tokens=False)
        return spaced if len(spaced.ids) <= len(plain.ids) else plain

    def _piece(self, token_id: int) -> str:
        piece = self.backend.id_to_token(token_id)
        if piece is None:
            raise ValueError(
                f"token {token_id} is not in the vocabulary; ids are 0 to {self.vocab_size - 1}"
            )
        return piece


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


def _is_of_the_library(error: BaseException) -> bool:
    """Whether the library could not read what it got: a bare Exception, or a panic of its Rust."""
    return isinstance(error, Exception) or type(error).__name__ == "PanicException"


@contextmanager
def _faults_as_one_line() -> Iterator[None]:
    """What the library cannot do with a text is a ValueError, panics of its Rust too."""
    try:
        yield
    except BaseException as error:
        if type(error) is not Exception and type(error).__name__ != "PanicException":
            raise
        raise ValueError(
            f"the tokenizer cannot take this text: {quoted(error)}; use another tokenizer"
        ) from None


def _refuse_unfaithful(backend: tokenizers.Tokenizer) -> None:
    """ValueError for a tokenizer that would cut, pad, or read one text in two ways."""
    if backend.truncation is not None:
        n_tokens = backend.truncation["max_length"]
        raise ValueError(f"the tokenizer cuts texts to {n_tokens} tokens; remove its truncation")
    if backend.padding is not None:
        raise ValueError("the tokenizer pads texts; remove its padding")
    if any(getattr(backend.model, name, None) for name in ("dropout", "alpha", "nbest_size")):
        raise ValueError(
            "the tokenizer cuts a text at random; remove dropout, alpha and nbest_size of its model"
        )
    ids = sorted(backend.get_vocab(with_added_tokens=True).values())
    if ids != list(range(len(ids))):
        raise ValueError(
            f"the tokenizer has {len(ids)} tokens but their ids are not 0 to {len(ids) - 1}, each "
            "once; use the file the model was trained with"
        )
    _refuse_unreadable(backend)
    for name, part, known in (
        ("normalizer", backend.normalizer, _NORMALIZERS),
        ("decoder", backend.decoder, _DECODERS),
    ):
        kinds = _kinds_of(part)
        if unknown := sorted(set(kinds) - known):
            raise ValueError(
                f"the tokenizer's {name} {quoted(unknown[0])} is not one that Headlight knows; "
                f"known are {', '.join(sorted(known))}"
            )
        if len(kinds) > MOST_PARTS:
            raise ValueError(
                f"the tokenizer's {name} has {len(kinds)} parts; at most {MOST_PARTS} are taken"
            )


def _refuse_unreadable(backend: tokenizers.Tokenizer) -> None:
    """ValueError where some character would have no token at all, and vanish."""
    if not isinstance(backend.model, models.BPE):
        model = json.loads(backend.to_str())["model"]
        known = backend.get_vocab(with_added_tokens=False)
        if model.get("unk_id") is None and model.get("unk_token") not in known:
            raise ValueError("the tokenizer has no token for unknown characters; add one to it")
        return
    added = {x.content for x in backend.get_added_tokens_decoder().values()}
    words = set(backend.get_vocab(with_added_tokens=False)) - added
    if strange := sorted(word for word in words if not set(word) <= _BYTE_OF_SYMBOL.keys()):
        raise ValueError(
            f"the tokenizer is BPE but not byte-level: it has {quoted(strange[0])}; use one "
            "whose tokens are bytes"
        )
    if missing := sorted(_BYTE_OF_SYMBOL.keys() - words):
        raise ValueError(
            f"the tokenizer lacks {len(missing)} of the 256 bytes, which would vanish from a text; "
            "use the file the model was trained with"
        )


def _kinds_of(part: Any) -> list[str]:  # noqa: ANN401, the library gives no common type
    """Names of all that a normalizer or a decoder consists of."""
    found, waiting = [], [] if part is None else [json.loads(part.__getstate__())]
    while waiting:
        one = waiting.pop()
        inner = one.get("normalizers", one.get("decoders"))
        if inner is None:
            found.append(one["type"])
        else:
            waiting.extend(inner)
    return found


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


# How BPE that is not made of bytes alone marks where a word goes on, or ends.
_WORD_MARKS = ("continuing_subword_prefix", "end_of_word_suffix")

MOST_PARTS = 20  # of a normalizer or a decoder


def _symbols_of_bytes() -> dict[str, int]:
    """The printable stand-ins that byte-level BPE uses for bytes (GPT-2's `bytes_to_unicode`)."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in printable]
    symbols = {chr(byte): byte for byte in printable}
    return symbols | {chr(256 + i): byte for i, byte in enumerate(others)}


_BYTE_OF_SYMBOL = _symbols_of_bytes()

# What these change is said on screen. A Replace could make a text longer without end.
_NORMALIZERS = frozenset(
    ("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "Strip", "StripAccents", "BertNormalizer", "Nmt")
)
# A Replace or a Strip among them could make a text longer without end, or fail on it.
_DECODERS = frozenset(("ByteLevel", "BPEDecoder", "Fuse", "Metaspace", "WordPiece"))
