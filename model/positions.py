"""How a model knows the order of its tokens: sinusoidal, learned, RoPE, ALiBi, or not at all.

A scheme acts in one of three places: it adds a vector to each embedding, it rotates queries and
keys, or it adds a bias to the scores. `Position` does nothing in all three; each scheme overrides
the one place where it acts, so the model asks no scheme for its name.
"""

import math

import torch
from torch import Tensor, nn

from model.config import BlockConfig


def sinusoidal_encoding(positions: Tensor, d_model: int, base: float = 10_000.0) -> Tensor:
    """Waves of geometrically growing wavelength, from 2π to about base·2π.

    PE(pos, 2i) = sin(pos / base^(2i/d_model)),  PE(pos, 2i+1) = cos(pos / base^(2i/d_model))
    (Vaswani et al. 2017, §3.5).

    positions: (T,) whole numbers. Returns (T, D) with D = d_model, which must be even.
    """
    even = torch.arange(0, d_model, 2, device=positions.device, dtype=torch.float64)
    frequencies = base ** (-even / d_model)  # (D/2,)
    angles = positions[:, None].double() * frequencies  # (T, D/2)
    waves = torch.stack([angles.sin(), angles.cos()], dim=-1)  # (T, D/2, 2)
    return waves.flatten(-2).float()  # (T, D)


def shift_waves(waves: Tensor, offset: int, base: float = 10_000.0) -> Tensor:
    """The sinusoidal encoding `offset` positions on, by rotating each pair; no position enters.

    sin(a + b) = sin a cos b + cos a sin b and cos(a + b) = cos a cos b − sin a sin b, so
    PE(pos + k) is the same rotation of PE(pos) for every pos (Vaswani et al. 2017, §3.5).

    waves: (T, D). Returns (T, D) in float64.
    """
    sin, cos = waves.double().unflatten(-1, (-1, 2)).unbind(dim=-1)  # (T, D/2) each
    even = torch.arange(0, waves.shape[-1], 2, device=waves.device, dtype=torch.float64)
    angles = offset * base ** (-even / waves.shape[-1])  # (D/2,)
    rotated = (
        sin * angles.cos() + cos * angles.sin(),
        cos * angles.cos() - sin * angles.sin(),
    )
    return torch.stack(rotated, dim=-1).flatten(-2)


def wave_product(distance: Tensor, d_model: int, base: float = 10_000.0) -> Tensor:
    """PE(pos) · PE(pos + k) = Σᵢ cos(k / base^(2i/d_model)): of the distance k alone.

    From cos a cos b + sin a sin b = cos(a − b). distance: (N,). Returns (N,) in float64.
    """
    even = torch.arange(0, d_model, 2, device=distance.device, dtype=torch.float64)
    return (distance[:, None].double() * base ** (-even / d_model)).cos().sum(dim=-1)


def rope_angles(positions: Tensor, d_head: int, base: float = 10_000.0) -> Tensor:
    """Angle in radians by which RoPE rotates pair i at each position: pos · base^(−2i/d_head).

    (Su et al. 2021, eq. 15.) positions: (T,). Returns (T, Dh/2) in float64: in float32 an angle of
    some hundred turns has lost four digits, and scores would drift with the position.
    """
    even = torch.arange(0, d_head, 2, device=positions.device, dtype=torch.float64)
    return positions[:, None].double() * base ** (-even / d_head)


def rotate_pairs(x: Tensor, angles: Tensor) -> Tensor:
    """Rotate each pair of dimensions of x by its angle (Su et al. 2021, eq. 34).

    Halves pairing: dimension i is paired with i + Dh/2, as in Llama. The paper pairs neighbours;
    the two differ by a fixed permutation of dimensions and give the same scores.

    x: (B, H, T, Dh), angles: (T, Dh/2). Returns (B, H, T, Dh).
    """
    first, second = x.chunk(2, dim=-1)  # (B, H, T, Dh/2) each
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    return torch.cat([first * cos - second * sin, first * sin + second * cos], dim=-1)


