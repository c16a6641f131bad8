"""Gradients by hand: each step of `model.reference` backwards, in numpy float64, with no autograd.

Each function takes what its step was given, x, and the gradient after it, and gives that before it
(Rumelhart et al. 1986). Weights are as files have them: x·Wᵀ forwards, so dy·W backwards.
"""

import math
from collections.abc import Callable

import numpy as np

from model import reference
from model.reference import Reader

Array = np.ndarray
Back = Callable[[Array], Array]


def norm(part: Reader, name: str, x: Array, after: Array) -> Array:
    """Through LayerNorm or RMSNorm: what changes its scale, or its mean, is taken off. (T, D)."""
    is_rms, eps = part.config["norm"] == "rms", part.config["norm_eps"]
    middle = 0.0 if is_rms else x.mean(axis=-1, keepdims=True)
    scale = np.sqrt(((x - middle) ** 2).mean(axis=-1, keepdims=True) + eps)
    unit, inner = (x - middle) / scale, after * part.get(f"{name}.gain")
    along = unit * (inner * unit).mean(axis=-1, keepdims=True)
    level = 0.0 if is_rms else inner.mean(axis=-1, keepdims=True)
    return (inner - level - along) / scale


def attention(part: Reader, x: Array, mask: Array, after: Array) -> Array:
    """Through values, weights, queries and keys. x: (T, D), mask: (T, T) or (H, T, T)."""
    n_heads, n_kv_heads = part.config["n_heads"], part.config["n_kv_heads"]
    found, _ = reference.attention(part, x, x, mask)
    shared = np.arange(n_heads) // (n_heads // n_kv_heads)
    q, k, v, p = found["q"], *(found[n][..., shared, :, :] for n in "kv"), found["pattern"]
    of_z = reference.heads_of(after @ part.get("out_proj.weight"), n_heads)
    of_p = of_z @ v.swapaxes(-2, -1)
    of_scores = p * (of_p - (p * of_p).sum(axis=-1, keepdims=True)) / math.sqrt(q.shape[-1])

    def of_group(each: Array) -> Array:
        *before, _, n_rows, width = each.shape
        return each.reshape(*before, n_kv_heads, -1, n_rows, width).sum(axis=-3)

    before = {
        "q": rotated_back(part, of_scores @ k),
        "k": rotated_back(part, of_group(of_scores.swapaxes(-2, -1) @ q)),
        "v": of_group(p.swapaxes(-2, -1) @ of_z),
    }
    rows = [side_by_side(x) @ part.get(f"{name}_proj.weight") for name, x in before.items()]
    return rows[0] + rows[1] + rows[2]


def side_by_side(x: Array) -> Array:
    """The heads' slices in one vector again. (H, T, Dh) → (T, H·Dh)."""
    in_turn = x.swapaxes(-3, -2)
    return in_turn.reshape(*in_turn.shape[:-2], -1)


def rotated_back(part: Reader, x: Array) -> Array:
    """RoPE the other way round: the conjugate turn of each pair. x: (H, T, Dh)."""
    if part.config["position"] != "rope":
        return x
    half = x.shape[-1] // 2
    speeds = part.config["position_base"] ** (-np.arange(half) / half)
    angles = np.outer(np.arange(x.shape[-2]), speeds)
    turned = (x[..., :half] + 1j * x[..., half:]) * np.exp(-1j * angles)
    return np.concatenate([turned.real, turned.imag], axis=-1)


def _gelu_slope(u: Array) -> Array:
    """Φ(u) + u·φ(u)."""
    below = np.array([0.5 * (1 + math.erf(x / math.sqrt(2))) for x in u.ravel().tolist()])
    return below.reshape(u.shape) + u * np.exp(-(u**2) / 2) / math.sqrt(2 * math.pi)


def _tanh_slope(u: Array) -> Array:
    factor = math.sqrt(2 / math.pi)
    bent = np.tanh(factor * (u + 0.044715 * u**3))
    return 0.5 * (1 + bent) + 0.5 * u * (1 - bent**2) * factor * (1 + 3 * 0.044715 * u**2)


def _silu_slope(u: Array) -> Array:
    share = 0.5 * (1 + np.tanh(u / 2))
    return share * (1 + u * (1 - share))


SLOPES: dict[str, Back] = {
    "relu": lambda u: (u > 0).astype(float),
    "gelu": _gelu_slope,
    "gelu_tanh": _tanh_slope,
    "swiglu": _silu_slope,
}


def feed_forward(part: Reader, x: Array, after: Array) -> Array:
    """Through the neurons, gated or not. x: (T, D)."""
    kind = part.config["feedforward"]
    of_neurons, up = after @ part.get("down.weight"), part.linear("up", x)
    if kind != "swiglu":
        return (of_neurons * SLOPES[kind](up)) @ part.get("up.weight")
    gate = part.linear("gate", x)
    through_gate = (of_neurons * up * SLOPES[kind](gate)) @ part.get("gate.weight")
    return through_gate + (of_neurons * reference.silu(gate)) @ part.get("up.weight")


def block(part: Reader, x: Array, mask: Array, after: Array, keeps: float = 1.0) -> Array:
    """Through a block, (T, D): its feed-forward, then its attention. keeps: 0 without the sums."""
    middle = forward_half(part, x, mask, "attn", keeps)
    of_middle = _half(part, middle, mask, "ffn", after, keeps)
    return _half(part, x, mask, "attn", of_middle, keeps)


def forward_half(part: Reader, x: Array, mask: Array, name: str, keeps: float) -> Array:
    """The stream after attention, or after the feed-forward, forwards."""
    total = keeps * x + _sublayer(part, _read(part, x, name), mask, name)
    return total if _is_pre(part) else part.norm(f"{name}_norm", total)


def _is_pre(part: Reader) -> bool:
    return part.config["norm_placement"] == "pre"


def _read(part: Reader, x: Array, name: str) -> Array:
    return part.norm(f"{name}_norm", x) if _is_pre(part) else x


def _sublayer(part: Reader, x: Array, mask: Array, name: str) -> Array:
    if name == "attn":
        return reference.attention(part.part(name), x, x, mask)[1]
    return reference.feed_forward(part.part(name), x)


def _half(part: Reader, x: Array, mask: Array, name: str, after: Array, keeps: float) -> Array:
    given = _read(part, x, name)
    if not _is_pre(part):
        total = keeps * x + _sublayer(part, x, mask, name)
        after = norm(part, f"{name}_norm", total, after)
    inner = part.part(name)
    if name == "attn":
        before = attention(inner, given, mask, after)
    else:
        before = feed_forward(inner, given, after)
    if _is_pre(part):
        before = norm(part, f"{name}_norm", x, before)
    return keeps * after + before
