"""Protects the feed-forward half: the formula of each activation, each token on its own."""

import math
from collections.abc import Callable

import pytest
import torch

from model.feedforward import FEEDFORWARDS
from tests.model.builders import normal, randomise, tiny_config

SCALAR_FORMULAS: dict[str, Callable[[float], float]] = {
    "relu": lambda x: max(x, 0.0),
    "gelu": lambda x: x * (1 + math.erf(x / math.sqrt(2))) / 2,
    "gelu_tanh": lambda x: x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2,
}


@pytest.mark.parametrize("name", SCALAR_FORMULAS)
def test_activation_sits_between_up_and_down(name: str) -> None:
    ffn = randomise(FEEDFORWARDS[name](tiny_config()))
    x = normal(5, 7, 30)
    hidden = ffn.up(x).clone().apply_(SCALAR_FORMULAS[name])
    assert hidden.shape == (5, 7, 13)
    torch.testing.assert_close(ffn(x), ffn.down(hidden), atol=1e-5, rtol=0)


def test_swiglu_gates_what_goes_up() -> None:
    ffn = randomise(FEEDFORWARDS["swiglu"](tiny_config()))
    x = normal(5, 7, 30)
    gate = ffn.gate(x)
    hidden = gate / (1 + (-gate).exp()) * ffn.up(x)  # silu(g) = g · sigmoid(g)
    torch.testing.assert_close(ffn(x), ffn.down(hidden), atol=1e-5, rtol=0)


@pytest.mark.parametrize("name", FEEDFORWARDS)
def test_no_bias_means_no_bias_anywhere(name: str) -> None:
    names = [n for n, _ in FEEDFORWARDS[name](tiny_config(bias=False)).named_parameters()]
    assert names
    assert not [n for n in names if n.endswith("bias")]
