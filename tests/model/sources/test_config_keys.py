"""Protects the sense of config.json: of all keys of all families, none is passed over."""

import json
from collections.abc import Iterator
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers as hf
from huggingface_hub.errors import StrictDataclassError

from model.sources.keys import WITHOUT, passed_over
from model.sources.table import open_named
from model.verify.check import relative_error
from tests.model.adopted import families
from tests.model.adopted.families import VISION, build, given, pictured, saved

FAMILIES = {
    **families.FAMILIES, **families.HYBRIDS, **families.LENGTHS, **families.UNEVEN,
    **families.IN_FILES,
}  # fmt: skip
HALF = {"rope_parameters": {
    "rope_type": "default", "rope_theta": 100.0, "partial_rotary_factor": 0.7}}  # fmt: skip
# What lets a key be heard: more than one pair that turns, a layer of experts, a limit in reach.
HEARD: dict[str, dict[str, Any]] = {
    **dict.fromkeys(("gpt_neox", "stablelm", "qwen3_5", "qwen3_next"), HALF),
    "gpt_oss": {"swiglu_limit": 0.01},
    "deepseek_v3": {"first_k_dense_replace": 1},
    "llama4": {"floor_scale": 4, "no_rope_layers": [1, 0, 1]},
    "gemma4": {"global_head_dim": 28},
}
# Keys of parts that one of these models does not have, or that another key of its file, which is
# heard, says again.
WINDOWS = ("max_window_layers", "sliding_window", "use_sliding_window")  # as layer_types says
QUIET: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("qwen2", "qwen3"), WINDOWS),
    **dict.fromkeys(("qwen2_moe", "qwen3_moe"), (*WINDOWS, "intermediate_size")),  # all experts
    "qwen3_next": ("intermediate_size",),
    "gemma3": ("_sliding_window_pattern",),  # as layer_types says
    "smollm3": (*WINDOWS, "no_rope_layer_interval"),  # as no_rope_layers says
    "granite_hybrid": (  # without mamba, experts and rotation
        "intermediate_size", "mamba_conv_bias", "mamba_d_conv", "mamba_d_state", "mamba_n_groups",
        "mamba_proj_bias", "num_experts_per_tok", "rope_theta", "rope_type", "rope_parameters",
        "time_step_limit",
    ),
    "modernbert": ("global_attn_every_n_layers",),  # as layer_types says
    "t5": ("feed_forward_proj",),  # as dense_act_fn says
    "marian": ("decoder_vocab_size",),  # one vocabulary for both
    "lfm2": ("block_ffn_dim_multiplier", "intermediate_size"),  # as block_ff_dim says
    "falcon_h1": ("mamba_expand", "mamba_norm_before_gate"),  # of the SSM's own width, unnormed
    "llama4": ("interleave_moe_layer_step", "no_rope_layer_interval"),  # as two lists say
    "gemma4": ("moe_intermediate_size", "num_experts", "top_k_experts", "use_double_wide_mlp"),
    "gemma4_wide": (
        "moe_intermediate_size", "num_experts", "top_k_experts", "use_double_wide_mlp",
        "vocab_size_per_layer_input",
    ),
    "deepseek_v3": ("qk_head_dim",),  # the sum of two others
    "minimax_m2": ("rotary_dim",),  # as rope_parameters says
}  # fmt: skip
# Values that mean what the one before them does: halves of an odd window, patches of a picture.
ALIKE = {("modernbert", "local_attention", 5), ("dinov2", "image_size", 13)}
LENGTHS = ("max_position_embeddings",)  # how long a text may be
N_TOKENS = 40  # longer than any window
ACTIVATIONS = ("relu", "silu", "gelu")
SCALED = [
    {"rope_type": "linear", "factor": 4.0},
    {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 8},
    {"rope_type": "llama3", "factor": 4.0, "original_max_position_embeddings": 8,
     "low_freq_factor": 1.0, "high_freq_factor": 4.0},
]  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, family: str) -> Path:
    if family in VISION:
        return pictured(tmp_path, family)
    return saved(tmp_path, family, **HEARD.get(family, {}))


