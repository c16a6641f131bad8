"""Text to numbers and back: byte-level BPE and single characters, over the `tokenizers` library.

Text from a person is never parsed for special tokens: someone who types `<|endoftext|>` or `</s>`
gets those characters. Only `encode_documents`, meant for text files, reads the separator.
"""

import json
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, groupby, islice
from pathlib import Path

import tokenizers
from tokenizers import Regex, decoders, models, pre_tokenizers, trainers

from model.data.faithful import refuse_unfaithful
from model.data.pieces import BYTE_OF_SYMBOL, bytes_of_symbols, strings_of_bytes
from model.files import LARGEST_TOKENIZER, read_text
from model.given import Chat, Markup, Turn, Typed, words_of
from model.lines import quoted, spelled

END_OF_TEXT = "<|endoftext|>"
# Those that only some models need; no text becomes one of them either.
START_OF_TEXT, PADDING, MASK = "<|startoftext|>", "<|padding|>", "[MASK]"
UNKNOWN = "\N{REPLACEMENT CHARACTER}"
NO_TEMPLATE = "this model has no chat template: it reads a text as it is"

# GPT-2's split into words, but a run of line breaks stays one piece and digits stand alone. The
# time that merges take grows with the square of a word's length, so no word is longer than 1,000.
_WORDS = Regex(
    r"'(?:[sdmt]|ll|ve|re)| ?\p{L}{1,1000}| ?\p{N}| ?[^\s\p{L}\p{N}]{1,1000}"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_UNBROKEN, _MOST_UNBROKEN = re.compile(r"\S{1000,}"), 4_000_000
# A file is read in pieces, each cut before a space or a line break where there is one.
_PIECES = re.compile(r"[\s\S]{1,10000}(?:(?<=\S)(?=[ \n])|\Z)|[\s\S]{1,10000}")
_PIECES_AT_ONCE = 50
_ANY_CHARACTER = Regex(r"[\s\S]")


@dataclass(frozen=True)
class Merges:
    """What byte-level BPE makes tokens by, in ids; a merge's rank is its place in `rules`.

    `bytes` has the id of each byte that has one, a rule is left part, right part and whole. Where
    `takes_known_whole` a pre-token that is in the vocabulary becomes one token without merges.
    """

    bytes: dict[int, int]
    rules: list[tuple[int, int, int]]
    takes_known_whole: bool = False


class Tokenizer:
    """One vocabulary, with `encode` for sentences and `encode_documents` for files.

    Byte-level BPE puts a space before a text's first word, so that it becomes the same token as
    anywhere else; not where that costs a token, as for a word seen only at the start of stories.
    `special_ids` stand for no text, such as the end of text; no text has them.
    """

    def __init__(self, backend: tokenizers.Tokenizer) -> None:
        self.backend = backend
        self.backend.encode_special_tokens = True  # text that looks like a special token is text
        self.is_byte_level = isinstance(backend.model, models.BPE)
        end_id = backend.token_to_id(END_OF_TEXT)
        if end_id is None:
            raise ValueError(f"the tokenizer has no {END_OF_TEXT} token; train it again")
        self.end_id: int = end_id
        added = backend.get_added_tokens_decoder()
        self._added = {i: x.content for i, x in added.items()}
        self.special_ids = frozenset(i for i, x in added.items() if x.special)

    @property
    def vocab_size(self) -> int:
        """Number of different ids, the end of text included."""
        return self.backend.get_vocab_size()

    def id_of(self, special: str) -> int:
        """The id of a special token such as MASK; ValueError when this tokenizer has none."""
        for token_id, content in self._added.items():
            if content == special:
                return token_id
        raise ValueError(f"the tokenizer has no {special} token; use one that was made with it")

    def with_specials(self, specials: Sequence[str]) -> "Tokenizer":
        """The same tokenizer with more special tokens, whose ids come after all others."""
        backend = tokenizers.Tokenizer.from_str(self.backend.to_str())
        backend.add_special_tokens(list(specials))
        return Tokenizer(backend)

    @cached_property
    def _reading(self) -> tokenizers.Tokenizer:
        """Another one like `backend`, which reads markup as the special token it names."""
        return tokenizers.Tokenizer.from_str(self.backend.to_str())

    def _reads_with(self, given: Typed) -> tokenizers.Tokenizer:
        """What reads a text or markup; ValueError for a chat."""
        if isinstance(given, Chat):
            raise ValueError(NO_TEMPLATE)
        return self._reading if isinstance(given, Markup) else self.backend

    def spelled_specials(self, text: str) -> list[str]:
        """Special tokens that a text spells, each once; they are text, unless it is `Markup`."""
        return [self._added[i] for i in sorted(self.special_ids) if self._added[i] in text]

    def encode(self, given: Typed) -> list[int]:
        """Ids of a text, every character of it taken literally, or of markup."""
        return self._encode_start(checked(words_of(given)), self._reads_with(given)).ids

    def windows(self, text: str, size: int) -> list[list[int]]:
        """The ids of a text file, cut into windows that do not overlap."""
        ids = self.encode_documents(text)
        return [ids[start : start + size] for start in range(0, len(ids), size)]

    def pre_tokens(self, given: Typed) -> list[tuple[int, ...]]:
        """The ids `encode` gives, grouped by the pre-tokens the text is first split into."""
        encoding = self._encode_start(checked(words_of(given)), self._reads_with(given))
        return grouped(words_in(encoding), encoding.ids)

    def encode_documents(self, text: str) -> list[int]:
        """Ids of a text file in which `<|endoftext|>` separates documents."""
        return list(self.iterate_documents(text))

    def iterate_documents(self, text: str) -> Iterator[int]:
        """What `encode_documents` gives, in little memory and so that Ctrl-C is heard."""
        for number, document in enumerate(checked(text).split(END_OF_TEXT)):
            if number:
                yield self.end_id
            pieces = _pieces(document)
            yield from self._encode_start(next(pieces, ""), self.backend).ids
            while others := list(islice(pieces, _PIECES_AT_ONCE)):
                with one_line_faults():
                    encodings = self.backend.encode_batch_fast(others, add_special_tokens=False)
                yield from chain.from_iterable(encoding.ids for encoding in encodings)

    def lost_turns(self, given: Typed) -> list[Turn]:
        """Turns of a chat that its template leaves out or rewrites."""
        return []

    def plain_text(self, given: Typed) -> str:
        """All that is read as text: without special tokens, of a chat what its template writes."""
        text = words_of(given)
        return without_specials(self.backend, text) if isinstance(given, Markup) else text

    def reads(self, given: Typed) -> str | None:
        """The text as its tokens have it, where that is not the text; None where it is.

        They differ where the tokenizer changes what it gets, as by writing it in lower case, or
        has no token for a character.
        """
        decoded, text = self.decode(self.encode(given)), words_of(given)
        return None if decoded in (text, f" {text}") else decoded

    def normalized(self, text: str) -> str:
        """What its normalizer makes of a text, before it is cut into tokens."""
        with one_line_faults():
            normalizer = self.backend.normalizer
            return text if normalizer is None else normalizer.normalize_str(text)

    def decode(self, ids: Sequence[int]) -> str:
        """The text of some ids, with the space `encode` may have put in front."""
        with one_line_faults():
            return self.backend.decode(list(ids), skip_special_tokens=False)

    def continuation(self, ids: Sequence[int], new: Sequence[int]) -> str:
        """What new ids add to the text of others, with a word's space, without special tokens."""
        with one_line_faults():
            before, after = self.backend.decode_batch([[*ids], [*ids, *new]])
        return after[len(before) :]

    def lacking(self, ids: Sequence[int]) -> list[int]:
        """Those ids that have no token, each once; a model may have more rows than there are."""
        return [i for i in dict.fromkeys(ids) if self._spelled(i) is None]

    def token_strings(self, ids: Sequence[int]) -> tuple[str, ...]:
        """What each id of a text stands for, for display; joined they read as the text."""
        if not self.is_byte_level:
            return tuple(map(self._piece, ids))
        return tuple(strings_of_bytes([self.token_bytes(i) for i in ids]))

    def name(self, token_id: int) -> str:
        """What an id stands for that is of no text, as a prediction."""
        return self.token_strings([token_id])[0]

    def labels(self, given: Typed, ids: Sequence[int]) -> tuple[str, ...]:
        """What each id of a text stands for, for display."""
        return self.token_strings(ids)

    def token_bytes(self, token_id: int) -> bytes:
        """What an id stands for, as UTF-8; of byte-level BPE it may be part of a character."""
        piece = self._piece(token_id)
        if token_id in self._added:  # text as it is, not the stand-ins of its bytes
            return self._added[token_id].encode()
        if not self.is_byte_level:
            return piece.encode()
        return bytes_of_symbols(piece)

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
            bytes={byte: vocab[sign] for sign, byte in BYTE_OF_SYMBOL.items() if sign in vocab},
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
        backend = read_backend(path)
        try:
            tokenizer = cls(backend)
            refuse_unfaithful(backend)
        except ValueError as error:
            raise ValueError(f"{spelled(path)}: {error}") from None
        return tokenizer

    def _encode_start(self, text: str, backend: tokenizers.Tokenizer) -> tokenizers.Encoding:
        """A text that starts a sentence or a document; see the class on the space."""
        with one_line_faults():
            plain = backend.encode(text, add_special_tokens=False)
            if not self.is_byte_level or not text or text[0].isspace():
                return plain
            spaced = backend.encode(f" {text}", add_special_tokens=False)
        return spaced if len(spaced.ids) <= len(plain.ids) else plain

    def _spelled(self, token_id: int) -> str | None:
        return self.backend.id_to_token(token_id)

    def _piece(self, token_id: int) -> str:
        piece = self._spelled(token_id)
        if piece is None:
            raise ValueError(
                f"token {token_id} is not in the vocabulary; ids are 0 to {self.vocab_size - 1}"
            )
        return piece


def without_specials(backend: tokenizers.Tokenizer, text: str) -> str:
    """A text without the special tokens that it spells, and the space that they take with them."""
    specials = [one for one in backend.get_added_tokens_decoder().values() if one.special]
    longest_first = sorted(specials, key=lambda one: -len(one.content))
    space = r"\s*"
    patterns = [
        f"{space * one.lstrip}{re.escape(one.content)}{space * one.rstrip}" for one in longest_first
    ]
    return re.sub("|".join(patterns) or "(?!)", "", text)


def words_in(encoding: tokenizers.Encoding) -> list[int]:
    """The number of the pre-token each id is of; each special token stands alone."""
    return [-1 - place if word is None else word for place, word in enumerate(encoding.word_ids)]


def grouped(words: Iterable[object], ids: Iterable[int]) -> list[tuple[int, ...]]:
    """Ids of one pre-token together."""
    pairs = zip(words, ids, strict=True)
    return [tuple(i for _, i in same) for _, same in groupby(pairs, lambda pair: pair[0])]


def read_backend(path: Path) -> tokenizers.Tokenizer:
    """What a tokenizer.json holds; ValueError when it is missing or broken."""
    text = read_text(path, LARGEST_TOKENIZER)
    try:
        return tokenizers.Tokenizer.from_str(text)
    except BaseException as error:
        if not _is_of_the_library(error):
            raise
        raise ValueError(
            f"{spelled(path)} is not a valid tokenizer: {quoted(error)}; {_remedy(text)}"
        ) from None


def _remedy(text: str) -> str:
    """What to do about a tokenizer.json that the library does not take."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return "copy it again"
    version = tokenizers.__version__
    return f"it is perhaps of a newer tokenizers (here {version}), else copy it again"


def train_bpe(texts: Sequence[str], vocab_size: int, specials: Sequence[str] = ()) -> Tokenizer:
    """Learn byte-level BPE merges (Sennrich et al. 2016; bytes as in Radford et al. 2019, §2.2).

    vocab_size counts the 256 bytes, `<|endoftext|>` and other special tokens, so it must be at
    least 257 and their number.
    """
    least = 257 + len(specials)
    if vocab_size < least:
        raise ValueError(f"vocab_size is {vocab_size}; byte-level BPE needs at least {least}")
    n_unbroken = sum(len(run[0]) for text in texts for run in _UNBROKEN.finditer(text))
    if n_unbroken > _MOST_UNBROKEN:
        raise ValueError(
            f"{n_unbroken:,} characters of the text stand in runs of 1,000 and more without a "
            f"space; byte-level BPE takes at most {_MOST_UNBROKEN:,}: break the lines, or set "
            'tokenizer = "characters"'
        )
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
        special_tokens=[END_OF_TEXT, *specials],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    beside(lambda: backend.train_from_iterator(_training_pieces(texts), trainer))
    return Tokenizer(backend)


def beside(work: Callable[[], None]) -> None:
    """Work that runs no Python, in a thread of its own, so that Ctrl-C is heard in this one."""
    done: Future[None] = Future()

    def run() -> None:
        try:
            done.set_result(work())
        except BaseException as error:  # raised again by whoever waits
            done.set_exception(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    while thread.is_alive():  # on Windows nothing is heard while it waits for long
        thread.join(0.2)
    done.result()


def train_characters(texts: Iterable[str], specials: Sequence[str] = ()) -> Tokenizer:
    """One token for each different character; others become `�` when encoding."""
    characters = sorted(set().union(*texts) - {UNKNOWN})
    vocab = {token: i for i, token in enumerate([END_OF_TEXT, UNKNOWN, *specials, *characters])}
    backend = tokenizers.Tokenizer(models.WordLevel(vocab, unk_token=UNKNOWN))
    backend.add_special_tokens([END_OF_TEXT, *specials])
    backend.pre_tokenizer = pre_tokenizers.Split(_ANY_CHARACTER, behavior="isolated")
    backend.decoder = decoders.Fuse()
    return Tokenizer(backend)


# How a recipe names a way to make a tokenizer: from texts, the size of its vocabulary, and the
# special tokens it must have besides the end of text. Pictures need none.
TOKENIZERS: dict[str, Callable[[list[str], int, Sequence[str]], Tokenizer | None]] = {
    "bpe": train_bpe,
    "characters": lambda texts, vocab_size, specials: train_characters(texts, specials),
    "none": lambda texts, vocab_size, specials: None,
}


def _is_of_the_library(error: BaseException) -> bool:
    """Whether the library could not read what it got: a bare Exception, or a panic of its Rust."""
    return isinstance(error, Exception) or type(error).__name__ == "PanicException"


@contextmanager
def one_line_faults() -> Iterator[None]:
    """What the library cannot do with a text is a ValueError, panics of its Rust too."""
    try:
        yield
    except BaseException as error:
        if type(error) is not Exception and type(error).__name__ != "PanicException":
            raise
        raise ValueError(
            f"the tokenizer cannot take this text: {quoted(error)}; use another tokenizer"
        ) from None


def _training_pieces(texts: Iterable[str]) -> Iterable[str]:
    for text in texts:
        for document in text.split(END_OF_TEXT):
            yield from _pieces(document)


def checked(text: str) -> str:
    """The text; ValueError when it holds half a character, as from a terminal that is not UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(
            f"character {error.start} of the text is not valid Unicode; type it again as UTF-8"
        ) from None
    return text


def _pieces(text: str) -> Iterator[str]:
    """Cut before the first character after each blank line, so that pieces join to the text.

    A longer one is cut again.
    """
    start = 0
    while start < len(text):
        end = text.find("\n\n", start) + 2
        end = end if end > 1 else len(text)
        yield from (piece[0] for piece in _PIECES.finditer(text, start, end))
        start = end


# How BPE that is not made of bytes alone marks where a word goes on, or ends.
_WORD_MARKS = ("continuing_subword_prefix", "end_of_word_suffix")
