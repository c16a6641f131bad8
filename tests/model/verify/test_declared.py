"""Protects the check of what attention was told to do: it reads a file's words by itself."""

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
import torch
import transformers as hf
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

from model.adopted.adopt import adopt
from model.sources.adopted import Adopted
from model.sources.transformers import load
from model.trace import Trace
from model.verify.angles import KINDS, Scaling
from model.verify.declared import FAMILIES, of_config
from model.verify.header import as_config
from tests.model.adopted import families
from tests.model.adopted.families import GROUPED, WIDE, build, given
from tests.model.adopted.gguf_families import THETA
from tests.model.adopted.gguf_files import written

SCALE, CAP, MASK, TURNED, FINAL = (
    f"{name} = what config.json says"
    for name in ("scale of scores", "soft cap of scores", "mask and window", "rotation",
                 "soft cap of logits")
)  # fmt: skip
KNOWN = [
    name
    for name in (families.FAMILIES | families.HYBRIDS | families.LENGTHS | families.UNEVEN)
    if {"gemma3": "gemma3_text"}.get(name, name) in FAMILIES
]
YARN = {"rope_type": "yarn", "rope_theta": 100.0, "factor": 4.0,
        "original_max_position_embeddings": 16}  # fmt: skip
LLAMA3 = {**YARN, "rope_type": "llama3", "low_freq_factor": 0.2, "high_freq_factor": 1.0}
LONGROPE = {**YARN, "rope_type": "longrope", "long_factor": [9.0, 4.0, 2.0, 7.0, 3.0],
            "short_factor": [1.0, 2.0, 3.0, 4.0, 5.0]}  # fmt: skip
ROTATIONS = [
    {"rope_type": "linear", "factor": 4.0, "rope_theta": 1000.0},
    {"rope_type": "dynamic", "factor": 4.0, "rope_theta": 1000.0},
    YARN,
    {**YARN, "truncate": False, "beta_fast": 8.0, "beta_slow": 2.0},
    {**YARN, "mscale": 0.7, "mscale_all_dim": 0.3},
    {**YARN, "attention_factor": 1.3},
    LLAMA3,
    LONGROPE,
    {**LONGROPE, "original_max_position_embeddings": 4},
]


DEEP = {**GROUPED, "num_hidden_layers": 7, "sliding_window": 4}
WINDOWED = {**DEEP, "use_sliding_window": True, "max_window_layers": 3}
EXPERTS = {"num_experts": 3, "num_experts_per_tok": 2, "moe_intermediate_size": 12}
# Families, and ways of one, that the tests have nowhere else.
FURTHER: dict[str, dict[str, Any]] = {
    "gemma": GROUPED,
    "gemma2": DEEP,
    "gemma3_text": DEEP,
    "gpt_oss": {**DEEP, "num_local_experts": 3, "num_experts_per_tok": 2},
    "granite": {**GROUPED, "attention_multiplier": 0.7},
    "gpt2": {"n_embd": 24, "n_head": 4, "n_layer": 3, "scale_attn_by_inverse_layer_idx": True},
    "nemotron": {**GROUPED, "rope_theta": 500.0},
    "olmo2": {**WIDE, "rope_theta": 500.0},
    "qwen2": WINDOWED,
    "qwen2_moe": {**WINDOWED, **EXPERTS, "shared_expert_intermediate_size": 12},
    "qwen3": WINDOWED,
    "qwen3_moe": {**WINDOWED, **EXPERTS},
    "smollm3": WINDOWED,
    "stablelm": {**WIDE, "rope_theta": 500.0, "num_key_value_heads": 2, "hidden_size": 32},
    "starcoder2": DEEP,
}


@pytest.mark.parametrize("family", FURTHER)
def test_further_families_do_what_their_config_says(family: str) -> None:
    said = {**families.ENDS, "vocab_size": 61, "max_position_embeddings": 48, **FURTHER[family]}
    torch.manual_seed(3)
    config = hf.CONFIG_MAPPING[family].from_dict(json.loads(json.dumps(said)))
    inner = hf.AutoModelForCausalLM.from_config(config, attn_implementation="eager")
    model = Adopted(family, Path(), adopt(inner), None)
    ids = given("llama", 9)["input_ids"][0].tolist()
    trace = model.captured((ids, tuple(map(str, ids))))
    assert failed(model, trace, {**FURTHER[family], "model_type": family}) == []
    windows = {int(record.mask.sum()) for record in trace.attention}
    assert windows <= {45, 30} and (30 in windows) == ("sliding_window" in FURTHER[family])


@cache
def ran(family: str) -> tuple[Adopted, dict[str, Any], Trace]:
    """A folder that was opened, its config.json, and a run of it."""
    with TemporaryDirectory() as folder:
        build(family).save_pretrained(folder)
        model = load(Path(folder), "cpu")
        said = json.loads((Path(folder) / "config.json").read_text())
    ids = given(family, 9)["input_ids"][0].tolist()
    return model, said, model.captured((ids, tuple(map(str, ids))))


