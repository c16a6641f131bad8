"""Protects the masks: who may look at whom, cell by cell, and that they combine with `&`."""

import pytest
import torch

from model import masks
from model.masks import MASKS
from tests.model.builders import picture, tiny_config

CPU = torch.device("cpu")


def test_sliding_window_counts_the_token_itself_on_both_sides() -> None:
    assert picture(masks.sliding_window(5, 2)) == ["xx...", "xxx..", ".xxx.", "..xxx", "...xx"]
    assert picture(masks.sliding_window(3, 1)) == ["x..", ".x.", "..x"]


def test_prefix_sees_all_of_itself_and_nothing_behind() -> None:
    assert picture(masks.prefix(5, 3)) == ["xxx..", "xxx..", "xxx..", "xxxx.", "xxxxx"]
    assert picture(masks.prefix(3, 7)) == ["xxx", "xxx", "xxx"]
    assert picture(masks.prefix(3, 0)) == picture(masks.causal(3))


def test_padding_hides_the_filler_as_a_key() -> None:
    mask = masks.padding(torch.tensor([2, 0, 3]), 3)
    assert mask.shape == (3, 1, 1, 3)
    assert picture(mask[:, 0, 0]) == ["xx.", "...", "xxx"]


def test_global_tokens_see_all_and_are_seen() -> None:
    assert picture(masks.global_tokens(4, 1)) == ["xxxx", "x...", "x...", "x..."]
    assert picture(masks.global_tokens(3, 5)) == ["xxx", "xxx", "xxx"]
    assert picture(masks.global_tokens(3, 0)) == ["...", "...", "..."]
    both = masks.sliding_window(5, 2) | masks.global_tokens(5, 1)
    assert picture(both) == ["xxxxx", "xxx..", "xxxx.", "x.xxx", "x..xx"]


def test_left_padding_hides_the_pad_tokens_there() -> None:
    mask = masks.padding(torch.tensor([2, 0, 3]), 3, left=True)
    assert picture(mask[:, 0, 0]) == [".xx", "...", "xxx"]


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("causal", ["x....", "xx...", "xxx..", "xxxx.", "xxxxx"]),
        ("sliding_window", ["x....", "xx...", "xxx..", ".xxx.", "..xxx"]),
        ("prefix", ["xx...", "xx...", "xxx..", "xxxx.", "xxxxx"]),
        ("global_tokens", ["x....", "xx...", "xxx..", "xxxx.", "x.xxx"]),
    ],
)
def test_config_means_this_mask(name: str, rows: list[str]) -> None:
    config = tiny_config(mask=name, window=3, prefix_len=2, n_global=1)
    assert picture(MASKS[name](config, 5, CPU)) == rows
    assert picture(MASKS[name](config, 5, CPU, 3)) == rows[3:]
