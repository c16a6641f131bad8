"""Who made this answer: what each part of a model adds to one logit, its direct effect.

The unembedding is linear, and a norm is too once its scale is taken as it was in this run. So a
logit is the sum of what the embedding, every head, every neuron and the biases wrote into the
stream, each read by the unembedding (Elhage et al. 2021, "direct logit attribution"; nostalgebraist
2020). What a part does by way of later layers is counted where these write.

With post-norm the stream passes a norm after every sublayer. All later ones are taken as they were
then, each with its own scale: the sum is exact too, but what is held fixed is more than one norm.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from model.architectures.base import Transformer
from model.architectures.encoder_decoder import EncoderDecoderTransformer
from model.architectures.stack import Stack
from model.blocks import Block, CrossBlock
from model.norms import LayerNorm, NoNorm, RMSNorm
from model.tap import Recorder, attach
from model.trace import AttentionRecord, ResidualRecord, Site, Trace

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class FrozenNorm:
    """A norm whose scale is that of one vector of one run: linear in what it is given.

    gain: (D,), offset: (D,) or None, scale: the deviation or root mean square that it divides by.
    """

    gain: Array
    offset: Array | None
    scale: float
    is_centred: bool

    def pulled(self, direction: Array) -> Array:
        """The direction (D,) before the norm along which it reads what `direction` reads after."""
        scaled = direction * self.gain / self.scale
        return scaled - scaled.mean() if self.is_centred else scaled

    def pushed(self, part: Array) -> Array:
        """What becomes of a part (D,) of its input, without the offset."""
        centred = part - part.mean() if self.is_centred else part
        return centred * self.gain / self.scale


def _layer_norm(norm: LayerNorm, x: Array) -> FrozenNorm:
    offset = None if norm.offset is None else _numpy(norm.offset)
    return FrozenNorm(_numpy(norm.gain), offset, float(np.sqrt(x.var() + norm.eps)), True)


def _rms_norm(norm: RMSNorm, x: Array) -> FrozenNorm:
    scale = float(np.sqrt(np.square(x).mean() + norm.eps))
    return FrozenNorm(_numpy(norm.gain), None, scale, False)


FROZEN: dict[type[nn.Module], Callable[..., FrozenNorm]] = {
    LayerNorm: _layer_norm,
    RMSNorm: _rms_norm,
}


@dataclass(frozen=True, eq=False)
class Written:
    """One sublayer at one position, as it writes into the stream.

    `name` as in L2 attention; `norms` are those that its output passes later, the last one first.
    """

    name: str
    module: nn.Module
    norms: tuple[FrozenNorm, ...]
    record: AttentionRecord | None = None  # of attention
    read: Array | None = None  # (D,) what a feed-forward works on, before its norm

    @property
    def projection(self) -> nn.Linear:
        """What writes: the output projection of heads, the way down of a feed-forward."""
        last = "out_proj" if self.record is not None else "down"
        projection = self.module.get_submodule(last)
        assert isinstance(projection, nn.Linear)
        return projection


@dataclass(frozen=True, eq=False)
class Attribution:
    """What each part adds to one logit, or to the difference of two. All float64.

    `names` and `parts` (N,) are embedding, positions, each sublayer without its bias, and all
    biases together: those of projections, norms and unembedding. `logit` is what the model gave,
    `error` the absolute difference of it and the sum of parts.
    heads: the address of each site of attention whose output the logit reads, to (H,); keys: the
    same to (H, Tk), what each head adds by each key; neurons: (L, F).
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
    Raises ValueError for a position or a token that there is not, and for a token against itself.
    """
    _check_asked(trace, position, token, against)
    direction = _direction(model, token, against)  # (D,)
    constant = _bias_of(model, token, against)
    stack = stack_of(model)
    heads, keys, neurons = {}, {}, []
    names, parts = [], []
    for written in reversed(list(_sublayers(trace, stack, position))):
        read = direction
        for norm in written.norms:
            read = norm.pulled(read)
        weight = _numpy(written.projection.weight)  # (D, H·Dh) or (D, F)
        if written.record is not None:
            address = written.record.site.address
            back = (read @ weight).reshape(written.record.n_heads, -1)  # (H, Dh)
            heads[address], keys[address] = _by_head(written.record, back, position)
            parts.append(heads[address].sum())
        else:
            neurons.append(_activation(written, stack) * (read @ weight))  # (F,)
            parts.append(neurons[-1].sum())
        names.append(written.name)
        constant += _dot(written.projection.bias, read)
    start, offsets = direction, 0.0
    for norm in _norms_after_start(trace, stack, position):
        offsets += 0.0 if norm.offset is None else float(norm.offset @ start)
        start = norm.pulled(start)
    first = trace.main
    assert first.embed is not None and first.positions is not None
    begin = [first.embed[position] @ start, first.positions[position] @ start]
    return Attribution(
        position=position,
        token=token,
        against=against,
        logit=_logit(trace, position, token, against),
        names=("embedding", "positions", *reversed(names), "biases"),
        parts=np.array([*begin, *reversed(parts), constant + offsets], dtype=np.float64),
        heads=dict(reversed(heads.items())),
        keys=dict(reversed(keys.items())),
        neurons=np.stack(neurons[::-1]),
    )


def words_of_head(trace: Trace, model: Transformer, site: Site, head: int, position: int) -> Array:
    """What one head adds at a position to the logit of every token, (V,).

    ValueError for a site whose output no logit reads directly, as in the encoder of a translation.
    """
    for written in _sublayers(trace, stack_of(model), position):
        if written.record is not None and written.record.site == site:
            d_head = written.record.z.shape[-1]
            own = slice(head * d_head, (head + 1) * d_head)
            part = _numpy(written.projection.weight)[:, own] @ written.record.z[head, position]
            return _words(part, written, model)
    raise ValueError(f"no logit reads {site.address} directly; choose a head of the last stack")


def words_of_neuron(
    trace: Trace, model: Transformer, layer: int, neuron: int, position: int
) -> Array:
    """What one neuron adds at a position to the logit of every token, (V,)."""
    stack = stack_of(model)
    found = [x for x in _sublayers(trace, stack, position) if x.record is None]
    if not 0 <= layer < len(found):
        raise ValueError(f"there are layers 0 to {len(found) - 1}; {layer} is none")
    activation = _activation(found[layer], stack)
    if not 0 <= neuron < len(activation):
        raise ValueError(f"there are neurons 0 to {len(activation) - 1}; {neuron} is none")
    column = _numpy(found[layer].projection.weight)[:, neuron]
    return _words(column * activation[neuron], found[layer], model)


def stack_of(model: Transformer) -> Stack:
    """The stack whose last stream is unembedded."""
    stack = model.decoder if isinstance(model, EncoderDecoderTransformer) else model
    assert isinstance(stack, Stack)
    return stack


# --- one run, from the last sublayer back -----------------------------------------------------


def _sublayers(trace: Trace, stack: Stack, position: int) -> Iterator[Written]:
    """Every sublayer that writes into the last stream, in the order of the forward pass."""
    later = _norms_of_layers(trace, stack, position)
    is_pre = not isinstance(stack.final_norm, NoNorm)
    n_written = 0
    for layer, (block, residual) in enumerate(_blocks(trace, stack)):
        for name, module, kind in _modules_of(block):
            own = later if is_pre else later[n_written:]
            n_written += 1
            norms = tuple(reversed(own))
            if kind:
                record = trace.record(
                    Site(stack.name, "cross" if kind == "cross" else "self", layer)
                )
                yield Written(f"L{layer} {name}", module, norms, record)
            else:
                middle = (
                    residual.resid_mid if residual.resid_cross is None else residual.resid_cross
                )
                read = middle[position].astype(np.float64)
                yield Written(f"L{layer} {name}", module, norms, read=read)


def _modules_of(block: Block) -> list[tuple[str, nn.Module, str]]:
    """The sublayers of a block: what they are called, the modules, and the kind of attention."""
    cross = (
        [("cross-attention", block.cross_attn, "cross")] if isinstance(block, CrossBlock) else []
    )
    return [("attention", block.attn, "self"), *cross, ("feed-forward", block.ffn, "")]


def _blocks(trace: Trace, stack: Stack) -> list[tuple[Block, ResidualRecord]]:
    return list(zip(stack.blocks, trace.residuals, strict=True))


def _norms_of_layers(trace: Trace, stack: Stack, position: int) -> list[FrozenNorm]:
    """The norms that the stream itself passes, in their order, with their scales at a position.

    With pre-norm the last one alone; with post-norm one after each sublayer.
    """
    if not isinstance(stack.final_norm, NoNorm):
        return [_frozen(stack.final_norm, trace.residuals[-1].resid_post[position])]
    found = []
    for block, resid in _blocks(trace, stack):
        found.append(_frozen(block.attn_norm, (resid.resid_pre + resid.attn_out)[position]))
        middle = resid.resid_mid
        if isinstance(block, CrossBlock):
            assert resid.cross_out is not None and resid.resid_cross is not None
            found.append(_frozen(block.cross_norm, (middle + resid.cross_out)[position]))
            middle = resid.resid_cross
        found.append(_frozen(block.ffn_norm, (middle + resid.ffn_out)[position]))
    return found


def _norms_after_start(trace: Trace, stack: Stack, position: int) -> list[FrozenNorm]:
    """All norms that the embedding passes, the last one first."""
    return _norms_of_layers(trace, stack, position)[::-1]


def _frozen(norm: nn.Module, x: Array) -> FrozenNorm:
    return FROZEN[type(norm)](norm, x.astype(np.float64))


def _by_head(record: AttentionRecord, back: Array, position: int) -> tuple[Array, Array]:
    """What each head adds, (H,), and by which key, (H, Tk). back: (H, Dh)."""
    z = record.z[:, position].astype(np.float64)  # (H, Dh)
    shared = [record.kv_head(head) for head in range(record.n_heads)]
    values = record.v[shared].astype(np.float64)  # (H, Tk, Dh)
    by_value = np.einsum("hkd,hd->hk", values, back)
    return (z * back).sum(axis=-1), record.pattern[:, position] * by_value


@torch.inference_mode()
def _activation(written: Written, stack: Stack) -> Array:
    """The neurons of a feed-forward as they were, (F,), run once more on what it read."""
    block = next(x for x in stack.blocks if x.ffn is written.module)
    assert written.read is not None
    recorder, weight = Recorder({"activation"}), written.projection.weight
    given = torch.tensor(written.read, dtype=weight.dtype, device=weight.device)[None, None]
    block.ffn(block.placement.read(given, block.ffn_norm), tap=attach(recorder))
    return _numpy(recorder.values["activation"])[0, 0]


def _words(part: Array, written: Written, model: Transformer) -> Array:
    """A part of the stream (D,) through the norms that follow it and the unembedding, (V,)."""
    for norm in reversed(written.norms):
        part = norm.pushed(part)
    return _numpy(_unembed(model).weight) @ part


# --- the logit --------------------------------------------------------------------------------


def _unembed(model: Transformer) -> nn.Linear:
    unembed = model.get_submodule("unembed")
    assert isinstance(unembed, nn.Linear)
    return unembed


def _direction(model: Transformer, token: int, against: int | None) -> Array:
    weight = _unembed(model).weight
    row = _numpy(weight[token])
    return row if against is None else row - _numpy(weight[against])


def _bias_of(model: Transformer, token: int, against: int | None) -> float:
    bias = _unembed(model).bias
    if bias is None:
        return 0.0
    return float(bias[token]) - (0.0 if against is None else float(bias[against]))


def _logit(trace: Trace, position: int, token: int, against: int | None) -> float:
    assert trace.output is not None
    row = trace.output[position].astype(np.float64)
    return float(row[token] - (0.0 if against is None else row[against]))


def _dot(bias: Tensor | None, direction: Array) -> float:
    return 0.0 if bias is None else float(_numpy(bias) @ direction)


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
