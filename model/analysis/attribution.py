"""Who made this answer: what each part of a model adds to one logit, its direct effect.

The unembedding is linear, and a norm is too once its scale is taken as it was in this run. So a
logit is the sum of what the embedding, every head, every neuron and the biases wrote into the
stream, each read by the unembedding (Elhage et al. 2021, "direct logit attribution"; nostalgebraist
2020). What a part does by way of later layers is counted where these write.

With post-norm the stream passes a norm after every sublayer. All later ones are taken as they were
then, each with its own scale: the sum is exact too, but what is held fixed is more than one norm.
"""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from model.analysis.branching import values_of
from model.architectures.base import Transformer
from model.blocks import Sublayer, matrix_of
from model.trace import AttentionKind, AttentionRecord, ResidualRecord, Site, Trace

Array = np.ndarray
KINDS = {"attn_out": "attention", "cross_out": "cross-attention", "ffn_out": "MLP"}
AT_ONCE = 8192  # rows of the unembedding
LINEAR = (
    1e-4  # how far a norm may be from a gain of what it is given, relative to its largest value
)


@dataclass(frozen=True, eq=False)
class FrozenNorm:
    """A norm whose scale is that of one vector of one run: linear in what it is given.

    weight: (D,), its gain divided by what it divides by; offset: (D,).
    """

    weight: Array
    offset: Array
    is_centred: bool

    def pulled(self, direction: Array) -> Array:
        """The direction (D,) before the norm along which it reads what `direction` reads after."""
        scaled = direction * self.weight
        return scaled - scaled.mean() if self.is_centred else scaled

    def pushed(self, part: Array) -> Array:
        """What becomes of a part (D,) of its input, without the offset."""
        return self.centred(part) * self.weight

    def centred(self, part: Array) -> Array:
        """A part (D,) as it is before the gain."""
        return part - part.mean() if self.is_centred else part


@torch.inference_mode()
def frozen(norm: nn.Module, x: Array) -> FrozenNorm:
    """A norm as it was on a vector (D,) of a run, whoever wrote it: found by asking it.

    What it makes of zeros is its offset; of a vector moved as a whole, whether it centres; of 1 and
    −1 in turn, its gain but for a factor, which what it makes of x gives.
    ValueError for a module that is no gain of a vector, centred or not, divided by a number.
    """
    own = deepcopy(norm).cpu().double()

    def made(vector: Array) -> Array:
        return _numpy(own(torch.from_numpy(vector)[None, None])[0, 0])

    offset = made(np.zeros_like(x))
    given = made(x) - offset
    moved = made(x + np.sqrt(np.square(x).mean())) - offset
    most = np.abs(given).max()
    plain = FrozenNorm(np.ones_like(x), offset, bool(np.abs(moved - given).max() <= LINEAR * most))
    turns = np.where(np.arange(len(x)) % 2, -1.0, 1.0)
    gain = (made(turns) - offset) / plain.centred(turns)
    wanted = gain * plain.centred(x)
    factor = (given @ wanted) / (wanted @ wanted) if wanted.any() else 0.0
    if not np.abs(given - factor * wanted).max() <= LINEAR * most:
        raise ValueError(
            f"a {type(norm).__name__} is no norm: what parts add cannot be told apart behind it"
        )
    return FrozenNorm(factor * gain, offset, plain.is_centred)