def failed(model: Adopted, trace: Trace, said: Mapping[str, Any]) -> list[str]:
    """The checks that fail where a config says something under an open model."""
    declared = of_config(said)
    assert declared is not None
    checks = replace(model, declared=declared).check(trace)
    return [check.name for check in checks if not check.passed]


@pytest.mark.parametrize("family", KNOWN)
def test_what_ran_is_what_the_file_says(family: str) -> None:
    model, said, trace = ran(family)
    assert failed(model, trace, said) == []
    named = families.FAMILIES | families.HYBRIDS | families.LENGTHS
    few = {"max_position_embeddings": said.get("max_position_embeddings"), **named[family][2]}
    few["model_type"] = said["model_type"]
    assert failed(model, trace, few) == []  # what is left out means what the class has by default


@pytest.mark.parametrize("rotation", ROTATIONS)
def test_each_kind_of_rotation_is_worked_out(rotation: dict[str, Any]) -> None:
    said = {"max_position_embeddings": 24, "rope_parameters": dict(rotation)}
    with TemporaryDirectory() as folder:
        build("llama", **said).save_pretrained(folder)
        model = load(Path(folder), "cpu")
    ids = given("llama", 9)["input_ids"][0].tolist()
    trace = model.captured((ids, tuple(map(str, ids))))
    raw = {**GROUPED, "model_type": "llama", "max_position_embeddings": 24}
    assert failed(model, trace, {**raw, "rope_scaling": rotation}) == []
    other = {**rotation, "rope_theta": rotation["rope_theta"] * 1.01}
    assert failed(model, trace, {**raw, "rope_scaling": other}) == [f"{TURNED}, first in {FIRST}"]


def test_a_base_grows_with_a_text_beyond_the_context() -> None:
    rotation = {"rope_type": "dynamic", "factor": 3.0, "rope_theta": 100.0}
    config = build("llama", max_position_embeddings=12, rope_parameters=dict(rotation)).config
    expected, _ = ROPE_INIT_FUNCTIONS["dynamic"](config, seq_len=40)
    found, _ = KINDS["dynamic"](Scaling(rotation, 100.0, 10, 10, 40, 12, 12))
    np.testing.assert_allclose(found, expected, rtol=1e-6)


