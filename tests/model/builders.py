"""Small models on odd, distinct sizes, so that no swapped axis can pass."""

import dataclasses
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from model import checkpoint
from model.capture import RESIDUAL_NAMES, AttentionRecord, Trace, capture
from model.config import ModelConfig
from model.data.tokenizer import Tokenizer, train_characters
from model.transformer import DecoderTransformer

SENTENCE = "the cat sat on a mat."
SEQ_LEN = 7  # tokens in a sentence, below the context of 11
GROUPED = {"d_model": 36, "n_heads": 6, "n_kv_heads": 2}  # three query heads share one key head

ModuleT = TypeVar("ModuleT", bound=nn.Module)


def tiny_config(**changes: object) -> ModelConfig:
    """A config of distinct sizes: 17 tokens, d_model 30, 2 layers, 3 heads of 10, context 11."""
    sizes = {
        "vocab_size": 17,
        "d_model": 30,
        "n_layers": 2,
        "n_heads": 3,
        "d_ff": 13,
        "max_seq_len": 11,
    }
    return ModelConfig(**sizes | changes)


def randomise(module: ModuleT, seed: int = 0) -> ModuleT:
    """Every weight random, gains and offsets too, so that none can be left out unnoticed."""
    generator = torch.Generator().manual_seed(seed)
    for weight in module.parameters():
        weight.data = 0.4 * torch.randn(weight.shape, generator=generator)
    return module.requires_grad_(False).eval()


def tiny_model(seed: int = 0, **changes: object) -> DecoderTransformer:
    """A model with random weights, on `tiny_config` with changes."""
    return randomise(DecoderTransformer(tiny_config(**changes)), seed)


def tiny_ids(batch_size: int = 1, seq_len: int = SEQ_LEN, seed: int = 0) -> Tensor:
    """Random ids, (B, T)."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(tiny_config().vocab_size, (batch_size, seq_len), generator=generator)


def tiny_trace(model: DecoderTransformer, seed: int = 0) -> Trace:
    """What the model does on a sentence of 7 tokens."""
    ids = tiny_ids(seed=seed)[0].tolist()
    return capture(model, ids, [str(i) for i in ids])


def tiny_tokenizer() -> Tokenizer:
    """One token a character; 13 of them."""
    return train_characters([SENTENCE])


def tiny_checkpoint(folder: Path, **changes: object) -> Path:
    """A folder with a whole checkpoint, whose tokenizer knows the letters of SENTENCE."""
    tokenizer = tiny_tokenizer()
    sizes = {"vocab_size": tokenizer.vocab_size, "max_seq_len": 23}
    checkpoint.save(folder, tiny_model(**sizes | changes), tokenizer)
    return folder


def edit_json(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Apply a change to the object in a JSON file."""
    fields = json.loads(path.read_text(encoding="utf-8"))
    change(fields)
    path.write_text(json.dumps(fields), encoding="utf-8")


def normal(*shape: int, seed: int = 0) -> Tensor:
    """Standard normal numbers."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def causal_rows(seq_len: int) -> Tensor:
    """The causal mask written out: row i has i + 1 ones. (T, T)."""
    return torch.tensor([[key <= query for key in range(seq_len)] for query in range(seq_len)])


def picture(mask: Tensor) -> list[str]:
    """A mask as rows of text: x may attend, . may not."""
    return ["".join("x" if cell else "." for cell in row) for row in mask.tolist()]


def softmax(scores: np.ndarray) -> np.ndarray:
    """Softmax over the last axis in float64, by its definition."""
    weights = np.exp(scores.astype(np.float64) - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def pattern_of(record: AttentionRecord) -> np.ndarray:
    """softmax(q·kᵀ/√Dh + bias, masked) of each head by a loop in float64. (H, Tq, Tk)."""
    group = len(record.q) // len(record.k)
    heads = []
    for head, q in enumerate(record.q.astype(np.float64)):
        scores = q @ record.k[head // group].astype(np.float64).T / np.sqrt(q.shape[-1])
        scores = scores if record.bias is None else scores + record.bias[head]
        heads.append(softmax(np.where(record.mask, scores, -np.inf)))
    return np.stack(heads)


def with_cell(trace: Trace, address: str, change: Callable[[Any], Any]) -> Trace:
    """The trace with one cell of one array changed.

    address: `logits[2, 3]`, or in the last layer `attention.q[0, 1, 2]`, `residuals.ffn_out[0, 1]`.
    """
    path, _, cell = address.rstrip("]").partition("[")
    owner, _, name = path.rpartition(".")
    records: Sequence[Any] = getattr(trace, owner) if owner else (trace,)
    array = getattr(records[-1], name).copy()
    index = tuple(map(int, cell.split(",")))
    array[index] = change(array[index])
    changed = dataclasses.replace(records[-1], **{name: array})
    return dataclasses.replace(trace, **{owner: (*records[:-1], changed)}) if owner else changed


def all_arrays(trace: Trace) -> dict[str, np.ndarray]:
    """Every array a trace refers to, by address."""
    arrays = {name: getattr(trace, name) for name in ("ids", "embed", "positions", "logits")}
    for layer, (record, residual) in enumerate(zip(trace.attention, trace.residuals, strict=True)):
        for name in ("q", "k", "v", "bias", "mask", "scores", "pattern", "z"):
            arrays[f"{layer}.{name}"] = getattr(record, name)
        arrays |= {f"{layer}.{name}": getattr(residual, name) for name in RESIDUAL_NAMES}
    return {name: array for name, array in arrays.items() if array is not None}