@dataclass(frozen=True, eq=False)
class Written:
    """One sublayer at one position, as it writes into the stream.

    inner: what its matrix multiplies, z of all heads (H·Dh,) or neurons (F,); where no matrix was
    found, what it adds (D,). `norms` are those that this passes, the last one first, the sublayer's
    own at the end. record: of attention.
    """

    sublayer: Sublayer
    inner: Array
    norms: tuple[FrozenNorm, ...]
    record: AttentionRecord | None = None

    @property
    def name(self) -> str:
        """As in L2 attention."""
        return f"L{self.sublayer.layer} {KINDS[self.sublayer.writes]}"

    @property
    def is_of_neurons(self) -> bool:
        """Whether it is a feed-forward whose neurons are known."""
        return self.record is None and self.sublayer.matrix is not None

    def read_by(self, direction: Array) -> Array:
        """What `direction` (D,) reads at the end, of each number of `inner` if it were 1."""
        read, matrix = pulled(self.norms, direction), self.sublayer.matrix
        return read if matrix is None else _numpy(matrix_of(matrix)) @ read

    def constant(self, direction: Array) -> float:
        """What `direction` reads of its biases: of the matrix, and of its own norm."""
        total = float((bias_of(self.sublayer.matrix) * pulled(self.norms, direction)).sum())
        if self.sublayer.own_norm is None:
            return total
        return total + float(self.norms[-1].offset @ pulled(self.norms[:-1], direction))

    def pushed(self, some: slice) -> Array:
        """What some numbers of `inner` become at the end, (D,)."""
        assert self.sublayer.matrix is not None
        part = self.inner[some] @ _numpy(matrix_of(self.sublayer.matrix)[some])
        for norm in reversed(self.norms):
            part = norm.pushed(part)
        return part


def pulled(norms: Sequence[FrozenNorm], direction: Array) -> Array:
    """The direction (D,) before some norms, the last one first, of what `direction` reads after."""
    for norm in norms:
        direction = norm.pulled(direction)
    return direction


def bias_of(module: nn.Module | None) -> Array:
    """What a module adds, (out,), or (1,) zero where it adds nothing."""
    bias = getattr(module, "bias", None)
    return _numpy(bias) if isinstance(bias, Tensor) else np.zeros(1)


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
    constant = 0.0 if unembed.bias is None else _of_tokens(unembed.bias, token, against)
    sublayers, norms = _walked(trace, model, position, _neurons(trace, model, position))
    heads, keys, neurons, parts = {}, {}, [], []
    for written in sublayers:
        back = written.read_by(direction)
        shares = written.inner * back
        parts.append(shares.sum())
        constant += written.constant(direction)
        if written.record is not None:
            address, n_heads = written.record.site.address, written.record.n_heads
            heads[address] = shares.reshape(n_heads, -1).sum(axis=-1)
            keys[address] = _by_key(written.record, back.reshape(n_heads, -1), position)
        elif written.is_of_neurons:
            neurons.append(shares)
    for number, norm in enumerate(norms):
        constant += norm.offset @ pulled(norms[:number], direction)
    begin = [part[position] @ pulled(norms, direction) for part in _beginning(trace).values()]
    n_layers = len(trace.residuals)
    return Attribution(
        position=position,
        token=token,
        against=against,
        logit=_logit(trace, position, token, against),
        names=(*_beginning(trace), *(written.name for written in sublayers), "biases"),
        parts=np.array([*begin, *parts, constant], dtype=np.float64),
        heads=heads,
        keys=keys,
        neurons=np.stack(neurons) if len(neurons) == n_layers else np.zeros((n_layers, 0)),
    )


def words_of_head(trace: Trace, model: Transformer, site: Site, head: int, position: int) -> Array:
    """What one head adds at a position to the logit of every token, (V,).

    ValueError for a site whose output no logit reads directly, as in the encoder of a translation.
    """
    for written in _walked(trace, model, position, {})[0]:
        if written.record is not None and written.record.site == site:
            d_head = written.record.z.shape[-1]
            return _words(model, written.pushed(slice(head * d_head, (head + 1) * d_head)))
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
        example = np.random.default_rng(0).normal(size=model.config.d_model)
        for norm in norms:
            frozen(norm, example)
    except ValueError:
        return False
    return True


# --- one run, from the last sublayer back -----------------------------------------------------


