"""Protects the lesson on the residual: gradients through networks with the sum and without it."""

import numpy as np
import pytest
import torch

from model.analysis.depth import (
    AT_ONCE,
    D_MODEL,
    DEPTHS,
    KINDS,
    N_TOKENS,
    Kind,
    config_of,
    drawn_block,
    gradient_lengths,
    measurements,
    own_gradients,
)
from model.blocks import Block
from model.positions import POSITIONS
from model.reference import DEFAULTS, Files, Reader
from model.verify import backward
from model.verify.deep import DEEP
from tests.model.builders import GROUPED, tiny_model

IDS = [3, 1, 4, 1, 5, 9]
VARIANTS = [
    {},
    {"norm_placement": "post", "feedforward": "relu"},
    {"norm": "rms", "feedforward": "swiglu", "position": "rope", **GROUPED},
    {"position": "alibi", "feedforward": "gelu_tanh", "mask": "sliding_window", "window": 2},
]


def blocks(depth: int, seed: int) -> list[Block]:
    """The first blocks of a draw."""
    return [drawn_block(config_of("pre", depth), layer, seed) for layer in range(depth)]


@pytest.mark.parametrize("depth", [2, 4, 8, 16])
@pytest.mark.parametrize("kind", KINDS)
def test_lengths_are_those_of_gradients_by_hand(kind: Kind, depth: int) -> None:
    found = gradient_lengths(blocks(depth, seed=7), kind, seed=7)
    expected = DEEP["deep.layers"](None, KINDS.index(kind), depth, 7)
    assert found.shape == (depth + 1,)
    np.testing.assert_allclose(found, expected, rtol=1e-11)


def test_every_kind_and_depth_is_measured_with_the_same_blocks() -> None:
    wanted = [(kind, depth) for depth in DEPTHS[:2] for kind in KINDS]
    found = []
    for measured in measurements(seed=2):
        if measured is not None:
            found.append(measured)
        if len(found) == len(wanted):
            break
    assert [(each.kind, each.depth) for each in found] == wanted
    for each in found:
        again = gradient_lengths(blocks(each.depth, 2), each.kind, 2)
        np.testing.assert_array_equal(each.lengths, again)


def test_no_piece_of_work_is_longer_than_a_few_blocks() -> None:
    """One for each block drawn, and for each network a few blocks forward or backward."""
    pieces, n_pieces = [], 0
    for measured in measurements(seed=2):
        n_pieces += 1
        if measured is not None:
            pieces.append((measured.depth, n_pieces - 1))
            n_pieces = 0
        if len(pieces) == 4 * len(KINDS):
            break
    for depth, n in pieces[1 :: len(KINDS)]:
        assert n == 2 * -(-depth // AT_ONCE)


def test_without_the_sum_most_of_the_gradient_is_lost() -> None:
    deep = blocks(48, seed=0)
    found = {kind: gradient_lengths(deep, kind, 0) for kind in KINDS}
    with_sum, without = found[Kind("pre", True)], found[Kind("pre", False)]
    assert with_sum[0] / with_sum[-1] > 2
    assert without[0] / without[-1] < 0.1


def test_a_network_of_no_sum_forgets_the_stream() -> None:
    """Its block gives what its feed-forward makes of what attention gives, and nothing else."""
    block = blocks(1, seed=1)[0]
    stream = torch.randn(1, N_TOKENS, D_MODEL, dtype=torch.float64)
    gradient_lengths([block], Kind("pre", False), 1)
    position = POSITIONS["none"](config_of("pre", 1))
    inner = block.attn(block.attn_norm(stream), position, mask=None)
    expected = block.ffn(block.ffn_norm(inner))
    np.testing.assert_allclose(block(stream, position).detach(), expected.detach(), atol=1e-12)


@pytest.mark.parametrize("changes", VARIANTS)
def test_gradients_by_hand_are_those_of_differences(changes: dict[str, object]) -> None:
    """Central differences along random directions, through one block of each variant."""
    rng = np.random.default_rng(4)
    model = tiny_model(**changes).double()
    weights = {name: x.detach().numpy() for name, x in model.state_dict().items()}
    sizes = {name: getattr(model.config, name) for name in ("n_heads", "n_kv_heads", "d_model")}
    config = DEFAULTS | sizes | changes
    part = Reader(Files(config, weights)).part("blocks.1")
    x = rng.normal(size=(5, model.config.d_model))
    after, mask, step = rng.normal(size=x.shape), np.tri(5, dtype=bool), 1e-6

    def forward(x: np.ndarray) -> float:
        middle = backward.forward_half(part, x, mask, "attn", 1.0)
        return float((backward.forward_half(part, middle, mask, "ffn", 1.0) * after).sum())

    before = backward.block(part, x, mask, after)
    for _ in range(4):
        way = rng.normal(size=x.shape)
        slope = (forward(x + step * way) - forward(x - step * way)) / (2 * step)
        assert slope == pytest.approx(float((before * way).sum()), rel=1e-5, abs=1e-6)


def test_own_gradients_are_one_for_each_place_of_the_stream() -> None:
    model = tiny_model()
    found = own_gradients(model, IDS)
    assert found.shape == (model.config.n_layers + 1,)
    assert (found > 0).all()
    with pytest.raises(ValueError, match="1 token"):
        own_gradients(model, [3])
