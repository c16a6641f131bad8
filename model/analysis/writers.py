"""A residual stream as the exact sum of those who wrote into it: words, heads, MLPs and biases.

A block adds what its attention and its feed-forward give, so a stream is a sum (Elhage et al. 2021,
"residual stream"). A norm on the way is linear once its scale is taken as it was in this run, at
each token. All numbers are float64, of all tokens at once.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from model.architectures.base import Transformer
from model.blocks import matrix_of
from model.device import wide
from model.frozen_norm import FrozenNorm, frozen
from model.names import head_name
from model.parts import Sublayer
from model.trace import AttentionKind, AttentionRecord, ResidualRecord, Site, Stream, Trace
from model.work import Steps

ATTENDS: dict[str, AttentionKind] = {"attn_out": "self", "cross_out": "cross"}
EVERY = slice(None)  # token
Place = tuple[int, str]  # a sublayer: its layer, and what it writes


class Writer(NamedTuple):
    """Who wrote: "token", "position", "head", "cross head", "attention", "MLP", or one "word".

    Attention writes as one where W_O of its heads was not found. token: of a word, or of a head
    that is told apart by where it looks.
    """

    kind: str
    layer: int = -1
    head: int = -1
    token: int = -1

    @property
    def name(self) -> str:
        """As in embedding, L2 H3, MLP 0, without the token."""
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
        return total(self.terms) + self.biases

    def through(self, norm: FrozenNorm) -> "Written":
        """The same behind a norm."""
        return Written(self.writers, norm.pushed(self.terms), norm.whole(self.biases))

    def plus(self, others: Sequence["Written"]) -> "Written":
        """With what was added after; a writer that is there already adds to what it wrote."""
        if not others:
            return self
        every = tuple(dict.fromkeys(w for one in (self, *others) for w in one.writers))
        place = {writer: number for number, writer in enumerate(every)}
        terms = self.terms.new_zeros(len(every), *self.terms.shape[1:])
        for one in (self, *others):
            terms.index_add_(
                0, torch.tensor([place[w] for w in one.writers]).long(), one.terms.to(terms)
            )
        return Written(every, terms, sum((one.biases for one in others), self.biases))


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
        return wide(matrix_of(self.sublayer.matrix).detach())

    @property
    def bias(self) -> Tensor:
        """What its matrix adds whatever it is given, (D,), or (1,) zero."""
        return bias_of(self.sublayer.matrix)

    @property
    def constant(self) -> Tensor:
        """What its biases add, (T, D), and its own norm's offset."""
        if not self.is_known:
            return torch.zeros_like(self.out)
        bias = self.bias.expand_as(self.out)
        return bias if self.own_norm is None else self.own_norm.whole(bias)

    def written(self, split: Collection[tuple[int, int]] = ()) -> Written:
        """By head, where `inner` and the matrix are known; else as a whole.

        split: heads, by layer and number, of self-attention that are told apart by where they look.
        """
        layer, kind = self.sublayer.layer, ATTENDS.get(self.sublayer.writes)
        if self.record is None or self.inner is None or not self.is_known:
            whole = Writer("attention" if kind else "MLP", layer)
            return Written((whole,), self.out[None] - self.constant, self.constant)
        n_heads = self.record.n_heads
        z, weights = (
            self.inner.unflatten(-1, (n_heads, -1)),
            self.matrix.unflatten(0, (n_heads, -1)),
        )
        name, writers, terms = "head" if kind == "self" else "cross head", [], []
        for head in range(n_heads):
            if kind == "self" and (layer, head) in split:
                heard = tensor(self.record.v[self.record.kv_head(head)]) @ weights[head]  # (Tk, D)
                looks = tensor(self.record.pattern[head]).T[..., None]  # (Tk, Tq, 1)
                writers += [Writer(name, layer, head, token) for token in range(len(heard))]
                terms.append(looks * heard[:, None])
            else:
                writers.append(Writer(name, layer, head))
                terms.append((z[:, head] @ weights[head])[None])
        added = torch.cat(terms)
        added = added if self.own_norm is None else self.own_norm.pushed(added)
        return Written(tuple(writers), added, self.constant)


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
        own = frozen(
            one.own_norm, inner @ wide(matrix_of(one.matrix).detach()) + bias_of(one.matrix)
        )
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


