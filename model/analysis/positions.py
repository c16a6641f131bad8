"""What each position scheme promises, measured on the model that runs.

A scheme's identities are checks like those of `verify`: a name, the worst error, and its bound.
They are recomputed by another route than the model's own, or with the model's tokens moved.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from model.adopted.model import AnyDecoder
from model.architectures.decoder import DecoderTransformer
from model.attention import share_kv_heads
from model.capture import capture
from model.masks import full
from model.positions import (
    AlibiPosition,
    LearnedPosition,
    Position,
    SinusoidalPosition,
    alibi_slopes,
    rope_angles,
    rotate_pairs,
    shift_waves,
    sinusoidal_encoding,
    wave_product,
)
from model.trace import Trace
from model.verify.check import Check, relative_error

SHIFTS = (1, 7, 64, 255)  # by how many positions RoPE's queries and keys are moved together


@torch.inference_mode()
def check_identities(trace: Trace, model: DecoderTransformer) -> tuple[Check, ...]:
    """The promises of this model's position scheme, kept or not."""
    return IDENTITIES[model.config.position](trace, model)


def rotation_error(waves: Tensor, base: float) -> float:
    """Worst |PE(pos + k) − rotated PE(pos)| over all positions and all offsets k. waves: (T, D)."""
    exact = waves.double()
    errors = [
        (exact[k:] - shift_waves(waves[: len(waves) - k], k, base)).abs().max()
        for k in range(1, len(waves))
    ]
    return float(max(errors, default=0.0))


def product_error(waves: Tensor, base: float) -> float:
    """How far dot products are from those of the distance alone; see `relative_error`. (T, D)."""
    at = torch.arange(len(waves), device=waves.device)
    by_distance = wave_product(at, waves.shape[-1], base)  # (T,)
    expected = by_distance[(at[:, None] - at[None, :]).abs()]  # (T, T)
    products = waves.double() @ waves.double().T
    return relative_error(products.cpu().numpy(), expected.cpu().numpy())


class BeforeRotation(NamedTuple):
    """Queries (H, T, Dh) and keys (n_kv_heads, T, Dh) of one layer before RoPE rotates them."""

    q: np.ndarray
    k: np.ndarray


@torch.inference_mode()
def before_rotation(trace: Trace, model: DecoderTransformer, layer: int) -> BeforeRotation:
    """What this layer's projections give before positions enter."""
    block = model.blocks[layer]
    resid = torch.tensor(trace.residuals[layer].resid_pre, device=model.device)[None]
    x = block.placement.read(resid, block.attn_norm)
    none, at = Position(model.config), torch.arange(len(trace.ids), device=model.device)
    q = block.attn.project_queries(x, none, at)
    k = block.attn.project_keys(x, none, at)
    return BeforeRotation(q[0].cpu().numpy(), k[0].cpu().numpy())


def rope_scores(
    q: np.ndarray,
    k: np.ndarray,
    query_positions: Sequence[int],
    key_positions: Sequence[int],
    base: float,
) -> np.ndarray:
    """Scores of queries and keys that are rotated to any positions, in float32, before the mask.

    q: (Tq, Dh), k: (Tk, Dh). Returns (Tq, Tk).
    """
    rotated = [
        rotate_pairs(torch.tensor(x), rope_angles(torch.tensor(at), x.shape[-1], base))
        for x, at in ((q, query_positions), (k, key_positions))
    ]
    return (rotated[0] @ rotated[1].T / math.sqrt(q.shape[-1])).numpy()


def rotation_speeds(width: int, base: float) -> np.ndarray:
    """By how many radians each pair of `width` dimensions rotates per position. (width / 2,)."""
    return rope_angles(torch.tensor([1]), width, base)[0].numpy()


def wave_table(n_positions: int, d_model: int, base: float) -> np.ndarray:
    """The sinusoidal encoding of the first positions, (N, D)."""
    return sinusoidal_encoding(torch.arange(n_positions), d_model, base).numpy()


def head_slopes(n_heads: int) -> np.ndarray:
    """ALiBi's slopes for a number of heads, (H,)."""
    return alibi_slopes(n_heads).numpy()


def moved_logits(model: AnyDecoder, ids: Sequence[int], shift: int) -> np.ndarray:
    """Logits (T, V) of the same tokens when each stands `shift` positions later.

    In front of them come `shift` copies of token 0 that no token attends to, so the tokens see each
    other as before and only their positions differ.
    """
    device, n = model.device, shift + len(ids)
    tokens = torch.tensor([[0] * shift + list(ids)], device=device)
    mask = torch.ones(n, n, dtype=torch.bool, device=device).tril()
    mask[:, :shift] = False
    with torch.inference_mode():
        return model(tokens, mask=mask)[0, shift:].cpu().numpy()


@torch.inference_mode()
def outputs(model: AnyDecoder, ids: Sequence[int], mask: np.ndarray | None = None) -> np.ndarray:
    """What the unembedding reads of each token, (T, D), under a (T, T) mask or the model's own."""
    trace = capture(model, ids, [""] * len(ids), mask)
    resid = torch.tensor(trace.residuals[-1].resid_post, device=model.device)
    return model.final_norm(resid).cpu().numpy()


