"""One block, step by step: what the stream is after each, and what norms make of the same vectors.

The steps and what a norm is given depend on where the block normalises (Xiong et al. 2020, fig. 1).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from model.adopted.watched import Watched, noting
from model.architectures.base import Transformer
from model.norms import layer_norm, rms_norm
from model.parts import Sublayer, kind_of_norm
from model.tap import Recorder, attach

Array = np.ndarray

STREAM = ("resid_pre", "attn_out", "resid_mid", "ffn_out", "resid_post")
SUBLAYERS = {"attn": "attention", "ffn": "MLP"}
EXACT = 1e-5  # how far neurons may be from what a function makes of them, relative to the largest


@dataclass(frozen=True)
class Norm:
    """What a norm does, found by trying it: gain and offset are (D,), zeros where it has no offset.

    `given` is the name of the step that it is given.
    """

    given: str
    kind: str
    eps: float
    gain: Array
    offset: Array


class Step(NamedTuple):
    """What there is after a step, the steps that it is made of by name, and its kind."""

    name: str
    kind: str
    of: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Inside:
    """What a block computed on one text: every token of every step that is known.

    `values` are (T, D) by the name of a step, and (T, F) of the feed-forward. `placement` is pre or
    post, or empty where the block is neither. `function` bends its neurons, empty if not found.
    """

    placement: str
    order: tuple[Step, ...]
    values: Mapping[str, Array]
    norms: Mapping[str, Norm]
    function: str

    @property
    def steps(self) -> tuple[str, ...]:
        """The names of the steps in their order."""
        return tuple(step.name for step in self.order)

    @property
    def main_norms(self) -> dict[str, str]:
        """By sublayer the norm that it reads through, or else that of its sum, or of its output."""
        return {
            part: name
            for part in SUBLAYERS
            for name in (f"{part}_out", _AFTER[part], f"{part}_norm")
            if name in self.norms
        }

    def given(self, norm: str) -> Array:
        """What a norm of the block is given, (T, D)."""
        return self.values[self.norms[norm].given]

    def added(self, part: str, token: int) -> tuple[Array, Array]:
        """What a sublayer adds at a token, (D,), and the stream that it adds it to, (D,)."""
        before, after = STREAM[2 * list(SUBLAYERS).index(part) :][:2]
        return self.values[after][token], self.values[before][token]

    def of_token(self, token: int) -> Array:
        """One token's vector after each step, (steps, D)."""
        return np.stack([self.values[step][token] for step in self.steps])


_AFTER = dict(zip(SUBLAYERS, STREAM[2::2], strict=True))


def run_inside(model: Transformer, ids: Sequence[int], layer: int) -> Inside:
    """Run a text of T tokens and keep what one block computes, of whatever parts it is.

    The stream goes through the tap; what modules are given and give is kept as they run.
    """
    stack, recorder = model.stacks[-1], Recorder(STREAM)
    sublayers = [one for one in stack.sublayers if one.layer == layer]
    named = [x for one in sublayers for x in (one.read, one.own_norm, one.norm, one.matrix) if x]
    weights = {id(weight) for weight in sublayers[-1].weights}
    matrices = [x for x in model.modules() if id(getattr(x, "weight", None)) in weights]
    watched = Watched()
    with torch.inference_mode(), noting(dict.fromkeys([*named, *matrices]), watched):
        model(torch.tensor([list(ids)], device=model.device), tap=attach(recorder))
    passed = {call.module: (_rows(call.given), _rows(call.gave)) for call in watched.calls}
    start = f"{stack.name}.blocks.{layer}."
    values = {name: _rows(recorder.values[start + name]) for name in STREAM}
    norms: dict[str, Norm] = {}
    order = [Step(STREAM[0], "stream")]
    for one, before in zip(sublayers, STREAM[::2], strict=False):
        for step, norm in _steps_of(one, before):
            order.append(step)
            if norm is not None:
                values[step.of[0]], values[step.name] = passed[norm]
                if kind := kind_of_norm(norm, stack.d_model):
                    norms[step.name] = Norm(step.of[0], kind, *tried(norm, kind, stack.d_model))
    down, function = sublayers[-1].matrix, ""
    if down is not None:
        wide = [passed[x][1] for x in matrices if x is not down and x in passed]
        alike = [x for x in wide if x.shape == passed[down][0].shape]
        function, neurons = _bent(passed[down][0], alike)
        values |= neurons
    return Inside(_placement(sublayers), tuple(order), values, norms, function)


