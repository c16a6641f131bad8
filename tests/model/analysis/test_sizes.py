"""Protects the counts of weights and operations: known models to the unit, ours as they are."""

import tomllib
from collections.abc import Mapping

import pytest

from model.analysis.sizes import (
    PARTS,
    Experts,
    Latent,
    Shape,
    layer_costs,
    memory,
    operations,
    parameters,
    shape_of,
)
from model.architectures.base import Transformer
from tests.model.builders import (
    GROUPED,
    tiny_encoder,
    tiny_model,
    tiny_translator,
    tiny_vision,
)
from viz.frame import ASSETS

# Of the released weights; of GPT-3 the sum of its tensors, 175 billion in the paper.
PUBLISHED = {
    "GPT-2 small": 124_439_808,
    "GPT-3 175B": 174_604_259_328,
    "Llama 2 7B": 6_738_415_616,
    "Llama 2 70B": 68_976_648_192,
    "Llama 3 8B": 8_030_261_248,
    "Llama 3 70B": 70_553_706_496,
    "DeepSeek-V2": 235_741_434_880,
    "DeepSeek-V3": 671_026_419_200,
}


def known() -> Mapping[str, Shape]:
    """The shapes of the file by their names."""
    entries = tomllib.loads((ASSETS / "known_shapes.toml").read_text(encoding="utf-8"))["model"]
    made = {"latent": Latent, "experts": Experts}
    return {
        entry["name"]: Shape(
            **{
                key: made[key](**value) if key in made else value
                for key, value in entry.items()
                if key not in ("name", "source")
            }
        )
        for entry in entries
    }


@pytest.mark.parametrize("name", PUBLISHED)
def test_known_models_have_as_many_weights_as_are_published(name: str) -> None:
    assert sum(parameters(known()[name]).values()) == PUBLISHED[name]


def test_a_token_meets_a_part_of_the_experts() -> None:
    """21 B of 236 B (DeepSeek-AI 2024, abstract), 37 B of 671 B (DeepSeek-AI 2024b, abstract)."""
    shapes = known()
    met = [
        sum(parameters(shapes[name], only_active=True).values())
        for name in ("DeepSeek-V2", "DeepSeek-V3")
    ]
    assert [round(n / 1e9) for n in met] == [21, 38]  # 37.6: the embedding counts here as well


OWN: dict[str, Transformer] = {
    "decoder": tiny_model(position="learned", tied_embeddings=False),
    "grouped, gated": tiny_model(**GROUPED, feedforward="swiglu", norm="rms"),
    "encoder, post-norm": tiny_encoder(norm_placement="post"),
    "translator": tiny_translator(norm_placement="pre", position="learned"),
    "vision": tiny_vision(),
}
# What a tensor's name says of its part; the first that fits.
WORDS = {
    "unembed.": "unembedding",
    "embed.": "embedding",
    "position.": "positions",
    "norm.": "norms",
    "attn.": "attention",
    "ffn.": "MLP",
}


@pytest.mark.parametrize("name", OWN)
def test_each_part_has_the_tensors_that_are_named_after_it(name: str) -> None:
    """All numbers, and two operations for each that stands in a matrix."""
    model = OWN[name]
    shape = shape_of(model.config)
    numbers, multiplied = dict.fromkeys(PARTS, 0), dict.fromkeys(PARTS, 0)
    for tensor, weight in model.named_parameters():  # a shared one once
        part = next(part for word, part in WORDS.items() if word in tensor)
        numbers[part] += weight.numel()
        multiplied[part] += 2 * weight.numel() * (weight.ndim == 2)
    assert parameters(shape) == numbers
    found = operations(shape, 7)
    assert found["projections"] == multiplied["attention"]
    assert found["MLP"] == multiplied["MLP"]
    if "patches" in found:
        assert found["patches"] == 2 * model.get_submodule("embed.patches").weight.numel()
    else:
        assert found["unembedding"] == 2 * model.get_submodule("unembed").weight.numel()


def test_a_cache_is_kept_where_later_tokens_are_hidden() -> None:
    """With an encoder its keys and values are kept too; an encoder alone has nothing to keep."""
    sizes = {"n_layers": 3, "d_model": 8, "n_heads": 2, "n_kv_heads": 2, "d_head": 4, "d_ff": 16,
             "vocab_size": 10}  # fmt: skip
    decoder, both = Shape(**sizes), Shape(**sizes, n_encoder_layers=5)
    assert memory(decoder, 7)["cache"] == 3 * 2 * 8 * 7 * 2
    assert memory(both, 7)["cache"] == 2 * memory(decoder, 7)["cache"]
    assert memory(Shape(**sizes, is_causal=False), 7)["cache"] == 0
    assert memory(both, 7)["maps"] == (5 + 2 * 3) * 2 * 7 * 7 * 2


def test_heads_that_cannot_share_are_refused() -> None:
    with pytest.raises(ValueError, match="12 heads cannot share 5 KV heads evenly"):
        Shape(n_layers=1, d_model=8, n_heads=12, n_kv_heads=5, d_head=4, d_ff=8, vocab_size=10)


def test_kinds_of_layers_are_those_of_the_table() -> None:
    """Vaswani et al. 2017, table 1: path 1, n, log_k n and n / r."""
    attention, recurrent, convolution, window = layer_costs(n=81, d=10, kernel=3, window=9)
    assert (attention.operations, attention.sequential, attention.path) == (81 * 81 * 10, 1, 1)
    assert (recurrent.operations, recurrent.sequential, recurrent.path) == (8100, 81, 81)
    assert (convolution.operations, convolution.path) == (3 * 8100, 4)
    assert (window.operations, window.path) == (9 * 81 * 10, 9)
