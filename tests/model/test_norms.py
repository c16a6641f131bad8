"""Protects LayerNorm and RMSNorm: equal to torch's own, and to the formula on a small vector."""

import pytest
import torch
from torch import nn

from model.norms import LayerNorm, RMSNorm
from tests.model.builders import normal, randomise, tiny_config


@pytest.mark.parametrize("bias", [True, False])
def test_layer_norm_is_torchs(bias: bool) -> None:
    ours = randomise(LayerNorm(tiny_config(norm_eps=0.1, bias=bias)))
    theirs = nn.LayerNorm(30, eps=0.1, bias=bias)
    theirs.load_state_dict({"weight": ours.gain} | ({"bias": ours.offset} if bias else {}))
    x = 3 + normal(5, 7, 30)
    torch.testing.assert_close(ours(x), theirs(x), atol=1e-6, rtol=0)


def test_rms_norm_is_torchs() -> None:
    ours = randomise(RMSNorm(tiny_config(norm_eps=0.1)))
    theirs = nn.RMSNorm(30, eps=0.1)
    theirs.load_state_dict({"weight": ours.gain})
    x = 3 + normal(5, 7, 30)
    torch.testing.assert_close(ours(x), theirs(x), atol=1e-6, rtol=0)


def test_a_zero_vector_stays_finite() -> None:
    for norm in (LayerNorm(tiny_config()), RMSNorm(tiny_config())):
        assert torch.equal(norm(torch.zeros(3, 30)), torch.zeros(3, 30))
