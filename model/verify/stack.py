"""Checks of a stack's streams and attention through the modules they came from.

What needs weights is recomputed by the model's own modules from the traced inputs. Nothing here
reads a value it is checking.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor

from model.architectures.stack import Stack
from model.attention import MultiHeadAttention, merge_heads
from model.blocks import Block, CrossBlock, Layer
from model.tap import Recorder, attach
from model.trace import MODULES, AttentionRecord, ResidualRecord, Stream, Trace
from model.verify.check import Check, relative_error


@dataclass(frozen=True, eq=False)
class Part:
    """One stack of a model and what a trace says of it.

    given: what the stack embeds, as a batch of one. memory: (1, Ts, D), what its cross-attention
    attends to, where it has one.
    """

    stack: Stack
    trace: Trace
    given: Tensor
    memory: Tensor | None = None

    @property
    def stream(self) -> Stream:
        """The stack's stream."""
        return self.trace.stream(self.stack.name)

    def records(self, kind: str) -> tuple[AttentionRecord, ...]:
        """Its attention of one kind, layer by layer."""
        return tuple(
            record
            for record in self.trace.attention
            if (record.site.stack, record.site.kind) == (self.stack.name, kind)
        )

    def tensor(self, x: np.ndarray) -> Tensor:
        """An array as a batch of one, where the model runs."""
        return torch.tensor(x, device=self.stack.device)[None]

    @property
    def final_stream(self) -> Tensor:
        """What the stack gives: the last stream after the final norm, (1, T, D)."""
        return self.stack.final_norm(self.tensor(self.stream.residuals[-1].resid_post))


def check_stacks(parts: Sequence[Part]) -> tuple[Check, ...]:
    """All checks of some stacks, each the worst over them."""
    return tuple(Check(name, max(map(error, parts)), bound) for name, bound, error in STACK_CHECKS)


def array_of(x: Tensor) -> np.ndarray:
    """The only row of a batch as an array."""
    return x[0].cpu().numpy()


def _embedding(part: Part) -> float:
    recorder, stream = Recorder(), part.stream
    part.stack.embed_tokens(part.given, attach(recorder))
    assert stream.embed is not None and stream.positions is not None
    embed = relative_error(stream.embed, array_of(recorder.values["embed"]))
    added = recorder.values.get("positions")
    expected = np.zeros_like(stream.positions) if added is None else added.cpu().numpy()
    return max(embed, relative_error(stream.positions, expected))


def _input_sum(part: Part) -> float:
    stream = part.stream
    assert stream.embed is not None
    return relative_error(stream.residuals[0].resid_pre, stream.embed + stream.positions)


def _projections(part: Part) -> float:
    blocks = zip(part.stack.blocks, part.stream.residuals, strict=True)
    errors = []
    for layer, (block, residual) in enumerate(blocks):
        x = block.placement.read(part.tensor(residual.resid_pre), block.attn_norm)
        errors.append(_projection(part, block.attn, part.records("self")[layer], x, x))
        if isinstance(block, CrossBlock) and part.memory is not None:
            x = block.placement.read(part.tensor(residual.resid_mid), block.cross_norm)
            record = part.records("cross")[layer]
            errors.append(_projection(part, block.cross_attn, record, x, part.memory))
    return max(errors)


def _projection(
    part: Part, attn: MultiHeadAttention, record: AttentionRecord, x: Tensor, source: Tensor
) -> float:
    """Queries of x, keys and values of the source, both (1, T, D)."""
    position, device = part.stack.position, x.device
    projected = {
        "q": attn.project_queries(x, position, torch.arange(x.shape[1], device=device)),
        "k": attn.project_keys(source, position, torch.arange(source.shape[1], device=device)),
        "v": attn.project_values(source),
    }
    return max(relative_error(getattr(record, name), array_of(x)) for name, x in projected.items())


def _attention_output(part: Part) -> float:
    def error(block: Block, residual: ResidualRecord, record: AttentionRecord) -> float:
        attn = getattr(block, MODULES[record.site.kind])
        written = residual.attn_out if record.site.kind == "self" else residual.cross_out
        assert written is not None
        return relative_error(written, array_of(attn.out_proj(merge_heads(part.tensor(record.z)))))

    records = (*part.records("self"), *part.records("cross"))
    layers = (
        (part.stack.blocks[x.site.layer], part.stream.residuals[x.site.layer]) for x in records
    )
    return max(error(*layer, record) for layer, record in zip(layers, records, strict=True))


def _read_by_ffn(residual: ResidualRecord) -> np.ndarray:
    return residual.resid_mid if residual.resid_cross is None else residual.resid_cross


def _feedforward_output(part: Part) -> float:
    def error(block: Block, residual: ResidualRecord) -> float:
        x = block.placement.read(part.tensor(_read_by_ffn(residual)), block.ffn_norm)
        return relative_error(residual.ffn_out, array_of(block.ffn(x)))

    return max(map(error, part.stack.blocks, part.stream.residuals))


def _residual_sums(part: Part) -> float:
    def error(block: Block, residual: ResidualRecord) -> float:
        sums = [(residual.resid_pre, residual.attn_out, block.attn_norm, residual.resid_mid)]
        out, cross = residual.cross_out, residual.resid_cross
        if isinstance(block, CrossBlock) and out is not None and cross is not None:
            sums.append((residual.resid_mid, out, block.cross_norm, cross))
        before_ffn = _read_by_ffn(residual)
        sums.append((before_ffn, residual.ffn_out, block.ffn_norm, residual.resid_post))
        return max(_sum_error(part, block, *one) for one in sums)

    return max(map(error, part.stack.blocks, part.stream.residuals))


def _sum_error(
    part: Part, block: Block, before: np.ndarray, update: np.ndarray, norm: Layer, after: np.ndarray
) -> float:
    written = block.placement.write(part.tensor(before), part.tensor(update), norm)
    return relative_error(after, array_of(written))


def _layers_connect(part: Part) -> float:
    residuals = part.stream.residuals
    errors = (relative_error(b.resid_pre, a.resid_post) for a, b in pairwise(residuals))
    return max(errors, default=0.0)


StackCheck = Callable[[Part], float]

STACK_CHECKS: tuple[tuple[str, float, StackCheck], ...] = (
    ("embeddings and positions are the model's own", 1e-6, _embedding),
    ("embed + positions = resid_pre of layer 0", 1e-6, _input_sum),
    ("q, k, v = this model's projections of its residual stream", 1e-5, _projections),
    ("attn_out = out_proj(z)", 1e-5, _attention_output),
    ("ffn_out = feed-forward of resid_mid", 1e-5, _feedforward_output),
    ("resid_mid and resid_post are the residual sums", 1e-6, _residual_sums),
    ("each layer starts where the one before ended", 0.0, _layers_connect),
)
LOGITS = "logits = unembed(final_norm(resid_post))"
UNCAPTURED = "logits with capture = logits without"
CACHED = "cached decoding = whole-sequence decoding"
