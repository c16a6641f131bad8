"""Protects DecoderConfig: what it fills in, what it refuses, and that it says why."""

import math
from typing import Any

import pytest

from model.config import DecoderConfig
from tests.model.builders import tiny_config


def test_defaults_follow_from_the_sizes() -> None:
    config = DecoderConfig(vocab_size=17, d_model=30, n_layers=2, n_heads=3, max_seq_len=11)
    assert (config.n_kv_heads, config.d_ff, config.d_head) == (3, 120, 10)


@pytest.mark.parametrize("name", ["position", "norm", "norm_placement", "feedforward", "mask"])
def test_unknown_variant_is_refused_with_the_choices(name: str) -> None:
    with pytest.raises(ValueError, match=rf"{name} is 'magic'; choose one of \w+"):
        tiny_config(**{name: "magic"})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"d_model": 31}, "d_model 31 is not a multiple of n_heads 3; change"),
        ({"n_kv_heads": 2}, "n_heads 3 is not a multiple of n_kv_heads 2"),
        ({"n_heads": 5, "d_model": 35}, "d_model 35 is odd; .* use an even d_model"),
        ({"d_model": 33, "position": "rope"}, "d_head 11 is odd; .* use an even"),
        ({"n_layers": 0}, "n_layers is 0; it must be at least 1"),
        ({"max_seq_len": -3}, "max_seq_len is -3; it must be at least 1"),
        ({"n_kv_heads": 0}, "n_kv_heads is 0; it must be at least 1"),
        ({"norm_eps": 0.0}, "norm_eps is 0.0; it must be above 0"),
        ({"norm_eps": math.nan}, "norm_eps is nan"),
        ({"norm_eps": math.inf}, "norm_eps is inf"),
        ({"position_base": 1.0}, "position_base is 1.0; it must be above 1"),
        ({"position_base": math.inf}, "position_base is inf"),
        ({"mask": "sliding_window"}, "window is 0; set window"),
        ({"mask": "prefix", "prefix_len": 13}, "prefix_len 13 is outside 0 to max_seq_len 11"),
        ({"prefix_len": -1}, "prefix_len -1 is outside"),
        ({"mask": "global_tokens", "n_global": 2}, "window is 0; set window"),
        ({"n_global": 12}, "n_global 12 is outside 0 to max_seq_len 11"),
    ],
)
def test_impossible_sizes_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        tiny_config(**changes)


def test_unknown_and_missing_keys_are_named() -> None:
    fields = tiny_config().to_dict()
    with pytest.raises(ValueError, match=r"unknown keys colour, taste; known keys are .*d_model"):
        DecoderConfig.from_dict(fields | {"taste": 1, "colour": 2})
    with pytest.raises(ValueError, match="lacks d_model, n_heads; add it"):
        DecoderConfig.from_dict({"vocab_size": 17, "n_layers": 2, "max_seq_len": 11})
