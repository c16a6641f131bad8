"""What heads are measured on: windows of a text, pairs of sentences, pictures, random repeats."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np

from model.analysis.exchanged import exchanged, exchanged_patches, length_of_half, repeated
from model.config import VisionConfig
from model.data.images import read_part
from model.data.pairs import read_pair
from model.data.text import digest, read_text
from model.data.tokenizer import UNKNOWN, Tokenizer
from model.files import names_of
from model.inputs import translation_of
from model.sources.table import Runnable

SHORTEST = 2  # tokens: a row with one key has no choice
REPEATED = 24  # random tokens that are said twice
TRIED = 1000  # of the vocabulary, until so many are found


@dataclass(frozen=True)
class Asked:
    """What to survey a model on: text files, with the targets of a translation, or pictures.

    `window` is the number of tokens in a window of a text, 0 for the context; `most` ends the
    survey once it has so many tokens, 0 for all.
    """

    texts: tuple[Path, ...] = ()
    references: tuple[Path, ...] = ()
    images: Path | None = None
    window: int = 0
    most: int = 0


@dataclass(frozen=True, eq=False)
class Sample:
    """One input: what a capture takes, and the same with its words exchanged.

    `given` are its ids, of a translation those of source and target; nothing of a picture, which
    is known by its number.
    """

    arguments: tuple[Any, ...]
    exchanged: tuple[Any, ...]
    given: tuple[Sequence[int], ...]
    number: int


@dataclass(frozen=True, eq=False)
class Samples:
    """All inputs of a survey, made when asked for; `lengths` are their tokens or patches."""

    make: Callable[[int], Sample]
    lengths: Sequence[int]
    parts: dict[str, int]  # how many tokens come of each file
    digest: str

    def __len__(self) -> int:
        """How many there are."""
        return len(self.lengths)


def samples_of(loaded: Runnable, asked: Asked) -> Samples:
    """The inputs for a model of its architecture; ValueError where what is given does not fit."""
    kind = loaded.config.architecture
    if "weights" not in loaded.offers and KINDS[kind] is not _windows:
        raise ValueError(
            f"{loaded.name} does not read one text alone, and of such models a survey takes "
            "Headlight's own; name one of these"
        )
    return KINDS[kind](loaded, asked)


def _windows(loaded: Runnable, asked: Asked) -> Samples:
    """Windows of each text file that do not overlap; what is left of a file is a shorter one."""
    if not asked.texts or asked.references or asked.images:
        raise ValueError(_needs(loaded, "--text-file with one text or several, and nothing else"))
    context = loaded.model.config.max_seq_len
    window = asked.window or context
    if not SHORTEST <= window <= context:
        raise ValueError(
            f"window is {window}; it must be between {SHORTEST} and the context {context}"
        )
    named = list(zip(names_of(asked.texts), map(read_text, asked.texts), strict=True))
    return windows_of(loaded, named, window, asked.most)


def windows_of(
    loaded: Runnable, texts: Sequence[tuple[str, str]], window: int, most: int
) -> Samples:
    """Windows of texts, each with its name; ValueError where they are too short."""
    tokenizer = loaded.tokenizer
    cut, of_file = [], []
    for name, text in texts:
        parts = [part for part in tokenizer.windows(text, window) if len(part) >= SHORTEST]
        cut.extend(parts)
        of_file.extend([name] * len(parts))

    def make(number: int) -> Sample:
        ids = cut[number]
        other = exchanged(ids, tokenizer.special_ids)
        own, changed = ((row, tokenizer.token_strings(row)) for row in (ids, other))
        return Sample(own, changed, (ids,), number)

    whole = Samples(make, list(map(len, cut)), {}, digest(text for _, text in texts))
    return _limited(whole, of_file, most)


def _pairs(loaded: Runnable, asked: Asked) -> Samples:
    """Each source with its right translation fed in."""
    if len(asked.texts) != 1 or len(asked.references) != 1 or asked.images or asked.window:
        raise ValueError(
            _needs(loaded, "one --text-file and its --reference-file, and no --window")
        )
    tokenizer, context = loaded.tokenizer, loaded.model.config.max_seq_len
    pairs = read_pair(asked.texts[0], asked.references[0])
    both = [
        (tokenizer.encode(source)[: context - 1], tokenizer.encode(target)[: context - 1])
        for source, target in zip(pairs.sources, pairs.targets, strict=True)
    ]
    lengths = [len(source) + len(target) + 2 for source, target in both]

    def make(number: int) -> Sample:
        source, target = both[number]
        own = translation_of(tokenizer, source, target)
        rows = [exchanged(ids, tokenizer.special_ids) for ids, _ in own]
        other = tuple((row, tokenizer.token_strings(row)) for row in rows)
        return Sample(own, other, (source, target), number)

    every = Samples(make, lengths, {}, digest([*pairs.sources, *pairs.targets]))
    return _limited(every, [asked.texts[0].name] * len(both), asked.most)


def _pictures(loaded: Runnable, asked: Asked) -> Samples:
    """The test pictures of a file."""
    config = loaded.config
    assert isinstance(config, VisionConfig)  # by the table
    if asked.images is None or asked.texts or asked.references or asked.window:
        raise ValueError(_needs(loaded, "--images FILE.npz and nothing else"))
    images = read_part(asked.images, "test")
    if images.images.shape[1] != config.image_size:
        raise ValueError(
            f"{asked.images}: its pictures have {images.images.shape[1]} pixels on a side; "
            f"{loaded.name} takes {config.image_size}"
        )

    def make(number: int) -> Sample:
        image = images.images[number] / np.float32(255)
        other = exchanged_patches(image, config.patch_size)
        return Sample((image,), (other,), (), number)

    lengths = [config.max_seq_len] * len(images.images)
    every = Samples(make, lengths, {}, images.digest)
    return _limited(every, [asked.images.name] * len(lengths), asked.most)


@dataclass(frozen=True)
class Repeats:
    """n random tokens and the same again, after what begins every text; all of them are `ids`.

    `text` is what a person types to have them read as these ids; empty where no text is.
    """

    ids: list[int]
    n: int
    text: str


def random_repeats(loaded: Runnable) -> Repeats:
    """What induction is measured on (Olsson et al. 2022), the same each time.

    Its tokens stand for letters or signs, and are such that their text reads back as these
    ids, where there are such. ValueError for what is no decoder, and for a context without room.
    """
    if not {"decoder", "vocabulary"} <= loaded.offers:
        raise ValueError(f"{loaded.name} is no decoder; random repeats are run by one alone")
    tokenizer = loaded.tokenizer
    drawn = repeated(np.arange(tokenizer.vocab_size), TRIED, 0).tolist()
    plain = [i for i in dict.fromkeys(drawn) if _is_plain(tokenizer, i)]
    one = tokenizer.encode(tokenizer.continuation([], plain[:1]))
    start = list(takewhile(tokenizer.special_ids.__contains__, one))
    n = min(REPEATED, length_of_half(loaded.model.config.max_seq_len - len(start), len(plain)))
    half: list[int] = []
    for token in plain:
        if len(half) < n and _typed(tokenizer, [*start, *half, token, *half, token]):
            half.append(token)
    half = half if len(half) == n else plain[:n]
    ids = [*start, *half, *half]
    return Repeats(ids, n, _typed(tokenizer, ids))


def _is_plain(tokenizer: Tokenizer, token: int) -> bool:
    """Whether a token stands for text by itself: no mark, no half character, no blank."""
    text = "" if tokenizer.lacking([token]) else tokenizer.continuation([], [token])
    return bool(text.strip()) and text.isprintable() and UNKNOWN not in text


def _typed(tokenizer: Tokenizer, ids: Sequence[int]) -> str:
    """The text that is read as just these ids; empty where theirs is read otherwise."""
    text = tokenizer.continuation([], ids)
    return text if tokenizer.encode(text) == list(ids) else ""


def _limited(all_of_it: Samples, of_file: Sequence[str], most: int) -> Samples:
    """As many samples as make `most` tokens, and how many of them come of each file."""
    if most < 0:
        raise ValueError(f"tokens is {most}; give a number above 0, or leave it out for all")
    if not len(all_of_it):
        raise ValueError(f"the text has fewer than {SHORTEST} tokens; give a longer one")
    ends = np.cumsum(all_of_it.lengths)
    kept = int(np.searchsorted(ends, most)) + 1 if 0 < most < ends[-1] else len(ends)
    parts: dict[str, int] = {}
    for length, name in zip(all_of_it.lengths[:kept], of_file[:kept], strict=True):
        parts[name] = parts.get(name, 0) + length
    return Samples(all_of_it.make, all_of_it.lengths[:kept], parts, all_of_it.digest)


def _needs(loaded: Runnable, what: str) -> str:
    return f"{loaded.name} is of the architecture {loaded.config.architecture!r}; give {what}"


KINDS: dict[str, Callable[[Runnable, Asked], Samples]] = {
    "decoder": _windows,
    "encoder": _windows,
    "encoder_decoder": _pairs,
    "vision": _pictures,
}