FIRST = "decoder.blocks.0.attn"
# What config.json says instead under an open model, and what is red of it, where it begins.
FAULTS: dict[str, tuple[str, dict[str, Any], str]] = {
    "base": ("llama", {"rope_parameters": {"rope_theta": 10_010.0}}, f"{TURNED}, first in {FIRST}"),
    "stretched": (
        "qwen2",
        {"rope_scaling": {"type": "linear", "factor": 1.01}},
        f"{TURNED}, first in {FIRST}",
    ),
    "share": (
        "phi",
        {"rope_parameters": {"partial_rotary_factor": 1}},
        f"{TURNED}, first in {FIRST}",
    ),
    "local base": (
        "gemma3",
        {"rope_parameters": {"full_attention": {"rope_theta": 9e5}}},
        f"{TURNED}, first in decoder.blocks.1.attn",
    ),
    "turns": ("gpt2", {"model_type": "llama"}, f"{TURNED}, first in {FIRST}"),
    "window": ("mistral", {"sliding_window": 5}, f"{MASK}, first in {FIRST}"),
    "no window": ("mistral", {"sliding_window": None}, f"{MASK}, first in {FIRST}"),
    "which layers": (
        "gemma2",
        {"layer_types": ["sliding_attention", *["full_attention"] * 2]},
        f"{MASK}, first in decoder.blocks.2.attn",
    ),
    "how many layers": (
        "lfm2",
        {"layer_types": ["conv", *["full_attention"] * 2]},
        "layers that attend = what config.json says",
    ),
    "looks ahead": ("bert", {"is_decoder": True}, f"{MASK}, first in encoder.blocks.0.attn"),
    "both sides": (
        "gemma2",
        {"use_bidirectional_attention": True},
        f"{MASK}, first in {FIRST}",
    ),
    "scale": ("gemma2", {"query_pre_attn_scalar": 8}, f"{SCALE}, first in {FIRST}"),
    "of layers": (
        "gpt2",
        {"scale_attn_by_inverse_layer_idx": True},
        f"{SCALE}, first in decoder.blocks.1.attn",
    ),
    "cap": ("gemma2", {"attn_logit_softcapping": 49.0}, f"{CAP}, first in {FIRST}"),
    "no cap": ("gemma2", {"attn_logit_softcapping": None}, f"{CAP}, first in {FIRST}"),
    "last cap": ("gemma2", {"final_logit_softcapping": 31.0}, FINAL),
    "no number": ("llama", {"sliding_window": "x"}, f"{MASK}, first in {FIRST}"),
    "nothing to work out": ("gemma3", {"rope_scaling": {"rope_type": "llama3"}},
                            f"{TURNED}, first in decoder.blocks.1.attn"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_what_config_says_otherwise_is_red_alone(name: str) -> None:
    family, said, expected = FAULTS[name]
    model, raw, trace = ran(family)
    assert failed(model, trace, {**raw, **said}) == [expected]


def test_a_mask_that_was_chosen_is_not_the_files() -> None:
    model, said, trace = ran("mistral")
    mask = np.tril(np.ones((9, 9), bool))
    chosen = model.captured((trace.ids.tolist(), trace.tokens), mask=mask)
    assert all(check.passed for check in model.check(chosen, mask))
    assert not any(check.name.startswith(MASK) for check in model.check(chosen, mask))
    assert failed(model, chosen, said) != []


def test_of_a_family_that_is_not_known_a_line_says_so() -> None:
    model, _, trace = ran("opt")
    assert model.declared is None and model.off == ()
    assert any("attention in 'opt' is not known here" in one.text for one in model.report)
    assert not any("config.json" in check.name for check in model.check(trace))


# Keys of a header, numbers of a tensor beside it, and what is red of them under an open Llama.
LAST = np.array([1.0] * 7 + [4.0], np.float32)
SHORT = "rope_factors_short.weight"
HEADERS: list[tuple[dict[str, Any], dict[str, np.ndarray], str]] = [
    ({"rope.scaling.type": "linear", "rope.scaling.factor": 2.0}, {}, TURNED),
    ({"rope.scaling.factor": 2.0}, {}, TURNED),
    ({"rope.scaling.type": "yarn", "rope.scaling.factor": 2.0}, {}, TURNED),
    ({"rope.scaling.type": "yarn", "rope.scaling.yarn_attn_factor": 1.1}, {}, TURNED),
    ({"rope.dimension_count": 8}, {}, TURNED),
    ({"rope.freq_base": 10_100.0}, {}, TURNED),
    ({}, {"rope_freqs.weight": LAST}, TURNED),
    ({}, {SHORT: LAST}, TURNED),
    ({"attention.sliding_window": 2}, {}, MASK),
    ({"attention.causal": False}, {}, MASK),
    ({"attention.scale": 0.5}, {}, SCALE),
    ({"attn_logit_softcapping": 50.0}, {}, CAP),
    ({"final_logit_softcapping": 50.0}, {}, FINAL),
    ({"rope.scaling.type": "none", "rope.scaling.factor": 2.0}, {}, ""),
    ({"rope.scaling.type": "linear", "rope.scaling.factor": 1.0}, {}, ""),
    ({}, {"rope_freqs.weight": np.ones(8, np.float32)}, ""),
    ({"rope.scaling.type": "linear"}, {"rope_freqs.weight": np.ones(8, np.float32)}, ""),
    ({"attn_logit_softcapping": 0.0, "final_logit_softcapping": 0.0}, {}, ""),
    ({"rope.scale_linear": 2.0}, {}, TURNED),
]


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"attn_factor": 1.25}, 1.25 * 1.1386294361),  # 1 + 0.1 ln 4
        ({"yarn_attn_factor": 0.8}, 0.8),
        ({"attn_factor": 1.25, "yarn_attn_factor": 0.8}, 1.0),
        ({"attn_factor": 1.25, "factor": 0.5}, 1.25),
        ({}, 1.1386294361),
    ],
)
def test_what_a_header_says_of_yarn_comes_on_top_of_its_own(
    more: dict[str, float], expected: float
) -> None:
    said: dict[str, Any] = {"general.architecture": "llama", "llama.context_length": 48}
    own = {"type": "yarn", "factor": 4.0, "original_context_length": 16, **more}
    said |= {f"llama.rope.scaling.{name}": value for name, value in own.items()}
    declared = of_config(as_config(said, {}))
    assert declared is not None
    assert declared.turned(0, 16, 9)[1] == pytest.approx(expected, rel=1e-9)


def test_a_header_is_read_by_itself(tmp_path: Path) -> None:
    written(tmp_path / "little.gguf", "llama")
    model = load(tmp_path / "little.gguf", "cpu")
    trace = model.trace("the red ball").trace
    names = {check.name for check in model.check(trace) if check.passed}
    assert {x.replace("config.json", "its header") for x in (SCALE, CAP, MASK, TURNED)} <= names
    for more, factors, expected in HEADERS:
        said = {"general.architecture": "llama", "llama.context_length": 48}
        said["llama.rope.freq_base"] = THETA
        said |= {f"llama.{name}": value for name, value in more.items()}
        declared = of_config(as_config(said, factors))
        off = [x.name for x in replace(model, declared=declared).check(trace) if not x.passed]
        wanted = [expected if expected in ("", FINAL) else f"{expected}, first in {FIRST}"]
        assert off == [x for x in wanted if x], (more, off)