def _steps_of(one: Sublayer, before: str) -> Iterator[tuple[Step, nn.Module | None]]:
    """The steps of a sublayer, and the module of each that is a norm."""
    part = one.writes.removesuffix("_out")
    read, made, total, after = f"{part}_norm", f"{part}_made", f"{part}_sum", _AFTER[part]
    if one.read is not None:
        yield Step(read, "norm", (one.reads,)), one.read
    yield Step(made if one.own_norm else one.writes, SUBLAYERS[part]), None
    if one.own_norm is not None:
        yield Step(one.writes, "norm", (made,)), one.own_norm
    yield Step(total if one.norm else after, "sum", (before, one.writes)), None
    if one.norm is not None:
        yield Step(after, "norm", (total,)), one.norm


def _placement(sublayers: Sequence[Sublayer]) -> str:
    """Where a block normalises, where that is one of the two ways (Xiong et al. 2020, fig. 1)."""
    if any(one.own_norm for one in sublayers) or len({one.reads for one in sublayers}) == 1:
        return ""
    if all(one.read and not one.norm for one in sublayers):
        return "pre"
    return "post" if all(one.norm and not one.read for one in sublayers) else ""


def _rows(x: Tensor) -> Array:
    return x.detach().float().cpu().flatten(0, -2).numpy()


@torch.inference_mode()
def tried(norm: nn.Module, kind: str, d_model: int) -> tuple[float, Array, Array]:
    """ε, gain and offset of a norm, by what it makes of a long vector, its opposite and a short.

    Some multiply by 1 + their weight (Gemma Team 2024), so the weight alone does not say.
    """
    own = next(norm.parameters(), torch.empty(0))
    x = torch.where(torch.arange(d_model) % 2 == 0, 1.0, -1.0)
    made = [
        _rows(norm((size * x).to(own)[None, None]))[0].astype(np.float64)
        for size in (1e4, -1e4, SHORT)
    ]
    offset = (made[0] + made[1]) / 2
    base = normed(x.numpy()[None], kind, 0.0)[0]
    gain = (made[0] - made[1]) / 2 / base
    at = np.abs(gain).argmax()
    short = SHORT * (x.numpy() - (x.mean().item() if kind == "layer" else 0.0))
    divided = short[at] * gain[at] / (made[2] - offset)[at]
    eps = float(max(0.0, divided**2 - np.square(short).mean()))
    return eps, gain.astype(np.float32), offset.astype(np.float32)


SHORT = 1e-4  # of a size at which ε counts


def _bent(neurons: Array, wide: Sequence[Array]) -> tuple[str, dict[str, Array]]:
    """Which function makes neurons of what matrices give, and what there is before and after it.

    One matrix is bent, f(u); of two the bent one multiplies the other (Shazeer 2020, eq. 6).
    """
    for name, function in FUNCTIONS.items() if len(wide) in (1, 2) else ():
        for before, *others in permutations(wide):
            bent = function(torch.from_numpy(before)).numpy()
            whole = bent * others[0] if others else bent
            if _apart(whole, neurons) <= EXACT and (others or name != "swiglu"):
                gate = {"gate": bent, "up": others[0]} if others else {}
                return name, {"pre_activation": before, "activation": neurons, **gate}
    return "", {"activation": neurons}


# --- norms ------------------------------------------------------------------------------------


