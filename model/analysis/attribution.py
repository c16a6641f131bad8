"""Who made this answer: what each part of a model adds to one logit, its direct effect.

The unembedding is linear, and a norm is too once its scale is taken as it was in this run. So a
logit is the sum of what the embedding, every head, every neuron and the biases wrote into the
stream, each read by the unembedding (Elhage et al. 2021, "direct logit attribution"; nostalgebraist
2020). What a part does by way of later layers is counted where these write.

With post-norm the stream passes a norm after every sublayer. All later ones are taken as they were
then, each with its own scale: the sum is exact too, but what is held fixed is more than one norm.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from model.analysis.branching import values_of
from model.analysis.writers import Addition, additions, beginning, tensor
from model.architectures.base import Transformer
from model.device import wide
from model.frozen_norm import FrozenNorm, frozen, pulled
from model.trace import AttentionRecord, Site, Trace

Array = np.ndarray
KINDS = {"attn_out": "attention", "cross_out": "cross-attention", "ffn_out": "MLP"}
STARTS = {"token": "embedding", "position": "positions"}
AT_ONCE = 8192  # rows of the unembedding


@dataclass(frozen=True, eq=False)
class Read:
    """What one sublayer added at one position, as it is read behind all norms that it passes.

    norms: the last one first, the sublayer's own at the end.
    """

    added: Addition
    norms: tuple[FrozenNorm, ...]

    @property
    def name(self) -> str:
        """As in L2 attention."""
        return f"L{self.added.sublayer.layer} {KINDS[self.added.sublayer.writes]}"

    @property
    def record(self) -> AttentionRecord | None:
        """Of attention."""
        return self.added.record

    @property
    def inner(self) -> Tensor:
        """What its matrix multiplies, (N,), or where that is not known what it adds, (D,)."""
        known = self.added.inner if self.added.is_known else None
        return (self.added.out if known is None else known)[0]

    @property
    def is_of_neurons(self) -> bool:
        """Whether it is a feed-forward whose neurons are known."""
        return self.record is None and self.added.is_known

    def along(self, direction: Tensor) -> Tensor:
        """What `direction` (D,) reads at the end, of each number of `inner` if it were 1."""
        before = pulled(self.norms, direction[None])[0]
        return self.added.matrix @ before if self.added.is_known else before

    def constant(self, direction: Tensor) -> float:
        """What `direction` reads of its biases: of the matrix, and of its own norm."""
        if not self.added.is_known:
            return 0.0
        total = (self.added.bias * pulled(self.norms, direction[None])).sum()
        if self.added.own_norm is not None:
            total += self.added.own_norm.offset @ pulled(self.norms[:-1], direction[None])[0]
        return float(total)

    def pushed(self, some: slice) -> Tensor:
        """What some numbers of `inner` become at the end, (D,)."""
        part = (self.inner[some] @ self.added.matrix[some])[None]
        for norm in reversed(self.norms):
            part = norm.pushed(part)
        return part[0]


@dataclass(frozen=True, eq=False)
class Attribution:
    """What each part adds to one logit, or to the difference of two. All float64.

    `names` and `parts` (N,) are embedding, positions, each sublayer without its bias, and all
    biases together: those of projections, norms and unembedding. `logit` is what the model gave,
    `error` the absolute difference of it and the sum of parts.
    heads: the address of each site of attention whose output the logit reads, to (H,); keys: the
    same to (H, Tk), what each head adds by each key; neurons: (L, F), (L, 0) where they were
    not found in each layer.
    """

    position: int
    token: int
    against: int | None
    logit: float
    names: tuple[str, ...]
    parts: Array
    heads: dict[str, Array]
    keys: dict[str, Array]
    neurons: Array

    @property
    def error(self) -> float:
        """How far the sum of parts is from the logit."""
        return abs(float(self.parts.sum()) - self.logit)


def attribute(
    trace: Trace, model: Transformer, position: int, token: int, against: int | None = None
) -> Attribution:
    """What every part of the model adds to the logit of `token` at a position of a run.

    trace: the run; model: the one it is of. `against`: a second token, whose logit is taken away.
    A vision model has classes for tokens and one position, the class token's, 0.
    Raises ValueError for a position or a token that there is not, for a token against itself, and
    where a module that the stream passes is no norm.
    """
    _check_asked(trace, position, token, against)
    unembed = model.ending[1]
    direction = _of_tokens(unembed.weight, token, against)  # (D,)
    constant = 0.0 if unembed.bias is None else float(_of_tokens(unembed.bias, token, against))
    sublayers, norms = _walked(trace, model, position, _neurons(trace, model, position))
    heads, keys, neurons, parts = {}, {}, [], []
    for read in sublayers:
        along = read.along(direction)
        shares = read.inner * along
        parts.append(float(shares.sum()))
        constant += read.constant(direction)
        if read.record is not None:
            address, n_heads = read.record.site.address, read.record.n_heads
            heads[address] = shares.unflatten(0, (n_heads, -1)).sum(dim=-1).numpy()
            keys[address] = _by_key(read.record, along.unflatten(0, (n_heads, -1)), position)
        elif read.is_of_neurons:
            neurons.append(shares.numpy())
    for number, norm in enumerate(norms):
        constant += float(norm.offset @ pulled(norms[:number], direction[None])[0])
    at_start = pulled(norms, direction[None])[0].numpy()
    first = beginning(trace.main)
    begin = [part[position] @ at_start for part in first.values()]
    n_layers = len(trace.residuals)
    return Attribution(
        position=position,
        token=token,
        against=against,
        logit=_logit(trace, position, token, against),
        names=(*(STARTS[kind] for kind in first), *(read.name for read in sublayers), "biases"),
        parts=np.array([*begin, *parts, constant], dtype=np.float64),
        heads=heads,
        keys=keys,
        neurons=np.stack(neurons) if len(neurons) == n_layers else np.zeros((n_layers, 0)),
    )


def words_of_head(trace: Trace, model: Transformer, site: Site, head: int, position: int) -> Array:
    """What one head adds at a position to the logit of every token, (V,).

    ValueError for a site whose output no logit reads directly, as in the encoder of a translation.
    """
    for read in _walked(trace, model, position, {})[0]:
        if read.record is not None and read.record.site == site:
            d_head = read.record.z.shape[-1]
            return _words(model, read.pushed(slice(head * d_head, (head + 1) * d_head)))
    raise ValueError(f"no logit reads {site.address} directly; choose a head of the last stack")


def words_of_neuron(
    trace: Trace, model: Transformer, layer: int, neuron: int, position: int
) -> Array:
    """What one neuron adds at a position to the logit of every token, (V,)."""
    neurons = _neurons(trace, model, position)
    layers = [x for x in _walked(trace, model, position, neurons)[0] if x.is_of_neurons]
    if not 0 <= layer < len(layers):
        raise ValueError(f"there are layers 0 to {len(layers) - 1}; {layer} is none")
    if not 0 <= neuron < len(layers[layer].inner):
        raise ValueError(f"there are neurons 0 to {len(layers[layer].inner) - 1}; {neuron} is none")
    return _words(model, layers[layer].pushed(slice(neuron, neuron + 1)))


def can_attribute(model: Transformer) -> bool:
    """Whether logits of a model are a sum of what its heads and sublayers write."""
    sublayers = model.sublayers
    if not all(x.matrix for x in sublayers if x.writes != "ffn_out") or not sublayers:
        return False
    try:
        norms = [model.ending[0], *(x for one in sublayers for x in (one.own_norm, one.norm) if x)]
        example = tensor(np.random.default_rng(0).normal(size=(1, model.config.d_model)))
        for norm in norms:
            frozen(norm, example)
    except ValueError:
        return False
    return True


# --- one run, from the last sublayer back -----------------------------------------------------


def _walked(
    trace: Trace, model: Transformer, position: int, neurons: Mapping[int, Tensor]
) -> tuple[list[Read], list[FrozenNorm]]:
    """Every sublayer in the order of the pass, and the norms that the stream passes, last first.

    neurons: (1, F) of each layer; of a layer without them its output stands for what made it.
    """
    at = slice(position, position + 1)
    last = tensor(trace.residuals[-1].resid_post[at])
    norms, reads = [frozen(model.ending[0], last)], []
    for added in reversed([*additions(trace, model, trace.main.name, at, neurons)]):
        norms += [added.norm] if added.norm else []
        own = [added.own_norm] if added.own_norm else []
        reads.append(Read(added, (*norms, *own)))
    return reads[::-1], norms


def _neurons(trace: Trace, model: Transformer, position: int) -> dict[int, Tensor]:
    """Neurons of each layer as the matrix after them multiplies them, (1, F), of one more run."""
    values = values_of(model, trace.given, {"activation"})
    addresses = {
        f"{trace.main.name}.blocks.{n}.ffn.activation": n for n in range(len(trace.residuals))
    }
    return {
        number: wide(values[address].flatten(0, -2)[position])[None]
        for address, number in addresses.items()
        if address in values
    }


def _by_key(record: AttentionRecord, along: Tensor, position: int) -> Array:
    """What each head adds by each key, (H, Tk). along: (H, Dh)."""
    shared = [record.kv_head(head) for head in range(record.n_heads)]
    values = record.v[shared].astype(np.float64)  # (H, Tk, Dh)
    return record.pattern[:, position] * np.einsum("hkd,hd->hk", values, along.numpy())


def _words(model: Transformer, part: Tensor) -> Array:
    """What a part of the stream (D,), behind the last norm, adds to the logit of each, (V,)."""
    some = model.ending[1].weight.split(AT_ONCE)  # all of a large vocabulary in float64 is much
    return torch.cat([wide(rows.detach()) @ part for rows in some]).numpy()


# --- the logit --------------------------------------------------------------------------------


def _of_tokens(weight: Tensor, token: int, against: int | None) -> Tensor:
    """The row of a token, or of one less that of another: a vector (D,), or a number."""
    row = wide(weight[token].detach())
    return row if against is None else row - wide(weight[against].detach())


def _logit(trace: Trace, position: int, token: int, against: int | None) -> float:
    assert trace.output is not None
    row = trace.output[position].astype(np.float64)
    return float(row[token] - (0.0 if against is None else row[against]))


def _check_asked(trace: Trace, position: int, token: int, against: int | None) -> None:
    if trace.output is None or not trace.main.residuals:
        raise ValueError("this run has no logits and residual stream to take apart")
    n_positions, n_tokens = trace.output.shape
    if not 0 <= position < n_positions:
        raise ValueError(
            f"position {position} is none of 0 to {n_positions - 1}, at which there are logits"
        )
    for one in (token, against):
        if one is not None and not 0 <= one < n_tokens:
            raise ValueError(f"token {one} is none of the {n_tokens}; give 0 to {n_tokens - 1}")
    if token == against:
        raise ValueError(f"token {token} against itself is 0 throughout; give two tokens")
