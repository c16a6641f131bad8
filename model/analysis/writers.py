"""A residual stream as the exact sum of those who wrote into it: words, heads, MLPs and biases.

A block adds what its attention and its feed-forward give, so a stream is a sum (Elhage et al. 2021,
"residual stream"). A norm on the way is linear once its scale is taken as it was in this run, at
each token. All numbers are float64, of all tokens at once.
"""

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from model.architectures.base import Transformer
from model.blocks import matrix_of
from model.names import head_name
from model.parts import Sublayer
from model.trace import AttentionKind, AttentionRecord, ResidualRecord, Site, Stream, Trace

ATTENDS: dict[str, AttentionKind] = {"attn_out": "self", "cross_out": "cross"}
EVERY = slice(None)  # token
# How far a norm may be from a gain of what it is given, relative to its largest value.
LINEAR = 1e-4


class Writer(NamedTuple):
    """Who wrote: "token", "position", "head", "cross head", "attention", "MLP".

    Attention writes as one where W_O of its heads was not found.
    """

    kind: str
    layer: int = -1
    head: int = -1

    @property
    def name(self) -> str:
        """As in embedding, L2 H3, MLP 0."""
        if self.head >= 0:
            return head_name(self.layer, self.head, self.kind.removesuffix("head").strip())
        own = {"token": "embedding", "attention": f"L{self.layer} attention"}
        return own.get(self.kind, f"{self.kind} {self.layer}" if self.layer >= 0 else self.kind)


class Written(NamedTuple):
    """What is in a stream: what each writer added, (W, T, D), and what biases did, (T, D)."""

    writers: tuple[Writer, ...]
    terms: Tensor
    biases: Tensor

    @property
    def whole(self) -> Tensor:
        """The stream, (T, D)."""
        return self.terms.sum(dim=0) + self.biases

    def through(self, norm: "FrozenNorm") -> "Written":
        """The same behind a norm."""
        return Written(self.writers, norm.pushed(self.terms), norm.whole(self.biases))


# --- norms --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class FrozenNorm:
    """A norm whose scale is that of a run at each token: linear in what it is given.

    weight: (T, D), its gain divided by what it divides by; offset: (D,).
    """

    weight: Tensor
    offset: Tensor
    is_centred: bool

    def pulled(self, direction: Tensor) -> Tensor:
        """The direction (T, D) before the norm that reads what `direction` (D,) reads after it."""
        scaled = direction * self.weight
        return scaled - scaled.mean(dim=-1, keepdim=True) if self.is_centred else scaled

    def pushed(self, part: Tensor) -> Tensor:
        """What becomes of a part (…, T, D) of its input, without the offset."""
        return self.centred(part) * self.weight

    def whole(self, rest: Tensor) -> Tensor:
        """The same of a part that has the offset as well."""
        return self.pushed(rest) + self.offset

    def centred(self, part: Tensor) -> Tensor:
        """A part as it is before the gain."""
        return part - part.mean(dim=-1, keepdim=True) if self.is_centred else part


@torch.inference_mode()
def frozen(norm: nn.Module, x: Tensor) -> FrozenNorm:
    """A norm as it was on vectors (T, D) of a run, whoever wrote it: found by asking it.

    What it makes of zeros is its offset; of vectors moved as a whole, whether it centres; of 1 and
    −1 in turn, its gain but for a factor, which what it makes of x gives.
    ValueError for a module that is no gain of a vector, centred or not, divided by a number.
    """
    own = deepcopy(norm).cpu().double()

    def made(rows: Tensor) -> Tensor:
        return own(rows[None])[0].double()

    offset = made(torch.zeros_like(x[:1]))[0]
    given = made(x) - offset
    moved = made(x + x.square().mean(dim=-1, keepdim=True).sqrt()) - offset
    most = given.abs().max()
    is_centred = bool((moved - given).abs().max() <= LINEAR * most)
    plain = FrozenNorm(torch.ones_like(x), offset, is_centred)
    turns = torch.where(torch.arange(x.shape[-1]) % 2 == 1, -1.0, 1.0).double()[None]
    gain = (made(turns) - offset) / plain.centred(turns)
    wanted = gain * plain.centred(x)
    length = wanted.square().sum(dim=-1, keepdim=True)
    factor = (given * wanted).sum(dim=-1, keepdim=True) / length.where(length > 0, 1.0)
    if not (given - factor * wanted).abs().max() <= LINEAR * most:
        raise ValueError(
            f"a {type(norm).__name__} is no norm: what parts add cannot be told apart behind it"
        )
    return FrozenNorm(factor * gain, offset, is_centred)


def pulled(norms: Sequence[FrozenNorm], direction: Tensor) -> Tensor:
    """The direction before some norms, the last one first, of what `direction` reads after."""
    for norm in norms:
        direction = norm.pulled(direction)
    return direction


