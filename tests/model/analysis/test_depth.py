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
    _drawn,
    config_of,
    drawn_block,
    gradient_lengths,
    measurements,
    own_gradients,
)
from model.blocks import Block
from model.capture import capture
from model.positions import POSITIONS
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
def test_own_gradients_are_those_of_the_rest_of_the_model(changes: dict) -> None:
    """From each place on, the blocks are run again without a tap and differentiated by autograd.

    What a float32 trace rounds by 2⁻²⁴ of its size moves the gradient as little: rel 1e-5.
    """
    model = tiny_model(**changes).double()
    ids, mask = torch.tensor(IDS), torch.ones(6, 6, dtype=torch.bool).tril()
    if "window" in changes:
        mask &= ~torch.ones_like(mask).tril(-changes["window"])
    residuals = capture(model, IDS, list("abcdef")).residuals
    streams = [*(x.resid_pre for x in residuals), residuals[-1].resid_post]
    expected = []
    for layer, stream in enumerate(streams):
        start = torch.tensor(stream, dtype=torch.float64)[None].requires_grad_()
        x = start
        for block in model.blocks[layer:]:
            x = block(x, model.position, mask=mask)
        logits = model.unembed(model.final_norm(x))[0]
        loss = torch.nn.functional.cross_entropy(logits[:-1], ids[1:])
        expected.append(torch.autograd.grad(loss, start)[0].norm().item())
    assert own_gradients(model, IDS) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_gradients_by_depth_are_those_of_one_graph(kind: Kind) -> None:
    """All blocks in one graph, where the lesson works in pieces."""
    deep = blocks(AT_ONCE + 2, seed=3)
    found = gradient_lengths(deep, kind, 3)
    streams = [_drawn("input", 3).detach().requires_grad_()]
    mask, position = torch.ones(N_TOKENS, N_TOKENS, dtype=torch.bool).tril(), POSITIONS["none"]
    for block in deep:
        streams.append(block(streams[-1], position(config_of("pre", 1)), mask=mask))
    x, direction = streams[-1], _drawn("direction", 3)
    if kind.placement == "pre":
        x = torch.nn.functional.layer_norm(x, (D_MODEL,))
    y = (x * direction).sum(dim=(1, 2)) / direction.flatten(1).norm(dim=1)
    expected = [
        torch.stack(
            [
                torch.autograd.grad(y[b], stream, retain_graph=True)[0][b].norm().log()
                for b in range(len(y))
            ]
        )
        .mean()
        .exp()
        .item()
        for stream in streams
    ]
    assert found == pytest.approx(expected, rel=1e-9)