def batch_norm(x: Tensor, eps: float) -> Tensor:
    """(x − mean) / √(variance + eps) over the first axis: each number across the batch.

    Ioffe & Szegedy 2015, algorithm 1, without gain and offset. x: (T, D). Returns (T, D).
    """
    mean = x.mean(dim=0, keepdim=True)  # (1, D)
    variance = (x - mean).square().mean(dim=0, keepdim=True)
    return (x - mean) / (variance + eps).sqrt()


def _ones(x: Tensor) -> Tensor:
    return torch.ones(x.shape[-1], dtype=x.dtype)


NORMS: dict[str, Callable[[Tensor, float], Tensor]] = {
    "layer": lambda x, eps: layer_norm(x, _ones(x), None, eps),
    "rms": lambda x, eps: rms_norm(x, _ones(x), eps),
    "batch": batch_norm,
}


def normed(x: Array, kind: str, eps: float) -> Array:
    """Vectors (T, D) as a kind of norm leaves them, before any gain, in float64."""
    return NORMS[kind](torch.from_numpy(x.astype(np.float64)), eps).numpy()


class Statistics(NamedTuple):
    """What norms work out of one vector; ε is in the last two, as in the norms themselves."""

    mean: float
    deviation: float
    rms: float


def statistics(x: Array, eps: float) -> Statistics:
    """Mean, √(variance + ε) and √(mean(x²) + ε) of one vector, (D,)."""
    exact = x.astype(np.float64)
    return Statistics(
        float(exact.mean()),
        float(np.sqrt(exact.var() + eps)),
        float(np.sqrt(np.square(exact).mean() + eps)),
    )


# --- what must hold ---------------------------------------------------------------------------


def identities(inside: Inside) -> dict[str, float]:
    """Identities of the block, each with its largest error relative to the largest number.

    A sum is that of its parts; a norm is (x − mean) / deviation · gain + offset, or x / rms · gain.
    """
    errors = {}
    for name, kind, of in inside.order:
        if kind == "sum" and name in inside.values:
            total = np.asarray(sum(inside.values[part] for part in of))
            errors[f"{name} = {' + '.join(of)}"] = _apart(inside.values[name], total)
        elif norm := inside.norms.get(name):
            scaled = normed(inside.given(name), norm.kind, norm.eps) * norm.gain + norm.offset
            offset = " + offset" if has_offset(norm) else ""
            written = f"{name} = {_WRITTEN[norm.kind].format(norm.given)}{offset}"
            errors[written] = _apart(inside.values[name], scaled)
    return errors


def has_offset(norm: Norm) -> bool:
    """Whether a norm adds anything, beyond rounding."""
    return bool(np.abs(norm.offset).max() > 1e-6 * np.abs(norm.gain).max())


_WRITTEN = {"layer": "({0} − mean) / deviation · gain", "rms": "{0} / rms · gain"}


def _apart(actual: Array, expected: Array) -> float:
    largest = np.abs(expected).max(initial=0.0)
    return float(np.abs(actual - expected).max(initial=0.0) / max(1.0, largest))


# --- neurons ----------------------------------------------------------------------------------

N_PLACES, N_LARGEST = 121, 16
FUNCTIONS: dict[str, Callable[[Tensor], Tensor]] = {  # by the name of the feed-forward
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "swiglu": F.silu,
}
USUAL = ("relu", "gelu", "swiglu")


def reach_of(values: Array) -> int:
    """The whole number up to which an axis goes that shows all of these, at least 3."""
    return max(3, int(np.ceil(np.abs(values).max(initial=0.0))))


def curve(kind: str, reach: int) -> tuple[Array, Array]:
    """Places from −reach to reach, and the activation function there, (N_PLACES,) each."""
    places = np.linspace(-reach, reach, N_PLACES)
    return places, FUNCTIONS[kind](torch.from_numpy(places)).numpy()


def concentration(activation: Array) -> float:
    """The share of Σ a² that the N_LARGEST largest neurons of one token have. activation: (F,)."""
    squares = np.sort(np.square(activation.astype(np.float64)))
    return float(squares[-N_LARGEST:].sum() / max(squares.sum(), np.finfo(float).tiny))
