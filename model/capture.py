"""How intermediates leave a forward pass: a recorder for one call, and the frozen Trace it makes.

The forward pass hands each value worth seeing to the recorder it was called with. A recorder
belongs to one call, never to the model, so two captures running at once on one model cannot see
each other's tensors.

    address                             shape
    embed, positions                    (B, T, D), (T, D)
    blocks.3.resid_pre / mid / post     (B, T, D)
    blocks.3.attn_out, ffn_out          (B, T, D)
    blocks.3.attn.q, z                  (B, H, T, Dh)
    blocks.3.attn.k, v                  (B, n_kv_heads, T, Dh)
    blocks.3.attn.scores, pattern       (B, H, T, T)
    blocks.3.attn.mask, bias            as handed to attention, or absent

With a cache, T is the new tokens, scores and pattern are (B, H, Tq, Tk), and k and v are those of
all Tk tokens: views of the cache, to be copied before it is used again.
"""

import ctypes
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from model.config import ModelConfig


@dataclass
class Recorder:
    """Keeps the named tensors of one forward pass under their addresses."""

    values: dict[str, Tensor] = field(default_factory=dict)
    prefix: str = ""
    active = True

    def __call__(self, **named: Tensor | None) -> None:
        """Keep each tensor under this recorder's prefix and its own name; None is not kept."""
        self.values |= {self.prefix + name: x for name, x in named.items() if x is not None}

    def scope(self, name: str) -> "Recorder":
        """A recorder that writes into the same values, one address level down."""
        return Recorder(self.values, f"{self.prefix}{name}.")


class _NoRecorder(Recorder):
    """Keeps nothing and costs nothing: what a forward pass uses when nobody is looking."""

    active = False

    def __call__(self, **named: Tensor | None) -> None:
        pass

    def scope(self, name: str) -> "Recorder":
        return self


NO_RECORDER = _NoRecorder()


@dataclass(frozen=True, eq=False)
class AttentionRecord:
    """One attention layer as it ran: every head, every number, as read-only float32 arrays.

    `stack` says which stack of blocks the layer is in and `kind` whether it is self or cross
    attention. q, scores, pattern and z have H heads, k and v have n_kv_heads; `mask` is (Tq, Tk)
    bool, True = may attend; `bias` is (H, Tq, Tk) or None. `scores` are q·kᵀ/√Dh + bias, before
    the mask.
    """

    stack: str
    layer: int
    kind: str
    query_tokens: tuple[str, ...]
    key_tokens: tuple[str, ...]
    q: np.ndarray  # (H, Tq, Dh)
    k: np.ndarray  # (n_kv_heads, Tk, Dh)
    v: np.ndarray  # (n_kv_heads, Tk, Dh)
    bias: np.ndarray | None
    mask: np.ndarray
    scores: np.ndarray  # (H, Tq, Tk)
    pattern: np.ndarray  # (H, Tq, Tk)
    z: np.ndarray  # (H, Tq, Dh)


@dataclass(frozen=True, eq=False)
class ResidualRecord:
    """The residual stream through one block, each (T, D)."""

    resid_pre: np.ndarray
    attn_out: np.ndarray
    resid_mid: np.ndarray
    ffn_out: np.ndarray
    resid_post: np.ndarray


RESIDUAL_NAMES = tuple(ResidualRecord.__dataclass_fields__)


@dataclass(frozen=True, eq=False)
class Trace:
    """All that one forward pass of one sentence did: plain read-only numpy, no torch.

    embed (T, D) is what is added, after any scaling, so embed + positions = resid_pre of layer 0;
    `positions` (T, D) is zero where the scheme adds nothing. logits: (T, V).
    """

    config: ModelConfig
    ids: np.ndarray  # (T,)
    tokens: tuple[str, ...]
    embed: np.ndarray
    positions: np.ndarray
    attention: tuple[AttentionRecord, ...]
    residuals: tuple[ResidualRecord, ...]
    logits: np.ndarray

    def arrays(self) -> Iterator[tuple[str, np.ndarray]]:
        """Name and array of everything in the trace, layers stacked on the first axis."""
        yield "ids", self.ids
        yield "tokens", np.array(self.tokens, dtype=np.str_)
        yield "embed", self.embed
        yield "positions", self.positions
        yield "mask", self.attention[0].mask
        for name in ("q", "k", "v", "z", "scores", "pattern", "bias"):
            layers = [getattr(record, name) for record in self.attention]
            if layers[0] is not None:
                yield name, np.stack(layers)
        for name in RESIDUAL_NAMES:
            yield name, np.stack([getattr(record, name) for record in self.residuals])
        yield "logits", self.logits


