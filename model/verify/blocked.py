"""What the lesson on the block shows, worked out once more: see `derived`.

Addresses end with the layer, the norm, 0 of attention and 1 of the feed-forward, and the token, as
far as an array depends on them. Kinds of norms are 0 before any, 1 LayerNorm, 2 RMSNorm, 3
BatchNorm; activation functions 0 ReLU, 1 GELU, 2 its approximation, 3 SiLU.
"""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from model import reference

if TYPE_CHECKING:
    from model.verify.derived import Ran

Array = np.ndarray
PLACES, LARGEST = 121, 16
PARTS = ("attn", "ffn")
FUNCTIONS: tuple[Callable[[Array], Array], ...] = (
    lambda x: np.where(x > 0, x, 0.0),
    reference.gelu,
    reference.gelu_tanh,
    reference.silu,
)


def _at(ran: "Ran", layer: int, name: str) -> Array:
    return ran.arrays[f"decoder.blocks.{layer}.{name}"]


def _is_pre(ran: "Ran") -> bool:
    return ran.files.config["norm_placement"] == "pre"


def _sum(ran: "Ran", layer: int, norm: int) -> Array:
    """The stream and what a sublayer adds to it, before any norm, (T, D)."""
    before = _at(ran, layer, ("resid_pre", "resid_mid")[norm])
    return before + _at(ran, layer, f"{PARTS[norm]}_out")


def _given(ran: "Ran", layer: int, norm: int) -> Array:
    """What a norm is given, (T, D)."""
    if _is_pre(ran):
        return _at(ran, layer, ("resid_pre", "resid_mid")[norm])
    return _sum(ran, layer, norm)


def _read(ran: "Ran", layer: int, norm: int) -> Array:
    """What a sublayer works on, (T, D): the stream, in a pre-norm block after its norm."""
    stream = _at(ran, layer, ("resid_pre", "resid_mid")[norm])
    return _own_norm(ran, layer, norm, stream) if _is_pre(ran) else stream


def _own_norm(ran: "Ran", layer: int, norm: int, x: Array) -> Array:
    return ran.model.part(f"blocks.{layer}").norm(f"{PARTS[norm]}_norm", x)


def _steps(ran: "Ran", layer: int, token: int) -> Array:
    """One token after each step of the block, (7, D)."""
    rows = [_at(ran, layer, "resid_pre")]
    for norm, after in enumerate(("resid_mid", "resid_post")):
        out = _at(ran, layer, f"{PARTS[norm]}_out")
        inner = [_read(ran, layer, norm), out] if _is_pre(ran) else [out, _sum(ran, layer, norm)]
        rows += [*inner, _at(ran, layer, after)]
    return np.stack([row[token] for row in rows])


def _shares(ran: "Ran", *at: int) -> Array:
    """The same, each step in shares of its largest magnitude."""
    return np.stack([row / (max(map(abs, row.tolist())) or 1.0) for row in _steps(ran, *at)])


def _length(row: Array) -> float:
    return math.sqrt(math.fsum(x * x for x in row.tolist()))


def _stream_lengths(ran: "Ran", name: str, token: int) -> Array:
    return np.array([_length(_at(ran, i, name)[token]) for i in range(ran.n_layers)])


def _heights(ran: "Ran", token: int) -> Array:
    """The length of the stream before each block and after the last, (L + 1,)."""
    last = _length(_at(ran, ran.n_layers - 1, "resid_post")[token])
    return np.append(_stream_lengths(ran, "resid_pre", token), last)


# --- norms ------------------------------------------------------------------------------------


def _normed(ran: "Ran", kind: int, layer: int, norm: int) -> Array:
    """What a norm is given, after a kind of norm without gain, (T, D)."""
    x, eps = _given(ran, layer, norm), ran.files.config["norm_eps"]
    if kind == 1:
        return reference.layer_norm(x, np.ones(x.shape[-1]), 0.0, eps)
    if kind == 2:
        return reference.rms_norm(x, np.ones(x.shape[-1]), eps)
    if kind == 3:  # the same as LayerNorm, of the columns
        return reference.layer_norm(x.T, np.ones(len(x)), 0.0, eps).T
    return [x][kind]


