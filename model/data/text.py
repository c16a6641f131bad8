"""Text files as batches of token windows, in an order that depends on the seed alone."""

import codecs
import hashlib
import logging
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from model.data.tokenizer import END_OF_TEXT, Tokenizer
from model.files import names_of
from model.lines import spelled

HELD_OUT_SHARE = 0.01
LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Corpus:
    """The texts to train on, and those to evaluate on by the name they have in the log."""

    texts: list[str]
    held_out: dict[str, str] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """What changes with any character of the texts to train on."""
        return digest(self.texts)


def digest(texts: Iterable[str]) -> str:
    """Sixteen hexadecimal digits that differ for different texts."""
    sha256 = hashlib.sha256()
    for text in texts:
        content = text.encode()
        sha256.update(f"{len(content)}\n".encode())
        sha256.update(content)
    return sha256.hexdigest()[:16]


def read_text(path: Path) -> str:
    """A UTF-8 text file; ValueError when it is missing, empty, not UTF-8 or has a NUL.

    Lines end in LF, without a byte-order mark, however the file was saved, so that one text has
    one loss; where that changes the text a line on standard error says so.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ValueError(f"cannot read {path}: {error.strerror}; check the path") from None
    return text_of(content, spelled(path))


def text_of(content: bytes, called: str) -> str:
    """What `read_text` reads, of the bytes of a file that is called so."""
    text = _decoded(content, called)
    plain = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if not plain:
        raise ValueError(f"{called} is empty; give a file with text")
    if plain != text:
        n_bytes = len(text.encode()) - len(plain.encode())
        LOG.warning(
            "%s: line ends are read as LF, without a byte-order mark (%s bytes fewer)",
            called,
            f"{n_bytes:,}",
        )
    return plain


def _decoded(content: bytes, called: str) -> str:
    if content.startswith(codecs.BOM_UTF32_LE):
        fault = "it begins with the mark of UTF-32"
    elif content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        fault = "it begins with the mark of UTF-16"
    elif 0 in content:
        fault = f"a NUL at byte {content.index(0):,}, as files that are no text, or UTF-16, have"
    else:
        try:
            return content.decode()
        except UnicodeDecodeError as error:
            fault = f"{error.reason} at byte {error.start:,}, perhaps of Windows-1252 or UTF-16"
    raise ValueError(
        f"{called} is not valid UTF-8 text: {fault}; give a text, saved as UTF-8 "
        "(PowerShell's > writes UTF-16)"
    )


def read_corpus(corpus: Sequence[Path], held_out: Sequence[Path] = ()) -> Corpus:
    """Text files; without held-out ones the last hundredth of each is that."""
    texts = [read_text(path) for path in corpus]
    named = dict(zip(names_of(held_out), map(read_text, held_out), strict=True))
    return Corpus(texts, named) if named else hold_out(texts)


def hold_out(texts: Sequence[str]) -> Corpus:
    """Keep the last hundredth of each text for evaluation, cut at the end of a paragraph."""
    kept, held_out = [], {}
    for number, text in enumerate(texts):
        cut = text.rfind("\n\n", 0, int(len(text) * (1 - HELD_OUT_SHARE))) + 2
        cut = cut if cut > 1 else int(len(text) * (1 - HELD_OUT_SHARE))
        if not text[cut:].removeprefix(END_OF_TEXT):
            cut = int(len(text) * (1 - HELD_OUT_SHARE))
        kept.append(text[:cut])
        held_out[f"corpus {number}"] = text[cut:].removeprefix(END_OF_TEXT)
    return Corpus(kept, held_out)


def encode_texts(tokenizer: Tokenizer, texts: Sequence[str]) -> np.ndarray:
    """All texts as one row of ids, each text closed by the end-of-text token. Returns (N,)."""
    ids = array("H" if tokenizer.vocab_size <= 1 << 16 else "i")  # two bytes where they do
    for text in texts:
        ids.extend(tokenizer.iterate_documents(text))
        ids.append(tokenizer.end_id)
    return np.frombuffer(ids, ids.typecode)


@dataclass(frozen=True, eq=False)
class TokenWindows:
    """Windows of `seq_len` inputs and their next tokens, each token once per epoch.

    Every epoch cuts the text at another offset and draws another order, both from the seed, so
    the batch of a step can be had without having drawn those before it: resuming needs no state.
    """

    ids: np.ndarray  # (N,)
    seq_len: int
    batch_size: int
    seed: int

    def __post_init__(self) -> None:
        if len(self.ids) < 2 * self.seq_len + 1:
            raise ValueError(
                f"the corpus has {len(self.ids)} tokens; windows of {self.seq_len} need at least "
                f"{2 * self.seq_len + 1}: give more text or a shorter seq_len"
            )

    @property
    def windows_per_epoch(self) -> int:
        """How many windows fit when the first one starts as late as it may."""
        return (len(self.ids) - self.seq_len) // self.seq_len

    def batch(self, step: int) -> Tensor:
        """The windows of one step, (B, seq_len + 1): inputs are [:, :-1], targets [:, 1:]."""
        first = step * self.batch_size
        starts = [self._start(first + row) for row in range(self.batch_size)]
        rows = [self.ids[start : start + self.seq_len + 1] for start in starts]
        return torch.from_numpy(np.stack(rows).astype(np.int64))

    def _start(self, index: int) -> int:
        epoch, position = divmod(index, self.windows_per_epoch)
        offset, order = _epoch_order(self.seed, epoch, self.seq_len, self.windows_per_epoch)
        return offset + int(order[position]) * self.seq_len


@lru_cache(maxsize=4)
def _epoch_order(seed: int, epoch: int, seq_len: int, windows: int) -> tuple[int, np.ndarray]:
    generator = np.random.default_rng([seed, epoch, seq_len])
    return int(generator.integers(seq_len)), generator.permutation(windows)