class Stretch(NamedTuple):
    """A stream of a run, from its start to where a sublayer adds to it; without one, to its end."""

    trace: Trace
    model: Transformer
    stack: str
    before: Place | None = None

    @property
    def stream(self) -> Stream:
        """The stream itself."""
        return self.trace.stream(self.stack)

    @property
    def sublayer(self) -> Sublayer:
        """The one that adds to it."""
        parts = next(parts for parts in self.model.stacks if parts.name == self.stack)
        return next(one for one in parts.sublayers if (one.layer, one.writes) == self.before)

    @property
    def ran(self) -> np.ndarray:
        """What that sublayer reads, (T, D), as it ran; without one, the last."""
        residuals = self.stream.residuals
        if self.before is None:
            return residuals[-1].resid_post
        return getattr(residuals[self.before[0]], self.sublayer.reads)

    def additions(self, neurons: Mapping[int, Tensor] | None = None) -> Iterator[Addition]:
        """What was added on it; see `additions`."""
        added = additions(self.trace, self.model, self.stack, neurons=neurons)
        return takewhile(lambda x: (x.sublayer.layer, x.sublayer.writes) != self.before, added)


def written(of: Stretch, split: Collection[tuple[int, int]] = ()) -> Steps[Written]:
    """All that is in a stream.

    split: see `Addition.written`. ValueError as `additions`.
    """
    added = ((x.written(split), x.norm) for x in of.additions())
    return added_up(begun(of.stream), added)


def placed(of: Stretch) -> Steps[Written]:
    """A stream in two: what is a token's "own", and in the place of biases all that is not.

    That is its position, biases, and what all tokens share: the mean of the rest over all but the
    first, which many models use as a sink and which is like no other.
    """
    start, ran = begun(of.stream), tensor(of.ran)
    nothing = ran.new_empty(0, *ran.shape)
    is_place = [writer.kind == "position" for writer in start.writers]
    positions = Written((), nothing, start.terms[is_place].sum(dim=0))
    added = ((Written((), nothing, x.constant), x.norm) for x in of.additions())
    fixed = (yield from added_up(positions, added)).biases
    rest = ran - fixed
    shared = rest[min(1, len(rest) - 1) :].mean(dim=0)
    return Written((Writer("own"),), (rest - shared)[None], shared + fixed)


def added_up(start: Written, added: Iterable[tuple[Written, FrozenNorm | None]]) -> Steps[Written]:
    """A stream with what was added, and the norm it went through after each, if any."""
    so_far, since = start, []
    for one, norm in added:
        since.append(one)
        if norm is not None:
            so_far, since = so_far.plus(since).through(norm), []
        yield
    return so_far.plus(since)


def begun(stream: Stream) -> Written:
    """The start of a stream as written."""
    parts = beginning(stream)
    terms = torch.stack([tensor(part) for part in parts.values()])
    return Written(tuple(map(Writer, parts)), terms, torch.zeros_like(terms[0]))


def beginning(stream: Stream) -> dict[str, np.ndarray]:
    """What the first block is given, (T, D) by writer: where two parts are not known, as one."""
    if stream.embed is None or stream.positions is None:
        return {"token": stream.residuals[0].resid_pre}
    return {"token": stream.embed, "position": stream.positions}


def bias_of(module: nn.Module | None) -> Tensor:
    """What a module adds, (out,), or (1,) zero where it adds nothing."""
    bias = getattr(module, "bias", None)
    return wide(bias.detach()) if isinstance(bias, Tensor) else torch.zeros(1, dtype=torch.float64)


def total(parts: Tensor) -> Tensor:
    """The sum of parts (W, …), which may be float32, in float64."""
    return parts.sum(dim=0, dtype=torch.float64)


def tensor(array: np.ndarray) -> Tensor:
    """An array of a run."""
    return torch.tensor(array, dtype=torch.float64)