def _statistics(ran: "Ran", layer: int, norm: int, token: int) -> Array:
    """Mean, deviation and root mean square of what one token's norm is given, (3,)."""
    row, eps = _given(ran, layer, norm)[token].tolist(), ran.files.config["norm_eps"]
    mean = math.fsum(row) / len(row)
    squares = math.fsum(x * x for x in row) / len(row)
    variance = math.fsum((x - mean) ** 2 for x in row) / len(row)
    return np.array([mean, math.sqrt(variance + eps), math.sqrt(squares + eps)])


def _of_tokens(ran: "Ran", *at: int) -> Array:
    """The root mean square of each token, (T,)."""
    rows = _normed(ran, *at)
    return np.array([_length(row) for row in rows]) / math.sqrt(rows.shape[-1])


def _of_dimensions(ran: "Ran", *at: int) -> Array:
    """The root mean square of each dimension over the tokens, in rising order, (D,)."""
    columns = _normed(ran, *at).T
    sizes = [_length(column) / math.sqrt(columns.shape[-1]) for column in columns]
    return np.array(sorted(sizes))


def _weight(ran: "Ran", name: str, layer: int, norm: int) -> Array:
    return ran.files.weights[f"blocks.{layer}.{PARTS[norm]}_norm.{name}"]


# --- neurons ----------------------------------------------------------------------------------


def _before(ran: "Ran", layer: int, token: int) -> Array:
    """What enters each neuron's activation function, (F,)."""
    part = ran.model.part(f"blocks.{layer}").part("ffn")
    is_gated = ran.files.config["feedforward"] == "swiglu"
    return part.linear("gate" if is_gated else "up", _read(ran, layer, 1)[token])


def _after(ran: "Ran", layer: int, token: int) -> Array:
    """What leaves it, (F,)."""
    kinds = ("relu", "gelu", "gelu_tanh", "swiglu")
    function = FUNCTIONS[kinds.index(ran.files.config["feedforward"])]
    return function(_before(ran, layer, token))


def _activations(ran: "Ran", layer: int, token: int) -> Array:
    """Each neuron as the projection back reads it, (F,): gated, the product with `up`."""
    after = _after(ran, layer, token)
    if ran.files.config["feedforward"] != "swiglu":
        return after
    return after * ran.model.part(f"blocks.{layer}").part("ffn").linear(
        "up", _read(ran, layer, 1)[token]
    )


def _concentration(ran: "Ran", layer: int, token: int) -> Array:
    squares = sorted((x * x for x in _activations(ran, layer, token).tolist()), reverse=True)
    return np.asarray(math.fsum(squares[:LARGEST]) / math.fsum(squares))


def _places(reach: int) -> Array:
    return np.array([reach * (2 * i / (PLACES - 1) - 1) for i in range(PLACES)])


BLOCKED: dict[str, Callable[..., Array]] = {
    "block.steps": _steps,
    "block.shares": _shares,
    "block.lengths": lambda ran, *at: np.array([_length(row) for row in _steps(ran, *at)]),
    "block.heights": _heights,
    "block.attn": lambda ran, token: _stream_lengths(ran, "attn_out", token),
    "block.ffn": lambda ran, token: _stream_lengths(ran, "ffn_out", token),
    "block.normed": lambda ran, kind, layer, norm, token: _normed(ran, kind, layer, norm)[token],
    "block.statistics": _statistics,
    "block.tokens": _of_tokens,
    "block.dimensions": _of_dimensions,
    "block.gain": lambda ran, *at: _weight(ran, "gain", *at),
    "block.offset": lambda ran, *at: _weight(ran, "offset", *at),
    "block.before": _before,
    "block.after": _after,
    "block.activations": _activations,
    "block.concentration": _concentration,
    "block.places": lambda ran, reach: _places(reach),
    "block.curve": lambda ran, kind, reach: FUNCTIONS[kind](_places(reach)),
}
