"""Protects the independent forward pass: it agrees with the model that runs, and shares no code.

The model's are float32 numbers, the reference's float64. What disagrees is a fault of one of them.
"""

import ast
import inspect
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from model import reference, reference_files
from model.sources import checkpoint, places
from model.verify.independent import check_independently
from tests.model.builders import GROUPED, SENTENCE, tiny_checkpoint

SHIPPED = sorted(path.parent for path in places.SHIPPED.glob("*/model.safetensors"))
TEXTS = (
    "The animal didn't cross the street because it was too tired.",
    "x",
    "😀 שלום <b>$x$</b>",
)
VARIANTS: dict[str, dict[str, object]] = {
    "sinusoidal": {},
    "learned": {"position": "learned", "norm": "rms"},
    "rope": {"position": "rope", **GROUPED},
    "rope-base": {"position": "rope", "position_base": 500.0},
    "alibi": {"position": "alibi"},
    "alibi-six-heads": {"position": "alibi", **GROUPED},
    "none-post": {"position": "none", "norm_placement": "post"},
    "post-rms": {"norm_placement": "post", "norm": "rms", "feedforward": "relu"},
    "swiglu": {"feedforward": "swiglu", "bias": False},
    "gelu-tanh": {"feedforward": "gelu_tanh", "scale_embeddings": True},
    "untied": {"tied_embeddings": False, "norm_eps": 0.01},
    "window": {"mask": "sliding_window", "window": 3},
    "prefix": {"mask": "prefix", "prefix_len": 4},
    "global": {"mask": "global_tokens", "window": 2, "n_global": 2},
}


def unlike(folder: Path, text: str) -> list[str]:
    """What a model has other arrays of than the reference; of noise, where it takes pictures."""
    loaded = checkpoint.load(folder, "cpu")
    size = getattr(loaded.config, "image_size", 0)
    noise = np.random.default_rng(len(text)).random((size, size)).astype(np.float32)
    trace = loaded.trace(noise if size else text).trace
    checks = check_independently(trace, reference.read(folder))
    return [check.name for check in checks if not check.passed]


@pytest.mark.parametrize("folder", SHIPPED, ids=lambda folder: folder.name)
def test_every_array_of_every_shipped_model_is_the_reference_s(folder: Path) -> None:
    assert [name for text in TEXTS for name in unlike(folder, text)] == []


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_variant_is_the_reference_s(variant: str, tmp_path: Path) -> None:
    folder = tiny_checkpoint(tmp_path / "tiny", **VARIANTS[variant])
    assert unlike(folder, SENTENCE) == []


@pytest.mark.parametrize("stored", ["float64", "float32", "float16", "bfloat16"])
def test_weights_are_read_as_they_are_stored(stored: str, tmp_path: Path) -> None:
    tensor = torch.randn(3, 5, generator=torch.Generator().manual_seed(1)).to(
        getattr(torch, stored)
    )
    save_file({"a.weight": tensor, "b": tensor[0].clone()}, tmp_path / "model.safetensors")
    weights = reference_files.Stored(tmp_path / "model.safetensors")
    assert set(weights) == {"a.weight", "b"}
    np.testing.assert_array_equal(weights["a.weight"], tensor.double().numpy())
    np.testing.assert_array_equal(weights["b"], tensor[0].double().numpy())


OWN = {
    reference: {"math", "collections.abc", "dataclasses", "model.reference_files"},
    reference_files: {"json", "collections.abc"},
}


@pytest.mark.parametrize("module", OWN, ids=lambda module: module.__name__)
def test_it_takes_nothing_from_the_model(module: ModuleType) -> None:
    tree = ast.parse(inspect.getsource(module))
    modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    modules |= {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    assert modules == {"pathlib", "typing", "numpy"} | OWN[module]
