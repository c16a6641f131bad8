"""The files of a model for its independent run: config.json and safetensors, with numpy alone."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

Array = np.ndarray
Config = Mapping[str, Any]

# For fields of config.json that are absent.
DEFAULTS: dict[str, Any] = {
    "architecture": "decoder",
    "position": "sinusoidal",
    "norm": "layer",
    "norm_placement": "pre",
    "feedforward": "gelu",
    "norm_eps": 1e-5,
    "position_base": 10_000.0,
    "mask": "causal",
    "window": 0,
    "prefix_len": 0,
    "n_global": 0,
    "tied_embeddings": True,
    "scale_embeddings": False,
}
STORED = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2"}  # by safetensors' names


def read_config(folder: Path) -> Config:
    """The fields of config.json, and the defaults of those it leaves out."""
    given = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    sizes = {"n_kv_heads": given["n_heads"], "d_ff": 4 * given["d_model"]}
    sizes |= {"n_encoder_layers": given["n_layers"]}
    return DEFAULTS | sizes | {name: x for name, x in given.items() if x is not None}


class Stored(Mapping[str, Array]):
    """Every tensor of a safetensors file as float64, by its name, made when it is asked for.

    The format: 8 bytes with the length of a JSON header, which has type, shape and place of each.
    """

    def __init__(self, path: Path) -> None:
        data = np.memmap(path, np.uint8, mode="r")
        start = 8 + int.from_bytes(data[:8].tobytes(), "little")
        header = json.loads(data[8:start].tobytes())
        header.pop("__metadata__", None)
        self._entries, self._numbers = header, data[start:]

    def __getitem__(self, name: str) -> Array:
        """One tensor, (…) as the file has it. BF16 is the upper half of a float32."""
        entry = self._entries[name]
        stored = self._numbers[slice(*entry["data_offsets"])].view(STORED[entry["dtype"]])
        if entry["dtype"] == "BF16":
            stored = (stored.astype("<u4") << 16).view("<f4")
        return stored.astype(np.float64).reshape(entry["shape"])

    def __iter__(self) -> Iterator[str]:
        """The names."""
        return iter(self._entries)

    def __len__(self) -> int:
        """How many tensors there are."""
        return len(self._entries)