def alibi_slopes(n_heads: int) -> Tensor:
    """How steeply each head's bias falls with distance (Press et al. 2022, §3).

    For a power of two the slopes are 2^(−8/H), 2^(−16/H), …; for other head counts the slopes of
    the power of two below, then every other slope of the power of two above (the authors' code).

    Returns (H,).
    """
    below = 2 ** math.floor(math.log2(n_heads))
    slopes = [2.0 ** (-8 * (i + 1) / below) for i in range(below)]
    slopes += [2.0 ** (-4 * (2 * i + 1) / below) for i in range(n_heads - below)]
    return torch.tensor(slopes, device="cpu")


def alibi_bias(slopes: Tensor, query_positions: Tensor, key_positions: Tensor) -> Tensor:
    """−slope · distance for every query and key (Press et al. 2022, §3, eq. in fig. 3).

    slopes: (H,), query_positions: (Tq,), key_positions: (Tk,). Returns (H, Tq, Tk).
    """
    distance = (query_positions[:, None] - key_positions[None, :]).abs()  # (Tq, Tk)
    return -slopes[:, None, None] * distance


class Position(nn.Module):
    """No positions: the model sees a set of tokens, and order only through its mask."""

    def __init__(self, config: BlockConfig) -> None:
        super().__init__()
        self.config = config

    def added(self, positions: Tensor) -> Tensor | None:
        """Vectors to add to the embeddings, (T, D), or None. positions: (T,)."""
        return None

    def rotate(self, x: Tensor, positions: Tensor) -> Tensor:
        """Queries or keys as they enter the product. x: (B, H, T, Dh), positions: (T,)."""
        return x

    def bias(self, query_positions: Tensor, key_positions: Tensor) -> Tensor | None:
        """What is added to the scores, (H, Tq, Tk), or None."""
        return None


class SinusoidalPosition(Position):
    """Fixed waves added to the embeddings; nothing is learned."""

    table: Tensor  # (max_seq_len, D)

    def __init__(self, config: BlockConfig) -> None:
        super().__init__(config)
        # On the CPU also where the model is built without memory, for weights to come.
        positions = torch.arange(config.max_seq_len, device="cpu")
        table = sinusoidal_encoding(positions, config.d_model, config.position_base)
        self.register_buffer("table", table, persistent=False)

    def added(self, positions: Tensor) -> Tensor:
        """See `Position`."""
        return self.table[positions]


class LearnedPosition(Position):
    """One trained vector per position, added to the embeddings (as in GPT-2)."""

    def __init__(self, config: BlockConfig) -> None:
        super().__init__(config)
        self.table = nn.Embedding(config.max_seq_len, config.d_model)

    def added(self, positions: Tensor) -> Tensor:
        """See `Position`."""
        return self.table(positions)


class RotaryPosition(Position):
    """RoPE: queries and keys rotate with their position, so scores depend on distance alone."""

    def rotate(self, x: Tensor, positions: Tensor) -> Tensor:
        """See `Position`."""
        return rotate_pairs(x, rope_angles(positions, x.shape[-1], self.config.position_base))


class AlibiPosition(Position):
    """ALiBi: scores fall linearly with distance, each head with its own slope."""

    slopes: Tensor  # (H,)

    def __init__(self, config: BlockConfig) -> None:
        super().__init__(config)
        self.register_buffer("slopes", alibi_slopes(config.n_heads), persistent=False)

    def bias(self, query_positions: Tensor, key_positions: Tensor) -> Tensor:
        """See `Position`."""
        return alibi_bias(self.slopes, query_positions, key_positions)


POSITIONS: dict[str, type[Position]] = {
    "sinusoidal": SinusoidalPosition,
    "learned": LearnedPosition,
    "rope": RotaryPosition,
    "alibi": AlibiPosition,
    "none": Position,
}
