"""What position schemes promise beyond their numbers, measured on the model that runs.

A scheme's identities are checks like those of `verify`: a name, the worst error, and its bound.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from model import reference
from model.adopted.model import AnyDecoder
from model.architectures.decoder import DecoderTransformer
from model.attention import share_kv_heads
from model.capture import capture
from model.masks import full
from model.positions import (
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
    """The promises of this model's position scheme, kept or not; none of learned ones and ALiBi.

    What these add is there for the independent run to compare.
    """
    promises = IDENTITIES.get(model.config.position)
    return promises(trace, model) if promises else ()


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


def _rope(trace: Trace, model: DecoderTransformer) -> tuple[Check, ...]:
    error = max(_moved_error(trace, model, layer) for layer in range(model.config.n_layers))
    return (Check("RoPE scores depend on the distance only", error, 1e-4),)


def _moved_error(trace: Trace, model: DecoderTransformer, layer: int) -> float:
    """How far scores of all heads of a layer are from those of queries and keys moved together."""
    q, k = (torch.tensor(x) for x in before_rotation(trace, model, layer))
    here, keys = torch.arange(len(trace.ids)), share_kv_heads(k[None], len(q))[0]

    def scores(shift: int) -> Tensor:
        angles = rope_angles(here + shift, q.shape[-1], model.config.position_base)
        return rotate_pairs(q, angles) @ rotate_pairs(keys, angles).mT / math.sqrt(q.shape[-1])

    return max((scores(shift) - scores(0)).abs().max().item() for shift in SHIFTS)


def check_slopes(slopes: np.ndarray) -> Check:
    """Whether slopes (H,) are the geometric ones of so many heads, relative to each."""
    error = float(np.abs(slopes / np.array(reference.alibi_slopes(len(slopes))) - 1).max())
    heads = "1 head" if len(slopes) == 1 else f"{len(slopes)} heads"
    return Check(f"slopes of {heads} are the geometric ones", error, 1e-6)


def _none(trace: Trace, model: DecoderTransformer) -> tuple[Check, ...]:
    ids = trace.ids.tolist()
    error = permutation_error(model, ids, range(len(ids))[::-1], full(len(ids)).numpy())
    return (Check("no mask: reversed tokens have the same outputs, reversed", error, 1e-5),)


def permutation_error(
    model: AnyDecoder,
    ids: Sequence[int],
    order: Sequence[int],
    mask: np.ndarray | None = None,
) -> float:
    """How far outputs of reordered tokens are from the reordered outputs; see `relative_error`."""
    reordered = outputs(model, [ids[i] for i in order], mask)
    return relative_error(reordered, outputs(model, ids, mask)[list(order)])


IDENTITIES: dict[str, Callable[[Trace, DecoderTransformer], tuple[Check, ...]]] = {
    "sinusoidal": _sinusoidal,
    "rope": _rope,
    "none": _none,
}