def _walked(
    trace: Trace, model: Transformer, position: int, neurons: Mapping[int, Array]
) -> tuple[list[Written], list[FrozenNorm]]:
    """Every sublayer in the order of the pass, and the norms that the stream passes, last first.

    neurons: (F,) of each layer; of a layer without them its output stands for what made it.
    """
    norms = [frozen(model.ending[0], _vector(trace.residuals[-1].resid_post, position))]
    written = []
    for sublayer in reversed(model.sublayers):
        residual, record = trace.residuals[sublayer.layer], _record(trace, sublayer)
        out = getattr(residual, sublayer.writes)
        if sublayer.norm is not None:
            before = _before(residual, sublayer)
            norms.append(frozen(sublayer.norm, _vector(before + out, position)))
        if record is not None:
            inner = _vector(record.z.swapaxes(0, 1), position).reshape(-1)
        else:
            inner = neurons.get(sublayer.layer)
        own = []
        if inner is not None and sublayer.own_norm is not None and sublayer.matrix is not None:
            given = inner @ _numpy(matrix_of(sublayer.matrix)) + bias_of(sublayer.matrix)
            own.append(frozen(sublayer.own_norm, given))
        inner = _vector(out, position) if inner is None else inner
        written.append(Written(sublayer, inner, (*norms, *own), record))
    return written[::-1], norms


def _neurons(trace: Trace, model: Transformer, position: int) -> dict[int, Array]:
    """Neurons of each layer as the matrix after them multiplies them, (F,), of one more run."""
    values = values_of(model, trace.given, {"activation"})
    addresses = {
        f"{trace.main.name}.blocks.{n}.ffn.activation": n for n in range(len(trace.residuals))
    }
    return {
        number: _numpy(values[address].flatten(0, -2)[position])
        for address, number in addresses.items()
        if address in values
    }


def _record(trace: Trace, sublayer: Sublayer) -> AttentionRecord | None:
    """What attention did; None of a feed-forward."""
    kinds: dict[str, AttentionKind] = {"attn_out": "self", "cross_out": "cross"}
    if sublayer.writes not in kinds:
        return None
    return trace.record(Site(trace.main.name, kinds[sublayer.writes], sublayer.layer))


def _before(residual: ResidualRecord, sublayer: Sublayer) -> Array:
    """The stream (T, D) that a sublayer adds to."""
    if sublayer.writes == "attn_out":
        return residual.resid_pre
    if sublayer.writes == "cross_out" or residual.resid_cross is None:
        return residual.resid_mid
    return residual.resid_cross


def _beginning(trace: Trace) -> dict[str, Array]:
    """What the first block is given, (T, D) each: where it is not known in two parts, in one."""
    first = trace.main
    if first.embed is None or first.positions is None:
        return {"embedding": trace.residuals[0].resid_pre}
    return {"embedding": first.embed, "positions": first.positions}


def _by_key(record: AttentionRecord, back: Array, position: int) -> Array:
    """What each head adds by each key, (H, Tk). back: (H, Dh)."""
    shared = [record.kv_head(head) for head in range(record.n_heads)]
    values = record.v[shared].astype(np.float64)  # (H, Tk, Dh)
    return record.pattern[:, position] * np.einsum("hkd,hd->hk", values, back)


def _vector(array: Array, position: int) -> Array:
    return array[position].astype(np.float64)


def _words(model: Transformer, part: Array) -> Array:
    """What a part of the stream (D,), behind the last norm, adds to the logit of each, (V,)."""
    some = model.ending[1].weight.split(AT_ONCE)  # all of a large vocabulary in float64 is much
    return np.concatenate([_numpy(rows) @ part for rows in some])


# --- the logit --------------------------------------------------------------------------------


def _of_tokens(weight: Tensor, token: int, against: int | None) -> Any:  # noqa: ANN401
    """The row of a token, or of one less that of another: a vector, or a number."""
    row = _numpy(weight[token])
    return row if against is None else row - _numpy(weight[against])


def _logit(trace: Trace, position: int, token: int, against: int | None) -> float:
    assert trace.output is not None
    row = trace.output[position].astype(np.float64)
    return float(row[token] - (0.0 if against is None else row[against]))


def _numpy(x: Tensor) -> Array:
    return x.detach().cpu().double().numpy()


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
