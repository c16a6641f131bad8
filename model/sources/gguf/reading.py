"""Files in GGUF, as llama.cpp, Ollama and LM Studio keep a model: what they say before a number.

transformers makes float32 of each weight, and puts it in its place; what the header says is read
here. Only a file whose header was read whole, and whose tensors all lie in it, is given to it.
"""

import math
import os
import struct
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import Any, cast

import gguf
import numpy as np
import transformers  # noqa: F401  first, as `_transformers` in model.sources.transformers says
from gguf import (
    GGUFReader,
    GGUFValueType,
    LlamaFileType,
    ReaderField,
    dequantize,
    get_tensor_name_map,
)
from transformers.integrations.ggml import _gguf_parse_value as parse_value
from transformers.modeling_utils import PreTrainedModel

from model import progress
from model.files import GGUF, StoredTensor, opened
from model.lines import one_line, quoted, spelled
from model.sources.gguf import tokenizer
from model.sources.gguf.families import config_of
from model.sources.gguf.header import Header, Listed
from model.sources.gguf.shared import FACTORS
from model.sources.gguf.tokenizer import NUMBERS, TEXTS, WHOLE_NUMBERS

VERSIONS = (2, 3)
MOST_LAYERS = 4096
PER_LAYER = ("feed_forward_length", "attention.head_count", "attention.head_count_kv")
ROW = "ffn_gate_inp_shexp.weight"
BUFFER = ".layer_output_scale"  # without the end that all tensors have, since it is no parameter
NAMED_AS = {"mistral": "llama"}
ENDING = {text.encode() for text in tokenizer.ENDS}
LENGTHS = {len(text) for text in ENDING}
SOME = 4096  # words of a vocabulary between two looks at who waits
ROWS = 64  # of a tensor that are dequantised as one, where so many divide it
PLAIN = {"F16", "BF16", "F32", "F64"}  # kinds of numbers that nothing was lost of
OWN_FORMAT = "open the model that it was made from, as a folder of transformers"


@dataclass(frozen=True)
class About:
    """A file by its header. `config` is what transformers takes, `kind` what its maker calls it.

    `said` is the header itself, by its keys; of lists about tokens it has kind and number alone.
    `factors` are the numbers of the tensors that say how rotation is scaled, by their names.
    `odd` is what of it is not known here, in words.
    """

    config: dict[str, Any]
    stored: dict[str, StoredTensor]
    kind: str
    said: dict[str, Any]
    factors: dict[str, np.ndarray]
    odd: tuple[str, ...]

    @property
    def weights(self) -> str:
        """How its weights are kept there, in a few words."""
        is_plain = {tensor.dtype for tensor in self.stored.values()} <= PLAIN
        return f"weights of {self.kind}{'' if is_plain else ', dequantised'}"


class _Header(GGUFReader):
    """The package's reader, which makes six objects of each token: 262,144 take it a minute.

    `ends` are the ids of tokens that may end a text, `lists` are of what is not kept. A list of one
    number for each layer, the same for all, is that number, since the packages work with one; so is
    a matrix of one row a vector.
    """

    def __init__(self, path: str) -> None:
        self.ends: dict[str, int] = {}
        self.lists: dict[str, Listed] = {}
        self._last = Listed("", 0)
        super().__init__(path)
        for name, field in self.fields.items():
            said = self.said(name) if name.endswith(PER_LAYER) else None
            if isinstance(said, list) and len(set(said)) == 1:
                kind = field.types[-1]
                self.fields[name] = field._replace(data=field.data[:1], types=[kind])
        self.tensors = [
            x._replace(data=x.data[0]) if x.name.endswith(ROW) and x.data.ndim > 1 else x
            for x in self.tensors
        ]

    def _get_field_parts(self, orig_offs: int, raw_type: int) -> Any:  # noqa: ANN401
        if raw_type != GGUFValueType.ARRAY:
            return super()._get_field_parts(orig_offs, raw_type)
        item = GGUFValueType(int(self._get(orig_offs, np.uint32)[0]))
        n, start = int(self._get(orig_offs + 4, np.uint64)[0]), orig_offs + 12
        self._last = Listed(_of(item), n)
        if item == GGUFValueType.STRING:  # of tokens: how many there are is all that is asked for
            end, content = start, cast("Any", self.data)
            for number in range(n):
                size = struct.unpack_from("<Q", content, end)[0]
                end += 8 + size
                if size in LENGTHS and (text := bytes(content[end - size : end])) in ENDING:
                    self.ends[text.decode()] = number
            return end - orig_offs, [np.empty(0, np.uint8)], [0] * n, [GGUFValueType.ARRAY]
        values = np.asarray(self._get(start, self.gguf_scalar_to_np[item], n))
        if len(values) < n:
            raise ValueError(f"a list of {n:,} numbers has {len(values):,}")
        kept = values if n < MOST_LAYERS else values[:0]  # what belongs to tokens, as their scores
        types = [GGUFValueType.ARRAY, item]
        return 12 + values.nbytes, list(kept[:, None]), list(range(len(kept))), types

    def _push_field(self, field: ReaderField, skip_sum: bool = False) -> int:
        is_kept = self._last.of != TEXTS and self._last.n < MOST_LAYERS
        if field.types[:1] == [GGUFValueType.ARRAY] and not (
            is_kept and not field.name.startswith("tokenizer.")
        ):
            self.lists[field.name] = self._last
        return super()._push_field(field, skip_sum)

    def said(self, name: str) -> Any:  # noqa: ANN401
        """What the header says under a name; None where it does not."""
        if name in self.lists:
            return self.lists[name]
        field = self.get_field(name)
        return None if field is None else field.contents()


