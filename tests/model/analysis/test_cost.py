"""Protects the bytes of published models: the literature's own numbers come out."""

import tomllib
from pathlib import Path

import pytest

from model.analysis.cost import (
    KnownModel,
    cache_variants,
    latent_bytes,
    latent_size,
    published_bytes,
)
from model.kv_cache import cache_bytes

ASSETS = Path(__file__).parents[3] / "assets"
ENTRIES = tomllib.loads((ASSETS / "known_models.toml").read_text(encoding="utf-8"))["model"]
KNOWN = {entry["name"]: KnownModel(**entry) for entry in ENTRIES}


def odd_model(**changes: object) -> KnownModel:
    """3 layers of 16 heads in groups of 4, 6 wide."""
    sizes = {"n_layers": 3, "n_heads": 16, "n_kv_heads": 4, "d_head": 6, "max_seq_len": 99}
    return KnownModel(name="odd", source="here", **sizes | changes)


@pytest.mark.parametrize(
    ("name", "n_tokens", "n_bytes"),
    [
        ("GPT-3 175B", 2048, 9_663_676_416),  # 9.66 GB
        ("GPT-2 small", 1024, 37_748_736),  # 36 KiB a token
        ("Llama 2 7B", 4096, 2 * 2**30),  # half a MiB a token
        ("Llama 2 70B", 4096, 1_342_177_280),  # 320 KiB a token
        ("Llama 3 8B", 8192, 2**30),  # 128 KiB a token
        ("Mistral 7B", 4096, 2**29),
        ("Mistral 7B", 8192, 2**29),  # no more than its window
        ("DeepSeek-V2", 1, 69_120),  # 60 · (512 + 64) values
    ],
)
def test_published_sizes(name: str, n_tokens: int, n_bytes: int) -> None:
    assert published_bytes(KNOWN[name], n_tokens) == n_bytes


def test_latent_is_deepseeks_own_and_equals_two_and_a_quarter_groups() -> None:
    """DeepSeek-AI 2024, §2.1.4: as much as grouped heads with 2.25 groups."""
    deepseek = KNOWN["DeepSeek-V2"]
    assert latent_size(deepseek.d_head) == deepseek.latent == 512 + 64
    assert 4 * latent_bytes(60, 576, 7) == 9 * cache_bytes(60, 1, 128, 7)
    assert cache_variants(deepseek, 7)["latent"] == cache_variants(deepseek, 7)["published"]


def test_variants_by_hand() -> None:
    assert cache_variants(odd_model(), 10) == {
        "published": 2 * 3 * 4 * 6 * 10 * 2,
        "eight_bits": 2 * 3 * 4 * 6 * 10,
        "full_heads": 2 * 3 * 16 * 6 * 10 * 2,
        "grouped": 2 * 3 * 8 * 6 * 10 * 2,
        "latent": 3 * 27 * 10 * 2,
    }


def test_variants_within_a_window() -> None:
    assert cache_variants(odd_model(window=7), 10) == cache_variants(odd_model(), 7)
    assert cache_variants(odd_model(window=7), 5) == cache_variants(odd_model(), 5)


def test_heads_that_cannot_share_eight() -> None:
    assert cache_variants(odd_model(n_heads=12), 10)["grouped"] is None
    assert cache_variants(KNOWN["GPT-2 small"], 10)["grouped"] is None
    assert cache_variants(odd_model(n_heads=4), 10)["grouped"] is None