@pytest.mark.nightly
@pytest.mark.parametrize("family", FAMILIES)
def test_a_key_changes_the_run_as_in_the_library_or_is_named(family: str, folder: Path) -> None:
    file, kind = folder / "config.json", getattr(hf, FAMILIES[family][1])
    said = json.loads(file.read_text())
    before = _logits(_opened(folder), family)
    silent = []
    for path, other in _changes(said):
        file.write_text(json.dumps(_with(said, path, other)))
        if (model := _opened(folder)) is None:
            continue
        try:
            after = _logits(model, family)
        except ValueError as error:  # too long a text
            assert "shorten it" in str(error)
            continue
        if before.shape == after.shape and torch.equal(before, after):
            if _passes(model, family):
                silent.append((path[-1], other))
            continue
        theirs = kind.from_pretrained(folder, attn_implementation="eager").eval()
        with torch.inference_mode():
            expected = theirs(**given(family, N_TOKENS)).logits
        assert relative_error(after.numpy(), expected.numpy()) < 1e-5, (path, other)
    quiet = (*QUIET.get(family, ()), *LENGTHS)
    loud = [x for x in silent if not (WITHOUT.fullmatch(x[0]) or x[0] in quiet)]
    assert {(family, *x) for x in loud} <= ALIKE, loud


# What stays unnamed of another family: values that a class has anyway, sizes of the pictures that
# another class of the same module takes, a gate that is closed, and what is read without being
# declared.
ANYWAY = {"scale_attn_weights", "use_qk_norm", "image_size", "patch_size", "num_channels"}
ANYWAY |= {"max_window_layers", "per_layer_config", "head_dim", "sliding_window"}


@pytest.mark.nightly
@pytest.mark.parametrize("family", FAMILIES)
def test_a_key_of_another_family_is_named(family: str) -> None:
    inner = build(family)
    own, kind = inner.config.to_dict(), type(inner.config)
    others = {
        key: value for key, value in _every().items() if key not in {*own, *kind.attribute_map}
    }
    unnamed = []
    for key, value in others.items():
        said = {**own, key: value}
        try:
            inner.config = kind.from_dict(said)
        except (ValueError, TypeError, AttributeError, StrictDataclassError):
            continue  # refused
        if not [*passed_over(said, inner)] and not WITHOUT.fullmatch(key):
            unnamed.append(key)
    loud = {*unnamed} - ANYWAY - {*LENGTHS}
    assert len(others) > 100 and not loud, loud


@cache
def _every() -> dict[str, Any]:
    """Keys of all families, each with a value that no family has."""
    every = [build(family).config.to_dict() for family in FAMILIES]
    odd = {int: 97, float: 0.77}
    found = {k: odd.get(type(x), x) for one in every for k, x in one.items() if x}
    return {k: "tanh" if "act" in k and isinstance(x, str) else x for k, x in found.items()}


def _opened(folder: Path) -> Any:  # noqa: ANN401
    """None where the folder is refused in a line, or the badge is red."""
    try:
        model: Any = open_named(str(folder), "cpu")
    except ValueError as error:
        assert "\n" not in str(error)
        return None
    return None if model.off else model


def _logits(model: Any, family: str) -> torch.Tensor:  # noqa: ANN401
    values = tuple(given(family, N_TOKENS).values())
    with torch.inference_mode():
        return model.model(values if len(values) > 1 else values[0])


def _passes(model: Any, family: str) -> bool:  # noqa: ANN401
    """Whether a run passes its checks, where it is one of a text alone."""
    inputs = given(family, N_TOKENS)
    if [*inputs] != ["input_ids"]:
        return True
    ids = inputs["input_ids"][0].tolist()
    return all(check.passed for check in model.check(model.captured((ids, tuple(map(str, ids))))))


def _changes(said: dict[str, Any]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every key of a config and of its parts, with each other value that may be legal."""
    for path, value in _paths(said):
        yield from ((path, other) for other in _others(value) if other != value)


def _paths(said: dict[str, Any]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every key of a config and of its parts, with its value."""
    for key, value in said.items():
        if isinstance(value, dict) and key not in ("id2label", "label2id"):
            yield from (((key, *path), inner) for path, inner in _paths(value))
        yield (key,), value


def _with(said: dict[str, Any], path: tuple[str, ...], value: object) -> dict[str, Any]:
    changed = deepcopy(said)
    part = changed
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = value
    return changed


def _others(value: object) -> list[Any]:
    """Other values of a key that may be legal."""
    if isinstance(value, dict):
        return SCALED if "rope_type" in value else []
    if isinstance(value, list):
        return [value[1:] + value[:1], value[::-1]]
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, float):
        return [1.5 * value + 0.25]
    if isinstance(value, int):
        return [value + 1, 2 * value, value // 2]
    if value is None:
        return [3, 0.5, True]
    return list(ACTIVATIONS) if value in ACTIVATIONS else [f"{value}x"]