def _of(kind: GGUFValueType) -> str:
    """What a list is of, in words."""
    if kind == GGUFValueType.STRING:
        return TEXTS
    if kind in (GGUFValueType.FLOAT32, GGUFValueType.FLOAT64):
        return NUMBERS
    return "truths" if kind == GGUFValueType.BOOL else WHOLE_NUMBERS


def read(file: Path) -> About:
    """What a file says of itself; ValueError for one that cannot be read, with the remedy."""
    with opened(file) as content:
        start, about = content.read(8), os.fstat(content.fileno())
    if start[:4] != GGUF:
        raise ValueError(f"{spelled(file)} does not begin as GGUF does; copy it again")
    if (version := int.from_bytes(start[4:], "little")) not in VERSIONS:
        raise ValueError(
            f"{spelled(file)} is of version {version:,} of GGUF, and versions 2 and 3 are read; "
            "convert it again with a llama.cpp of today"
        )
    return _read(file, about.st_mtime_ns, about.st_size)


@lru_cache(maxsize=16)
def _read(file: Path, _changed: int, size: int) -> About:
    try:
        header = _header(file)
        n_parts, sort = header.said("split.count") or 1, header.said("general.type") or "model"
    except Exception as error:  # whatever the package makes of bytes that mean nothing
        raise ValueError(
            f"{spelled(file)} cannot be read as GGUF in its {size:,} bytes: "
            f"{one_line(str(error))}; it may be cut, copy it again"
        ) from None
    if n_parts != 1:
        raise ValueError(
            f"{spelled(file)} is one of {n_parts} parts; join them and open what you get: "
            "llama-gguf-split --merge FIRST-PART WHOLE.gguf"
        )
    if sort != "model":
        raise ValueError(f"{spelled(file)} holds no model but its {quoted(sort)}; {OWN_FORMAT}")
    stored = {
        x.name: StoredTensor(x.tensor_type.name, tuple(reversed(x.shape.tolist())), int(x.n_bytes))
        for x in header.tensors
    }
    said = {name: header.said(name) for name in header.fields if not name.startswith("GGUF.")}
    factors = {
        x.name: _dequantised(x.data, x.tensor_type) for x in header.tensors if x.name in FACTORS
    }
    whole = Header(said, stored, factors)
    try:
        config = config_of(whole, header.ends)
    except ValueError as error:
        raise ValueError(f"{spelled(file)}: {error}; {OWN_FORMAT}") from None
    return About(config, stored, _kind(header, stored), said, factors, tuple(oddities(whole)))


def _header(file: Path | str) -> _Header:
    about = os.stat(file)
    return _kept_header(str(file), about.st_mtime_ns, about.st_size)


@lru_cache(maxsize=1)
def _kept_header(file: str, _changed: int, _size: int) -> _Header:
    return _Header(file)


def _kind(header: _Header, stored: dict[str, StoredTensor]) -> str:
    """Q4_K_M: the mixture of kinds that the header names, else the kind of most numbers."""
    named = header.said("general.file_type")
    if named in list(LlamaFileType):
        return LlamaFileType(named).name.partition("_")[2]
    counts: Counter[str] = Counter()
    for tensor in stored.values():
        counts[tensor.dtype] += math.prod(tensor.shape)
    return counts.most_common(1)[0][0]


def oddities(header: Header) -> Iterator[str]:
    """What of a header is not known, in words, once a config was made of it."""
    for name, value in header.unread.items():
        key = f"{quoted(name)} = {quoted(str(value))}"
        yield f"its header says {key}, which is not known here: it may mean another model"
    yield from tokenizer.oddities(header.said)


@contextmanager
def taken(file: Path) -> Iterator[dict[str, Any]]:
    """What `from_pretrained` of transformers is given to read a file, and nothing beside it.

    Meanwhile the packages read a header as here, and once; they list the names of a family's
    weights once instead of once for each module, and dequantise many rows at a time.
    """
    with TemporaryDirectory() as nowhere:
        _Instead.begin()
        try:
            yield {"pretrained_model_name_or_path": nowhere, "gguf_file": str(file)}
        finally:
            _Instead.end()


