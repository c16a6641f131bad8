"""Protects the masks: who may look at whom, cell by cell, and that they combine with `&`."""

import pytest
import torch

from model.masks import MASKS
from tests.model.builders import picture, tiny_config

CPU = torch.device("cpu")


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
