"""Protects the block: torch's own encoder layer in both placements, and what the recorder sees."""

import pytest
import torch
from torch import nn

from model.blocks import Block
from model.positions import POSITIONS, Position
from model.tap import Recorder, attach
from tests.model.builders import causal_rows, normal, randomise, tiny_config
from tests.model.peers import torch_layer_weights


def tiny_block(**changes: object) -> tuple[Block, Position]:
    """A block with random weights, and the scheme `none`."""
    config = tiny_config(**{"position": "none"} | changes)
    return randomise(Block(config)), POSITIONS[config.position](config)


def torchs_layer(block: Block, activation: str, is_pre: bool) -> nn.TransformerEncoderLayer:
    """torch's layer with the block's weights."""
    layer = nn.TransformerEncoderLayer(
        30, 3, 13, activation=activation, norm_first=is_pre, batch_first=True, layer_norm_eps=0.1
    )
    layer.load_state_dict(torch_layer_weights(block))
    return layer.eval()


@pytest.mark.parametrize("placement", ["pre", "post"])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_block_is_torchs_encoder_layer(placement: str, activation: str) -> None:
    block, position = tiny_block(norm_placement=placement, feedforward=activation, norm_eps=0.1)
    layer = torchs_layer(block, activation, placement == "pre")
    x, mask = normal(5, 7, 30), causal_rows(7)
    expected = layer(x, src_mask=~mask)
    torch.testing.assert_close(block(x, position, mask=mask), expected, atol=1e-5, rtol=0)
    recorded = block(x, position, mask=mask, tap=attach(Recorder()))
    torch.testing.assert_close(recorded, expected, atol=1e-5, rtol=0)
