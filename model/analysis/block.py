"""One block, step by step: what the stream is after each, and what norms make of the same vectors.

The steps and what a norm is given depend on where the block normalises (Xiong et al. 2020, fig. 1).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from model.architectures.stack import Stack
from model.norms import layer_norm, rms_norm
from model.tap import Recorder, attach

Array = np.ndarray

STREAM = ("resid_pre", "attn_out", "resid_mid", "ffn_out", "resid_post")
OF_NORMS = ("mean", "deviation", "rms", "normalised", "scaled")
OF_NEURONS = ("pre_activation", "gate", "activation")

# Steps in the order in which they are computed.
STEPS: dict[str, tuple[str, ...]] = {
    "pre": (
        "resid_pre", "attn_norm", "attn_out", "resid_mid", "ffn_norm", "ffn_out", "resid_post",
    ),
    "post": (
        "resid_pre", "attn_out", "attn_sum", "resid_mid", "ffn_out", "ffn_sum", "resid_post",
    ),
}  # fmt: skip
# What each norm is given.
NORMED: dict[str, dict[str, str]] = {
    "pre": {"attn_norm": "resid_pre", "ffn_norm": "resid_mid"},
    "post": {"attn_norm": "attn_sum", "ffn_norm": "ffn_sum"},
}
# What stands after a sublayer: a sum, or that sum after its norm.
SUMS = {"resid_mid": ("resid_pre", "attn_out"), "resid_post": ("resid_mid", "ffn_out")}


@dataclass(frozen=True, eq=False)
class Inside:
    """What a block computed on one text: every token of every step.

    `values` are (T, D) by the name of a step, and (T, F) of the feed-forward; `gains` and `offsets`
    (D,) are by the name of a norm, an absent offset is zeros.
    """

    placement: str
    norm: str
    eps: float
    values: Mapping[str, Array]
    gains: Mapping[str, Array]
    offsets: Mapping[str, Array]

    @property
    def steps(self) -> tuple[str, ...]:
        """The names of the steps in their order."""
        return STEPS[self.placement]

    def given(self, norm: str) -> Array:
        """What a norm of the block is given, (T, D)."""
        return self.values[NORMED[self.placement][norm]]

    def of_token(self, token: int) -> Array:
        """One token's vector after each step, (steps, D)."""
        return np.stack([self.values[step][token] for step in self.steps])


def run_inside(model: Stack, ids: Sequence[int], layer: int) -> Inside:
    """Run a text of T tokens and keep what one block computes."""
    recorder = Recorder((*STREAM, *OF_NORMS, *OF_NEURONS))
    with torch.inference_mode():
        model(torch.tensor([list(ids)], device=model.device), tap=attach(recorder))
    start = f"{model.name}.blocks.{layer}."
    kept = {
        address.removeprefix(start): _numpy(value[0])
        for address, value in recorder.values.items()
        if address.startswith(start)
    }
    block, placement = model.blocks[layer], model.config.norm_placement
    norms = {"attn_norm": block.attn_norm, "ffn_norm": block.ffn_norm}
    values = {name.removeprefix("ffn."): value for name, value in kept.items()}
    values |= {name: kept[f"{name}.scaled"] for name in norms}
    values |= {
        "attn_sum": kept["resid_pre"] + kept["attn_out"],
        "ffn_sum": kept["resid_mid"] + kept["ffn_out"],
    }
    zeros = torch.zeros(model.config.d_model)
    offsets = {name: getattr(norm, "offset", None) for name, norm in norms.items()}
    return Inside(
        placement,
        model.config.norm,
        model.config.norm_eps,
        values,
        {name: _numpy(norm.get_parameter("gain")) for name, norm in norms.items()},
        {name: _numpy(zeros if x is None else x) for name, x in offsets.items()},
    )


def _numpy(x: Tensor) -> Array:
    return x.detach().float().cpu().numpy()


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


def root_mean_square(x: Array, axis: int) -> Array:
    """√(mean(x²)) along an axis: of each token, −1, or of each number across the tokens, 0."""
    return np.sqrt(np.square(x.astype(np.float64)).mean(axis=axis))


# --- what must hold ---------------------------------------------------------------------------


def identities(inside: Inside) -> dict[str, float]:
    """Identities of the block, each with its largest error relative to the largest number.

    The stream after a sublayer is the sum, or its norm; a norm is (x − mean) / deviation · gain
    + offset, or x / rms · gain.
    """
    found = {}
    for norm, (name, parts) in zip(inside.gains, SUMS.items(), strict=True):
        total = sum(inside.values[part] for part in parts)
        left, right = _SUMMED[inside.placement](inside, norm, np.asarray(total))
        found[f"{name} = {left.format(' + '.join(parts))}"] = _apart(inside.values[name], right)
    for norm in inside.gains:
        right = _rebuilt(inside, norm, inside.given(norm))
        offset = " + offset" if inside.offsets[norm].any() else ""
        found[f"{norm} = {_WRITTEN[inside.norm]}{offset}"] = _apart(
            inside.values[f"{norm}.scaled"], right
        )
    return found


def _rebuilt(inside: Inside, norm: str, x: Array) -> Array:
    """A norm put together from its statistics, its gain and its offset. x: (T, D)."""
    scaled = normed(x, inside.norm, inside.eps) * inside.gains[norm]
    return scaled + inside.offsets[norm]


_SUMMED: dict[str, Callable[[Inside, str, Array], tuple[str, Array]]] = {
    "pre": lambda inside, norm, total: ("{}", total),
    "post": lambda inside, norm, total: ("norm({})", _rebuilt(inside, norm, total)),
}
_WRITTEN = {"layer": "(x − mean) / deviation · gain", "rms": "x / rms · gain"}


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
