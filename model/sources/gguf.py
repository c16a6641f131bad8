"""Files in GGUF, as llama.cpp, Ollama and LM Studio keep a model: what they say before a number.

transformers takes them as any other, and makes float32 of each weight. Only a file whose header was
read whole, and whose tensors all lie in it, is given to it.
"""

import math
import os
import struct
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

import gguf
import numpy as np
from gguf import GGUFReader, GGUFValueType, LlamaFileType, dequantize, get_tensor_name_map
from tqdm import tqdm
from transformers.integrations.ggml import _gguf_parse_value as parse_value

from model.files import GGUF, StoredTensor, opened
from model.lines import one_line, quoted, spelled

VERSIONS = (2, 3)
MOST_LAYERS = 4096
ROWS = 64  # of a tensor that are dequantised as one, where so many divide it
PLAIN = {"F16", "BF16", "F32", "F64"}  # kinds of numbers that nothing was lost of
OWN_FORMAT = "open the model that it was made from, as a folder of transformers"


@dataclass(frozen=True)
class About:
    """A file by its header. `config` is as transformers has it, `kind` what its maker calls it."""

    config: dict[str, Any]
    stored: dict[str, StoredTensor]
    kind: str

    @property
    def weights(self) -> str:
        """How its weights are kept there, in a few words."""
        is_plain = {tensor.dtype for tensor in self.stored.values()} <= PLAIN
        return f"weights of {self.kind}{'' if is_plain else ', dequantised'}"


class _Header(GGUFReader):
    """The package's reader, which makes six objects of each token: 262,144 take it a minute."""

    def _get_field_parts(self, orig_offs: int, raw_type: int) -> Any:  # noqa: ANN401
        if raw_type != GGUFValueType.ARRAY:
            return super()._get_field_parts(orig_offs, raw_type)
        item = GGUFValueType(int(self._get(orig_offs, np.uint32)[0]))
        n, start = int(self._get(orig_offs + 4, np.uint64)[0]), orig_offs + 12
        if item == GGUFValueType.STRING:  # of tokens: how many there are is all that is asked for
            end, content = start, cast("Any", self.data)
            for _ in range(n):
                end += 8 + struct.unpack_from("<Q", content, end)[0]
            return end - orig_offs, [np.empty(0, np.uint8)], [0] * n, [GGUFValueType.ARRAY]
        values = np.asarray(self._get(start, self.gguf_scalar_to_np[item], n))
        if len(values) < n:
            raise ValueError(f"a list of {n:,} numbers has {len(values):,}")
        kept = values if n < MOST_LAYERS else values[:0]  # what belongs to tokens, as their scores
        types = [GGUFValueType.ARRAY, item]
        return 12 + values.nbytes, list(kept[:, None]), list(range(len(kept))), types

    def said(self, name: str) -> Any:  # noqa: ANN401
        """What the header says under a name; None where it does not."""
        field = self.get_field(name)
        return None if field is None else field.contents()


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
        n_parts, whole = header.said("split.count") or 1, header.said("general.type") or "model"
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
    if whole != "model":
        raise ValueError(f"{spelled(file)} holds no model but its {quoted(whole)}; {OWN_FORMAT}")
    stored = {
        x.name: StoredTensor(x.tensor_type.name, tuple(reversed(x.shape.tolist())), int(x.n_bytes))
        for x in header.tensors
    }
    return About(_config(file), stored, _kind(header, stored))


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


def _config(file: Path) -> dict[str, Any]:
    """What transformers makes of the header, with the class that has a head for words."""
    from transformers import PreTrainedConfig
    from transformers.models.auto import modeling_auto as auto

    try:
        with taken(file) as given:
            config, _ = PreTrainedConfig.get_config_dict(**given)
    except Exception as error:
        raise ValueError(
            f"{spelled(file)} is not read by transformers: {one_line(str(error))}; {OWN_FORMAT}"
        ) from None
    family, one = config["model_type"], auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
    pair = auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES
    return {"architectures": [one.get(family, pair.get(family, ""))], **config}


@contextmanager
def taken(file: Path) -> Iterator[dict[str, Any]]:
    """What `from_pretrained` of transformers is given to read a file, and nothing beside it.

    Meanwhile the packages read a header as here, and once; they list the names of a family's
    weights once instead of once for each module, and dequantise many rows at a time.
    """
    instead = _quicker()
    own = [(module, name, getattr(module, name)) for module, name, _ in instead]
    with TemporaryDirectory() as nowhere:
        try:
            for place in instead:
                setattr(*place)
            yield {"pretrained_model_name_or_path": nowhere, "gguf_file": str(file)}
        finally:
            for place in own:
                setattr(*place)


def _quicker() -> list[tuple[Any, str, Any]]:
    """What stands in for functions of the two packages, by module and name; it gives the same."""
    reading: Any = import_module("transformers.modeling_gguf_pytorch_utils")
    header: Any = import_module("transformers.integrations.gguf.reader")
    return [
        (gguf, "GGUFReader", _header),
        (gguf, "get_tensor_name_map", cache(get_tensor_name_map)),
        (gguf, "dequantize", _dequantised),
        (reading, "tqdm", _watched),
        (reading, "_gguf_parse_value", _parsed),
        (header, "_mapped", lambda file: np.memmap(file, np.uint8, "r").view(np.ndarray)),
    ]


def _dequantised(data: np.ndarray, kind: Any) -> np.ndarray:  # noqa: ANN401
    """float32 of a tensor; the package takes 16 rows at a time, so many are made one."""
    rows = data.reshape(-1, data.shape[-1])
    wide = rows.reshape(len(rows) // math.gcd(len(rows), ROWS), -1)
    return dequantize(wide, kind).reshape(*data.shape[:-1], -1)


def _parsed(value: Any, kind: Any) -> Any:  # noqa: ANN401
    """A value of a header; nothing of a token, since none was kept."""
    return parse_value(value, kind) if len(value) else ""


def _watched(tensors: list[Any], **_: str) -> Any:  # noqa: ANN401
    """A bar while a person watches; nothing in a pipe or a log."""
    return tqdm(tensors, "opening", leave=False, disable=None)
