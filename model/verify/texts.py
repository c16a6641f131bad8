"""What token ids stand for, read from tokenizer.json alone: the other side of the check of labels.

Nothing of `model.data.tokenizer` is used, nor the library behind it.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from model.verify.check import Check


@cache
def stand_ins() -> dict[str, int]:
    """The byte that each character of a byte-level vocabulary stands for.

    Printable bytes of Latin-1 stand for themselves; the others, in their order, are characters
    from 256 on (Radford et al. 2019, the published code).
    """
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    of_others = {chr(256 + number): byte for number, byte in enumerate(others)}
    return {chr(byte): byte for byte in printable} | of_others


@dataclass(frozen=True)
class Vocabulary(Mapping[int, bytes]):
    """The bytes that each id stands for; `keeps_all` where every text is tokens as it stands."""

    entries: Mapping[int, bytes]
    keeps_all: bool

    def __getitem__(self, number: int) -> bytes:
        """Of one id."""
        return self.entries[number]

    def __iter__(self) -> Iterator[int]:
        """The ids."""
        return iter(self.entries)

    def __len__(self) -> int:
        """How many there are."""
        return len(self.entries)


NO_WORDS = Vocabulary({}, keeps_all=False)


@cache
def _read(path: Path, _changed: int) -> Vocabulary:
    content = json.loads(path.read_text(encoding="utf-8"))
    model = content["model"]
    is_of_bytes = model["type"] == "BPE"
    vocab = {
        number: bytes(stand_ins()[sign] for sign in piece) if is_of_bytes else piece.encode()
        for piece, number in model["vocab"].items()
    }
    has_all_bytes = is_of_bytes and set(stand_ins()) <= set(model["vocab"])
    added = {entry["id"]: entry["content"].encode() for entry in content["added_tokens"]}
    keeps_all = has_all_bytes and content["normalizer"] is None
    return Vocabulary(vocab | added, keeps_all)


def texts_of(folder: Path) -> Vocabulary:
    """What tokenizer.json of a checkpoint says, nothing where it has none.

    Read again once it changed.
    """
    path = folder / "tokenizer.json"
    if not path.is_file():
        return NO_WORDS
    return _read(path, path.stat().st_mtime_ns)


def check_text(text: str, ids: Sequence[int], texts: Mapping[int, bytes], *, is_cut: bool) -> Check:
    """Whether the ids stand for a text, byte for byte; of one that was cut, for its beginning.

    A space may stand before the first word. The error is the number of bytes that differ.
    """
    said, typed = b"".join(texts[i] for i in ids), text.encode()
    if said[:1] == b" " and typed[:1] != b" ":
        said = said[1:]
    typed = typed[: len(said)] if is_cut else typed
    n_differing = sum(a != b for a, b in zip(said, typed, strict=False))
    n_missing = abs(len(said) - len(typed))
    return Check("token ids = the sentence, byte for byte", float(n_differing + n_missing), 0.0)