# --- what each sublayer adds --------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Addition:
    """What one sublayer added to a stream.

    out: (T, D). inner: what its matrix multiplies, z of all heads (T, H·Dh) or neurons (T, F); None
    where that is not known. own_norm: what it goes through before it is added, of a sublayer whose
    `inner` is known. norm: what the stream goes through after it. record: of attention.
    """

    sublayer: Sublayer
    out: Tensor
    inner: Tensor | None
    record: AttentionRecord | None
    own_norm: FrozenNorm | None
    norm: FrozenNorm | None

    @property
    def is_known(self) -> bool:
        """Whether its heads or neurons are known, and what multiplies them."""
        return self.inner is not None and self.sublayer.matrix is not None

    @property
    def matrix(self) -> Tensor:
        """What multiplies `inner`, (N, D)."""
        assert self.sublayer.matrix is not None
        return float64(matrix_of(self.sublayer.matrix))

    @property
    def bias(self) -> Tensor:
        """What its matrix adds whatever it is given, (D,), or (1,) zero."""
        return bias_of(self.sublayer.matrix)

    def written(self) -> Written:
        """By head, where `inner` and the matrix are known; else as a whole."""
        layer, kind = self.sublayer.layer, ATTENDS.get(self.sublayer.writes)
        if self.record is None or self.inner is None or not self.is_known:
            whole = Writer("attention" if kind else "MLP", layer)
            return Written((whole,), self.out[None], torch.zeros_like(self.out))
        n_heads = self.record.n_heads
        z, weights = (
            self.inner.unflatten(-1, (n_heads, -1)),
            self.matrix.unflatten(0, (n_heads, -1)),
        )
        name = "head" if kind == "self" else "cross head"
        heads = Written(
            tuple(Writer(name, layer, head) for head in range(n_heads)),
            torch.einsum("thd,hdm->htm", z, weights),
            self.bias.expand_as(self.out),
        )
        return heads if self.own_norm is None else heads.through(self.own_norm)


def additions(
    trace: Trace,
    model: Transformer,
    stack: str,
    at: slice = EVERY,
    neurons: Mapping[int, Tensor] | None = None,
) -> Iterator[Addition]:
    """What the sublayers of a stack added in a run, in the order of the pass.

    at: the tokens. neurons: (T, F) of each layer, where they are wanted and known.
    ValueError where something that the stream passes is no norm.
    """
    stream = trace.stream(stack)
    parts = next(parts for parts in model.stacks if parts.name == stack)
    for one in parts.sublayers:
        yield _addition(trace, stream, one, at, neurons or {})


def _addition(
    trace: Trace, stream: Stream, one: Sublayer, at: slice, neurons: Mapping[int, Tensor]
) -> Addition:
    residual, kind = stream.residuals[one.layer], ATTENDS.get(one.writes)
    out, record, norm, own = tensor(getattr(residual, one.writes)[at]), None, None, None
    if kind:
        record = trace.record(Site(stream.name, kind, one.layer))
        inner = tensor(record.z[:, at]).transpose(0, 1).flatten(1)  # (T, H·Dh)
    else:
        inner = neurons.get(one.layer)
    if inner is not None and one.own_norm is not None and one.matrix is not None:
        own = frozen(one.own_norm, inner @ float64(matrix_of(one.matrix)) + bias_of(one.matrix))
    if one.norm is not None:
        norm = frozen(
            one.norm, tensor((_before(residual, one) + getattr(residual, one.writes))[at])
        )
    return Addition(one, out, inner, record, own, norm)


def _before(residual: ResidualRecord, sublayer: Sublayer) -> np.ndarray:
    """The stream (T, D) that a sublayer adds to."""
    if sublayer.writes == "attn_out":
        return residual.resid_pre
    if sublayer.writes == "cross_out" or residual.resid_cross is None:
        return residual.resid_mid
    return residual.resid_cross


# --- a whole stream -----------------------------------------------------------------------------


def written(
    trace: Trace, model: Transformer, stack: str, before: tuple[int, str] | None = None
) -> Written:
    """All that is in a stream when a sublayer, by layer and what it writes, adds to it.

    Without one: at the end of the stack. ValueError as `additions`.
    """
    stream = trace.stream(stack)
    parts = beginning(stream)
    so_far = Written(
        tuple(Writer(kind) for kind in parts),
        torch.stack([tensor(part) for part in parts.values()]),
        torch.zeros(len(stream), model.config.d_model, dtype=torch.float64),
    )
    for added in additions(trace, model, stack):
        if (added.sublayer.layer, added.sublayer.writes) == before:
            break
        new = added.written()
        terms = torch.cat([so_far.terms, new.terms])
        so_far = Written(so_far.writers + new.writers, terms, so_far.biases + new.biases)
        so_far = so_far if added.norm is None else so_far.through(added.norm)
    return so_far


def beginning(stream: Stream) -> dict[str, np.ndarray]:
    """What the first block is given, (T, D) by writer: where two parts are not known, as one."""
    if stream.embed is None or stream.positions is None:
        return {"token": stream.residuals[0].resid_pre}
    return {"token": stream.embed, "position": stream.positions}


def bias_of(module: nn.Module | None) -> Tensor:
    """What a module adds, (out,), or (1,) zero where it adds nothing."""
    bias = getattr(module, "bias", None)
    return float64(bias) if isinstance(bias, Tensor) else torch.zeros(1, dtype=torch.float64)


def float64(x: Tensor) -> Tensor:
    """A value of a model, on the CPU."""
    return x.detach().cpu().double()


def tensor(array: np.ndarray) -> Tensor:
    """An array of a run."""
    return torch.tensor(array, dtype=torch.float64)