def _sinusoidal(trace: Trace, model: DecoderTransformer) -> tuple[Check, ...]:
    assert isinstance(model.position, SinusoidalPosition)
    waves, config = model.position.table, model.config
    rotated = rotation_error(waves, config.position_base)
    product = product_error(waves, config.position_base)
    return (
        Check("PE(pos + k) = one rotation of PE(pos) for every pos", rotated, 1e-5),
        Check("PE(pos) · PE(pos + k) depends on k only", product, 1e-5),
    )


def _learned(trace: Trace, model: DecoderTransformer) -> tuple[Check, ...]:
    assert isinstance(model.position, LearnedPosition)
    rows = model.position.table.weight[: len(trace.ids)].cpu().numpy()
    error = relative_error(trace.positions, rows)
    return (Check("the token at position p was given row p of the table", error, 0.0),)


def _rope(trace: Trace, model: DecoderTransformer) -> tuple[Check, ...]:
    layers = range(model.config.n_layers)
    by_layer = [_rope_errors(trace, model, layer) for layer in layers]
    rotated, moved = (max(errors) for errors in zip(*by_layer, strict=True))
    return (
        Check("q and k = their projections, rotated by position", rotated, 1e-5),
        Check("RoPE scores depend on the distance only", moved, 1e-4),
    )


def _rope_errors(trace: Trace, model: DecoderTransformer, layer: int) -> tuple[float, float]:
    """Of one layer: rotated q and k against the trace's, and scores of all heads moved together."""
    record, base = trace.attention[layer], model.config.position_base
    q, k = (torch.tensor(x) for x in before_rotation(trace, model, layer))
    here = torch.arange(len(trace.ids))
    keys = share_kv_heads(k[None], len(q))[0]

    def scores(shift: int) -> tuple[Tensor, Tensor, Tensor]:
        angles = rope_angles(here + shift, q.shape[-1], base)
        rotated_q, rotated_k = rotate_pairs(q, angles), rotate_pairs(keys, angles)
        return rotated_q, rotated_k, rotated_q @ rotated_k.mT / math.sqrt(q.shape[-1])

    rotated_q, rotated_k, still = scores(0)
    shared = share_kv_heads(torch.tensor(record.k)[None], len(q))[0]
    rotated = max(
        relative_error(record.q, rotated_q.numpy()),
        relative_error(shared.numpy(), rotated_k.numpy()),
    )
    return rotated, max((scores(shift)[2] - still).abs().max().item() for shift in SHIFTS)


def _alibi(trace: Trace, model: DecoderTransformer) -> tuple[Check, ...]:
    assert isinstance(model.position, AlibiPosition)
    slopes = np.array(authors_slopes(model.config.n_heads))
    used = model.position.slopes.cpu().numpy()
    here = np.arange(len(trace.ids), dtype=np.float64)
    expected = -slopes[:, None, None] * np.abs(here[:, None] - here[None, :])
    bias = max(relative_error(record.added, expected) for record in trace.attention)
    return (
        check_slopes(used),
        Check("bias = −slope · distance", bias, 1e-6),
    )


def check_slopes(slopes: np.ndarray) -> Check:
    """Whether slopes (H,) are the geometric ones of so many heads, relative to each."""
    expected = np.array(authors_slopes(len(slopes)))
    error = float(np.abs(slopes / expected - 1).max())
    heads = "1 head" if len(slopes) == 1 else f"{len(slopes)} heads"
    return Check(f"slopes of {heads} are the geometric ones", error, 1e-6)


def authors_slopes(n_heads: int) -> list[float]:
    """The slopes as Press et al. published them (2022, their `get_slopes`), head by head.

    A power of two has 2^(−8/H) and its powers. Other counts take all slopes of the power of two
    below and every other one of twice that.
    """
    exponent = math.log2(n_heads)
    if exponent.is_integer():
        first = 2.0 ** (-8 / n_heads)
        return [first ** (head + 1) for head in range(n_heads)]
    below = 2 ** math.floor(exponent)
    return authors_slopes(below) + authors_slopes(2 * below)[0::2][: n_heads - below]


def _none(trace: Trace, model: DecoderTransformer) -> tuple[Check, ...]:
    ids = trace.ids.tolist()
    error = permutation_error(model, ids, range(len(ids))[::-1], full(len(ids)).numpy())
    return (Check("no mask: reversed tokens have the same outputs, reversed", error, 1e-5),)


def permutation_error(
    model: DecoderTransformer,
    ids: Sequence[int],
    order: Sequence[int],
    mask: np.ndarray | None = None,
) -> float:
    """How far outputs of reordered tokens are from the reordered outputs; see `relative_error`."""
    reordered = outputs(model, [ids[i] for i in order], mask)
    return relative_error(reordered, outputs(model, ids, mask)[list(order)])


IDENTITIES: dict[str, Callable[[Trace, DecoderTransformer], tuple[Check, ...]]] = {
    "sinusoidal": _sinusoidal,
    "learned": _learned,
    "rope": _rope,
    "alibi": _alibi,
    "none": _none,
}
