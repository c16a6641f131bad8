"""The weights of a checkpoint's file: which must be there, and how they are read."""

import json
from pathlib import Path

from safetensors import SafetensorError, safe_open
from torch import Tensor

from model.architectures.base import Model
from model.architectures.table import config_of
from model.config import ModelConfig
from model.files import StoredTensor
from model.lines import quoted, spelled
from model.memory import physical_memory

STORED_TYPES = ("F16", "BF16", "F32", "F64")  # as the header of a weights file spells them


def own_weights(model: Model) -> dict[str, Tensor]:
    """The weights a file must hold: a tied one is another's and is not stored."""
    return {name: x for name, x in model.state_dict().items() if name not in model.tied_weights}


def refuse_misfits(
    path: Path, stored: dict[str, StoredTensor], expected: dict[str, Tensor]
) -> None:
    """Compare names, shapes and types before a number is read."""
    _refuse(path, "lacks", sorted(set(expected) - set(stored)))
    _refuse(path, "has unknown", sorted(set(stored) - set(expected)))
    for name, tensor in stored.items():
        if tensor.shape != tuple(expected[name].shape):
            raise ValueError(
                f"{spelled(path)}: {name} has shape {tensor.shape} but config.json means "
                f"{tuple(expected[name].shape)}; the two files belong to different models"
            )
        if tensor.dtype not in STORED_TYPES:
            raise ValueError(
                f"{spelled(path)}: {name} is stored as {tensor.dtype}; convert it to float16 or "
                "float32"
            )
    needed, there = 4 * sum(x.numel() for x in expected.values()), physical_memory()
    if needed > there:
        raise ValueError(
            f"{spelled(path)}: its weights need {needed / 1e9:.1f} GB in float32, and this "
            f"machine has {there / 1e9:.1f} GB of memory; take a smaller model"
        )


def read_weights(path: Path, config: ModelConfig) -> dict[str, Tensor]:
    """Weights in float32, one after the other, so that none is held twice."""
    weights = {}
    try:
        with safe_open(path, framework="pt") as file:
            stored = (file.metadata() or {}).get("config")
            for name in file.keys():  # noqa: SIM118, no dictionary
                weights[name] = _finite(path, name, file.get_tensor(name).float())
    except (SafetensorError, OSError) as error:
        raise ValueError(
            f"{spelled(path)} cannot be read: {error}; it may be cut, copy it again"
        ) from None
    if stored is not None and not _is_config(stored, config):
        raise ValueError(f"{spelled(path)} was saved with another config.json; copy both again")
    return weights


def _finite(path: Path, name: str, weight: Tensor) -> Tensor:
    """The weight; ValueError when float32 has no number for one of its values."""
    n_bad = int((~weight.isfinite()).sum())
    if n_bad:
        raise ValueError(
            f"{spelled(path)}: {name} has {n_bad} NaN or infinite values in float32; train or "
            "copy it again"
        )
    return weight


def _is_config(stored: str, config: ModelConfig) -> bool:
    """Whether a file's header means this config; an older one lacks fields that have a default."""
    try:
        return config_of(json.loads(stored)) == config
    except (ValueError, TypeError):
        return False


def _refuse(path: Path, verb: str, names: list[str]) -> None:
    if names:
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        shown = ", ".join(names[:3])
        raise ValueError(
            f"{spelled(path)} {verb} {quoted(shown)}{more}; the weights and config.json belong to "
            "different models"
        )