class RecordableModel(Protocol):
    """What `capture` needs of a model: sizes, weights, and a forward pass that takes a recorder."""

    config: ModelConfig

    def parameters(self) -> Iterator[Tensor]:
        """The weights; the first one tells the device."""

    def __call__(self, ids: Tensor, *, mask: Tensor | None, recorder: Recorder) -> Tensor:
        """Logits (B, T, V) for ids (B, T)."""


def capture(
    model: RecordableModel,
    ids: Sequence[int],
    tokens: Sequence[str],
    mask: np.ndarray | None = None,
) -> Trace:
    """Run the model once on one sentence and keep everything.

    ids and tokens: T of each, the same tokens as numbers and as strings for display. mask: (T, T)
    bool, True = may attend, taken instead of the model's own. Raises ValueError for an empty
    sentence, one longer than the model's context, and a mask of another shape.
    """
    return capture_batch(model, [ids], [tokens], None if mask is None else mask[None])[0]


@torch.inference_mode()
def capture_batch(
    model: RecordableModel,
    ids: Sequence[Sequence[int]],
    tokens: Sequence[Sequence[str]],
    mask: np.ndarray | None = None,
) -> list[Trace]:
    """Run the model once on sentences of equal length, and keep everything of each.

    ids and tokens: B sentences of T tokens each. mask: (B, T, T) bool. See `capture`.
    """
    for sentence, strings in zip(ids, tokens, strict=True):
        if len(sentence) != len(strings):
            raise ValueError(
                f"{len(sentence)} ids but {len(strings)} tokens; give one string for each id"
            )
    recorder = Recorder()
    device = next(model.parameters()).device
    batch = torch.tensor(ids, dtype=torch.long, device=device)  # (B, T)
    logits = model(batch, mask=_on_device(mask, batch), recorder=recorder)
    values = {address: _to_numpy(x) for address, x in recorder.values.items()}
    values |= {"ids": _to_numpy(batch), "logits": _to_numpy(logits)}
    return [_trace(values, row, tuple(tokens[row]), model.config) for row in range(len(batch))]


def _on_device(mask: np.ndarray | None, batch: Tensor) -> Tensor | None:
    """A mask for all heads, (B, 1, T, T). batch: (B, T)."""
    if mask is None:
        return None
    expected = (*batch.shape, batch.shape[-1])
    if mask.shape != expected:
        raise ValueError(f"the mask has shape {mask.shape} but the tokens ask for {expected}")
    return torch.tensor(mask, dtype=torch.bool, device=batch.device)[:, None]


def _trace(
    values: dict[str, np.ndarray], row: int, tokens: tuple[str, ...], config: ModelConfig
) -> Trace:
    """The trace of one sentence of a batch."""
    layers = range(config.n_layers)
    return Trace(
        config=config,
        ids=values["ids"][row],
        tokens=tokens,
        embed=values["embed"][row],
        positions=values.get("positions", _zeros_like(values["embed"][row])),
        attention=tuple(_attention_record(values, row, layer, tokens) for layer in layers),
        residuals=tuple(_residual_record(values, row, layer) for layer in layers),
        logits=values["logits"][row],
    )


def _attention_record(
    values: dict[str, np.ndarray], row: int, layer: int, tokens: tuple[str, ...]
) -> AttentionRecord:
    prefix = f"blocks.{layer}.attn."
    names = ("q", "k", "v", "scores", "pattern", "z")
    mask = values[prefix + "mask"]  # (T, T) for all sentences, or (B, 1, T, T)
    return AttentionRecord(
        stack="decoder",
        layer=layer,
        kind="self",
        query_tokens=tokens,
        key_tokens=tokens,
        mask=mask if mask.ndim == 2 else mask[row, 0],
        bias=values.get(prefix + "bias"),
        **{name: values[prefix + name][row] for name in names},
    )


def _residual_record(values: dict[str, np.ndarray], row: int, layer: int) -> ResidualRecord:
    return ResidualRecord(
        **{name: values[f"blocks.{layer}.{name}"][row] for name in RESIDUAL_NAMES}
    )


def _to_numpy(x: Tensor) -> np.ndarray:
    array = (x.float() if x.is_floating_point() else x).cpu().numpy()
    array.flags.writeable = False
    return array


def _keep_freed_memory() -> None:
    """Ask glibc to reuse freed blocks instead of returning them to the kernel.

    A capture of 256 tokens keeps some 40 MB. Getting them back page by page costs more than the
    arithmetic does: 1.6 times the plain forward without this, 1.1 with it. Elsewhere: no effect.
    """
    m_trim_threshold, m_mmap_threshold = -1, -3  # malloc.h
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return  # not glibc
    mallopt(m_trim_threshold, 256 * 2**20)
    mallopt(m_mmap_threshold, 32 * 2**20)


_keep_freed_memory()


def _zeros_like(array: np.ndarray) -> np.ndarray:
    zeros = np.zeros_like(array)
    zeros.flags.writeable = False
    return zeros