class _Instead:
    """What stands in the packages while a file is read, by one thread or by several at once."""

    lock, n, own = Lock(), 0, list[tuple[Any, str, Any]]()

    @classmethod
    def begin(cls) -> None:
        """Put it there, unless another thread has."""
        with cls.lock:
            if not cls.n:
                instead = _quicker()
                cls.own = [(module, name, getattr(module, name)) for module, name, _ in instead]
                for place in instead:
                    setattr(*place)
            cls.n += 1

    @classmethod
    def end(cls) -> None:
        """Take it away with the last one."""
        with cls.lock:
            cls.n -= 1
            for place in () if cls.n else cls.own:
                setattr(*place)


def tokenizer_of(file: Path) -> Any:  # noqa: ANN401
    """See `tokenizer.build`; ValueError where its lists mean nothing together."""
    said = read(file).said
    try:
        with taken(file):
            return tokenizer.build(file, said)
    except Exception as error:  # whatever the packages make of texts that mean nothing
        raise ValueError(f"{spelled(file)}: {one_line(str(error))}; {OWN_FORMAT}") from None


def _quicker() -> list[tuple[Any, str, Any]]:
    """What stands in for functions of the two packages, by module and name; it gives the same."""
    reading: Any = import_module("transformers.modeling_gguf_pytorch_utils")
    header: Any = import_module("transformers.integrations.gguf.reader")
    lists: Any = import_module("transformers.integrations.gguf.gguf_tokenizer_mapping")
    return [
        (gguf, "GGUFReader", _header),
        (gguf, "get_tensor_name_map", cache(get_tensor_name_map)),
        (gguf, "dequantize", _dequantised),
        (reading, "tqdm", _told),
        (reading, "_gguf_parse_value", _parsed),
        (reading, "get_gguf_hf_weights_map", _named_as(reading.get_gguf_hf_weights_map)),
        (lists, "generate_merges", _merges),
        (header, "_mapped", lambda file: np.memmap(file, np.uint8, "r").view(np.ndarray)),
    ]


def _named_as(own: Callable[..., dict[str, str]]) -> Callable[..., dict[str, str]]:
    """Its names of weights, with those families that llama.cpp has under another's name."""

    def names(
        model: PreTrainedModel,
        processor: object,
        model_type: str | None = None,
        num_layers: int | None = None,
        qual_name: str = "",
    ) -> dict[str, str]:
        kind = model_type or NAMED_AS.get(model.config.model_type)
        table = own(model, processor, kind, num_layers, qual_name)
        return {f"{x}.weight" if x.endswith(BUFFER) else x: name for x, name in table.items()}

    return names


def _dequantised(data: np.ndarray, kind: Any) -> np.ndarray:  # noqa: ANN401
    """float32 of a tensor; the package takes 16 rows at a time, so many are made one."""
    rows = data.reshape(-1, data.shape[-1])
    wide = rows.reshape(len(rows) // math.gcd(len(rows), ROWS), -1)
    return dequantize(wide, kind).reshape(*data.shape[:-1], -1)


def _parsed(value: Any, kind: Any) -> Any:  # noqa: ANN401
    """A value of a header; nothing of a token, since none was kept."""
    return parse_value(value, kind) if len(value) else ""


def _told(tensors: list[Any], **_: str) -> Any:  # noqa: ANN401
    """Tensors, one after the other, as whoever waits is told."""
    step, unit = progress.WEIGHTS, "tensors"
    return progress.each(step, "Dequantising", tensors, lambda x: int(x.n_elements), unit)


def _merges(
    vocab: dict[str, int],
    scores: dict[str, float] | None = None,
    skip_tokens: Collection[str] | None = None,
) -> list[tuple[str, str]]:
    """All two pieces that make a third, in the order of that one and of their lengths.

    No two splits of a piece have the same lengths: there is nothing to sort among them.
    """
    own, skipped = vocab if scores is None else scores, set(skip_tokens or ())
    pieces, words = vocab.keys() - skipped, [word for word in own if word not in skipped]
    found: list[tuple[float, int, int, str, str]] = []
    parts = [words[n : n + SOME] for n in range(0, len(words), SOME)]
    for part in progress.each(progress.TOKENIZER, "Building its tokenizer", parts, len):
        for word in part:
            for n in range(1, len(word)):
                if (left := word[:n]) in pieces and (right := word[n:]) in pieces:
                    found.append((own[word], n, len(right), left, right))
    found.sort(key=lambda x: x[:3], reverse=scores is not None)
    return [(left, right) for *_, left, right in found]
