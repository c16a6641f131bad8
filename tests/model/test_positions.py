"""Protects the position schemes: their formulas by hand, and the one place where each acts."""

import math

import pytest
import torch

from model.positions import (
    POSITIONS,
    alibi_bias,
    alibi_slopes,
    rope_angles,
    rotate_pairs,
    sinusoidal_encoding,
)
from tests.model.builders import normal, randomise, tiny_config


def test_sinusoidal_is_the_papers_formula() -> None:
    encoding = sinusoidal_encoding(torch.tensor([0, 1, 5, 1000]), 6, base=100.0)
    for row, position in zip(encoding.tolist(), (0, 1, 5, 1000), strict=True):
        for i in range(3):
            angle = position / 100 ** (2 * i / 6)
            assert row[2 * i] == pytest.approx(math.sin(angle), abs=1e-6)
            assert row[2 * i + 1] == pytest.approx(math.cos(angle), abs=1e-6)


def test_rope_turns_each_pair_by_its_own_angle() -> None:
    angles = rope_angles(torch.tensor([3]), 4, base=100.0)  # 3 · 100^0 and 3 · 100^(−2/4)
    torch.testing.assert_close(angles, torch.tensor([[3.0, 0.3]], dtype=torch.float64))
    turned = rotate_pairs(torch.tensor([1.0, 0.0, 0.0, 2.0])[None, None, None], angles)
    expected = [math.cos(3), -2 * math.sin(0.3), math.sin(3), 2 * math.cos(0.3)]
    torch.testing.assert_close(turned.flatten(), torch.tensor(expected))


@pytest.mark.parametrize(
    ("n_heads", "slopes"),
    [
        (1, [2**-8]),
        (3, [2**-4, 2**-8, 2**-2]),
        (6, [1 / 4, 1 / 16, 1 / 64, 1 / 256, 1 / 2, 1 / 8]),
        (8, [1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32, 1 / 64, 1 / 128, 1 / 256]),
        (12, [2.0**-n for n in (1, 2, 3, 4, 5, 6, 7, 8, 0.5, 1.5, 2.5, 3.5)]),
    ],
)
def test_alibi_slopes_are_the_authors(n_heads: int, slopes: list[float]) -> None:
    torch.testing.assert_close(alibi_slopes(n_heads), torch.tensor(slopes))


def test_alibi_bias_falls_with_distance() -> None:
    bias = alibi_bias(torch.tensor([1.0, 0.5]), torch.tensor([2, 3]), torch.arange(4))
    expected = [[[-2, -1, 0, -1], [-3, -2, -1, 0]], [[-1, -0.5, 0, -0.5], [-1.5, -1, -0.5, 0]]]
    assert bias.tolist() == expected


@pytest.mark.parametrize(
    ("name", "acts"),
    [
        ("sinusoidal", {"added"}),
        ("learned", {"added"}),
        ("rope", {"rotate"}),
        ("alibi", {"bias"}),
        ("none", set()),
    ],
)
def test_each_scheme_acts_in_one_place(name: str, acts: set[str]) -> None:
    position = randomise(POSITIONS[name](tiny_config(position=name)))
    positions, x = torch.arange(2, 9), normal(5, 3, 7, 10)
    added, bias = position.added(positions), position.bias(positions, positions)
    rotated = position.rotate(x, positions)
    found = {"added": added is not None, "bias": bias is not None, "rotate": rotated is not x}
    assert {place for place, is_used in found.items() if is_used} == acts
    assert rotated.shape == x.shape
    assert added is None or added.shape == (7, 30)
    assert bias is None or bias.shape == (3, 7, 7)


@pytest.mark.parametrize("name", ["sinusoidal", "learned"])
def test_added_vectors_belong_to_their_positions(name: str) -> None:
    position = randomise(POSITIONS[name](tiny_config(position=name)))
    whole = position.added(torch.arange(11))
    assert torch.equal(position.added(torch.tensor([7, 2])), whole[[7, 2]])
    assert len(torch.unique(whole, dim=0)) == 11


def test_config_sets_the_base_of_the_waves() -> None:
    positions = torch.arange(7)
    waves = POSITIONS["sinusoidal"](tiny_config(position_base=50.0)).added(positions)
    torch.testing.assert_close(waves, sinusoidal_encoding(positions, 30, 50.0))
    x = normal(1, 3, 7, 10)
    turned = POSITIONS["rope"](tiny_config(position="rope", position_base=50.0)).rotate(
        x, positions
    )
    torch.testing.assert_close(turned, rotate_pairs(x, rope_angles(positions, 10, 50.0)))
