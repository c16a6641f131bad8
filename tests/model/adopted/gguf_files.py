"""Small files in GGUF with random weights of many families, as llama.cpp's converter writes them.

What a key or tensor means there is read of the converter (`conversion/*.py`) and of llama.cpp
itself, not of what transformers makes of it.
"""

import json
import math
from collections.abc import Callable, Collection, Iterator, Mapping
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import torch
from gguf import GGMLQuantizationType as Kind
from gguf import GGUFValueType as Value
from gguf import LlamaFileType
from torch import Tensor
from transformers import PreTrainedModel

from tests.model.adopted.families import build, tokens
from tests.model.adopted.gguf_families import GGUF_FAMILIES

# Keys, and the fields of a config that they are of; written where the config has one.
FIELDS = {
    "context_length": ("max_position_embeddings", "n_positions"),
    "embedding_length": ("hidden_size", "n_embd", "d_model"),
    "block_count": ("num_hidden_layers", "n_layer", "num_layers"),
    "decoder_block_count": ("num_decoder_layers",),
    "feed_forward_length": ("intermediate_size", "n_inner", "d_ff"),
    "attention.head_count": ("num_attention_heads", "n_head", "num_heads"),
    "attention.head_count_kv": ("num_key_value_heads",),
    "attention.key_length": ("head_dim", "d_kv"),
    "attention.value_length": ("head_dim", "d_kv"),
    "attention.layer_norm_rms_epsilon": ("rms_norm_eps", "norm_eps"),
    "attention.layer_norm_epsilon": ("layer_norm_eps", "layer_norm_epsilon", "norm_epsilon"),
    "attention.relative_buckets_count": ("relative_attention_num_buckets",),
    "attention.shared_kv_layers": ("num_kv_shared_layers",),
    "attn_logit_softcapping": ("attn_logit_softcapping",),
    "final_logit_softcapping": ("final_logit_softcapping",),
    "embedding_length_per_layer_input": ("hidden_size_per_layer_input",),
    "use_parallel_residual": ("use_parallel_residual",),
    "shortconv.l_cache": ("conv_L_cache",),
    "ssm.conv_kernel": ("linear_conv_kernel_dim",),
    "ssm.state_size": ("linear_key_head_dim",),
    "ssm.group_count": ("linear_num_key_heads",),
    "ssm.time_step_rank": ("linear_num_value_heads",),
    "expert_count": ("num_local_experts", "num_experts"),
    "expert_used_count": ("num_experts_per_tok",),
    "expert_feed_forward_length": ("moe_intermediate_size",),
    "expert_shared_feed_forward_length": ("shared_expert_intermediate_size",),
}
YARN = {
    "original_context_length": "original_max_position_embeddings",
    "yarn_attn_factor": "attention_factor",
    "yarn_beta_fast": "beta_fast",
    "yarn_beta_slow": "beta_slow",
}


def _rope(config: Any) -> dict[str, Any]:  # noqa: ANN401
    """How layers turn that see all tokens; those that slide may turn otherwise."""
    every = getattr(config, "rope_parameters", None) or {}
    return every.get("full_attention", every)


def _rotation(config: Any) -> dict[str, Any]:  # noqa: ANN401
    """The keys of the rotation that are the same in every family."""
    rope = _rope(config)
    said = {"rope.freq_base": rope.get("rope_theta")}
    if rope.get("rope_type") in ("linear", "yarn"):
        said |= {"rope.scaling.type": rope["rope_type"], "rope.scaling.factor": rope["factor"]}
    if rope.get("rope_type") == "yarn":
        said |= {f"rope.scaling.{key}": rope.get(field) for key, field in YARN.items()}
    if rope and rope is not config.rope_parameters:
        said["rope.freq_base_swa"] = config.rope_parameters["sliding_attention"]["rope_theta"]
    return said


def _turned(config: Any) -> int:  # noqa: ANN401
    """How many values of a head are turned."""
    head = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    return int(head * _rope(config).get("partial_rotary_factor", 1.0))


def _gemma4(config: Any) -> dict[str, Any]:  # noqa: ANN401
    slides = [kind == "sliding_attention" for kind in config.layer_types]
    near, far = (config.per_layer_config[slides.index(of)].head_dim for of in (True, False))
    n_shared, width = config.num_kv_shared_layers, config.intermediate_size
    widths = [width] * (len(slides) - n_shared) + [2 * width] * n_shared
    return {
        "attention.sliding_window": config.sliding_window,
        "attention.sliding_window_pattern": slides,
        "attention.key_length": far, "attention.value_length": far,
        "attention.key_length_swa": near, "attention.value_length_swa": near,
        "rope.dimension_count": far, "rope.dimension_count_swa": near,
        "feed_forward_length": widths if config.use_double_wide_mlp else width,
    }  # fmt: skip


def _phi3(config: Any) -> dict[str, Any]:  # noqa: ANN401
    original, rope = config.original_max_position_embeddings, _rope(config)
    grown = math.sqrt(1 + math.log(config.max_position_embeddings / original) / math.log(original))
    return {
        "rope.scaling.original_context_length": original,
        "rope.scaling.attn_factor": grown if rope["rope_type"] == "longrope" else None,
        "rope.dimension_count": _turned(config),
        "attention.sliding_window": config.sliding_window or 0,
    }


def _lfm2(config: Any) -> dict[str, Any]:  # noqa: ANN401
    multiple, n_kv = config.block_multiple_of, config.num_key_value_heads
    n_multiples = math.ceil(2 * config.intermediate_size // 3 / multiple)
    return {
        "vocab_size": config.vocab_size,
        "attention.head_count_kv": [n_kv * (kind != "conv") for kind in config.layer_types],
        "feed_forward_length": n_multiples * multiple,
    }


# What is said of one family besides, or otherwise; None: not at all.
OWN: dict[str, Callable[[Any], dict[str, Any]]] = {
    "llama": lambda c: {"vocab_size": c.vocab_size, "rope.dimension_count": _turned(c)},
    "gemma2": lambda c: {"rope.freq_base": None, "attention.sliding_window": c.sliding_window},
    "gemma3": lambda c: {"attention.sliding_window": c.sliding_window},
    "gemma4": _gemma4,
    "phi3": _phi3,
    "lfm2": _lfm2,
    "stablelm": lambda c: {"rope.freq_base": None, "rope.dimension_count": _turned(c)},
    "nemotron": lambda c: {
        "vocab_size": c.vocab_size, "attention.layer_norm_epsilon": c.norm_eps,
        "rope.dimension_count": _turned(c), "rope.scaling.type": "none"},
    "minimax-m2": lambda c: {
        "expert_feed_forward_length": c.intermediate_size, "expert_gating_func": 2,
        "rope.dimension_count": _turned(c)},
    "qwen35": lambda c: {
        "ssm.inner_size": c.linear_value_head_dim * c.linear_num_value_heads,
        "full_attention_interval": c.layer_types.index("full_attention") + 1,
        "rope.dimension_count": _turned(c),
        "rope.dimension_sections": [*_rope(c)["mrope_section"], 0]},
    "t5": lambda c: {
        "context_length": 512, "decoder_start_token_id": c.pad_token_id,
        "attention.layer_norm_rms_epsilon": c.layer_norm_epsilon},
}  # fmt: skip


def _header(architecture: str, config: Any, kind: str) -> dict[str, Any]:  # noqa: ANN401
    """What the converter says of a config, and of our byte-level tokenizer."""
    own = config.to_dict()
    said = {
        key: next((own[name] for name in names if own.get(name) is not None), None)
        for key, names in FIELDS.items()
    }
    said |= {**_rotation(config), **OWN.get(architecture, lambda c: {})(config)}
    model = json.loads(tokens().backend_tokenizer.to_str())["model"]
    return {
        "general.architecture": architecture, "general.type": "model", "general.name": "Little",
        "general.file_type": int(LlamaFileType[f"{'ALL' if kind == 'F32' else 'MOSTLY'}_{kind}"]),
        "general.quantization_version": 2,
        **{f"{architecture}.{key}": value for key, value in said.items() if value is not None},
        "tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "gpt-2",
        "tokenizer.ggml.tokens": list(model["vocab"]),
        "tokenizer.ggml.token_type": [3 if name == "</s>" else 1 for name in model["vocab"]],
        "tokenizer.ggml.merges": [" ".join(pair) for pair in model["merges"]],
        "tokenizer.ggml.eos_token_id": model["vocab"]["</s>"],
    }  # fmt: skip


def _pairs(config: Any, x: Tensor, heads: str) -> Tensor:  # noqa: ANN401
    """Rows of a head that turn together follow one another."""
    return x.unflatten(0, (getattr(config, heads), 2, -1)).transpose(1, 2).flatten(0, 2)


def _tiled(config: Any, x: Tensor, width: int = 1) -> Tensor:  # noqa: ANN401
    """Heads of values take turns: the first of each head of keys, then the second of each."""
    apart = x.unflatten(0, (config.linear_num_key_heads, -1, width))
    return apart.transpose(0, 1).flatten(0, 2)


def _tiled_wide(config: Any, x: Tensor) -> Tensor:  # noqa: ANN401
    return _tiled(config, x, config.linear_value_head_dim)


def _tiled_last(config: Any, x: Tensor) -> Tensor:  # noqa: ANN401
    """The same of the values that stand below queries and keys."""
    n = 2 * config.linear_num_key_heads * config.linear_key_head_dim
    return torch.cat([x[:n], _tiled_wide(config, x[n:])])


# How the numbers of a weight are moved, by the end of its name.
MOVED: dict[str, dict[str, Callable[[Any, Tensor], Tensor]]] = {
    "llama": {
        f"{name}_proj.{part}": partial(_pairs, heads=heads)
        for name, heads in (("q", "num_attention_heads"), ("k", "num_key_value_heads"))
        for part in ("weight", "bias")},
    "gpt2": dict.fromkeys(("c_attn.weight", "c_proj.weight", "c_fc.weight"), lambda c, x: x.T),
    "lfm2": {"conv.conv.weight": lambda c, x: x.squeeze(1)},
    "qwen35": {
        "A_log": _tiled, "dt_bias": _tiled, "in_proj_a.weight": _tiled, "in_proj_b.weight": _tiled,
        "in_proj_z.weight": _tiled_wide, "out_proj.weight": lambda c, x: _tiled_wide(c, x.T).T,
        "in_proj_qkv.weight": _tiled_last,
        "conv1d.weight": lambda c, x: _tiled_last(c, x.squeeze(1))},
}  # fmt: skip
# Ends of names that the package's table has otherwise.
SPELLED = {
    "experts.gate_up_proj": "experts.gate_up_proj.weight",
    "experts.down_proj": "experts.down_proj.weight",
    "mlp.e_score_correction_bias": "block_sparse_moe.e_score_correction.bias",
    "layer_scalar": "layer_scalar.weight",
    "dt_bias": "dt_proj.bias",
}
FROM_ONE = ("gemma2", "gemma3", "nemotron", "qwen35")  # their norms multiply with 1 + weight
WHOLE = (  # always float32
    "_norm.weight", "ffn_gate_inp.weight", "ffn_gate_inp_shexp.weight", "position_embd.weight",
    "ssm_conv1d.weight", "shortconv.conv.weight",
)  # fmt: skip


def _laid(architecture: str, name: str, x: Tensor, config: Any) -> dict[str, Tensor]:  # noqa: ANN401
    """The tensors that become of a weight, by the names that the package's table has."""
    for end, moved in MOVED.get(architecture, {}).items():
        if name.endswith(end):
            x = moved(config, x)
    for end, spelled in SPELLED.items():
        if name.endswith(end):
            name = name.removesuffix(end) + spelled
    if "experts.gate_up_proj" not in name:
        return {name: x}
    gate, up = x.chunk(2, 1)
    return {name.replace("gate_up", "gate"): gate, name.replace("gate_up", "up"): up}


def _valued(architecture: str, name: str, x: Tensor) -> Tensor:
    """The numbers that are written of a weight, where they are not its own."""
    if name.endswith("A_log"):
        return -x.exp()
    return x + 1 if _is_shifted(architecture, name) else x


def _is_shifted(architecture: str, name: str) -> bool:
    is_norm = name.endswith("norm.weight") and not name.endswith("linear_attn.norm.weight")
    return is_norm and architecture in FROM_ONE


def _weights(model: PreTrainedModel) -> Iterator[tuple[str, Tensor]]:
    """Each weight once, by its first name."""
    seen = set()
    for name, weight in model.state_dict().items():
        if weight.data_ptr() not in seen:
            seen.add(weight.data_ptr())
            yield name, weight


def _factors(config: Any) -> dict[str, Tensor]:  # noqa: ANN401
    """The tensors that say what each frequency is divided by."""
    rope = _rope(config)
    if rope.get("rope_type") == "longrope":
        return {
            f"rope_factors_{name}.weight": torch.tensor(rope[f"{name}_factor"])
            for name in ("long", "short")
        }
    if rope.get("rope_type") == "proportional":  # what is not turned is turned far too slowly
        half = _gemma4(config)["attention.key_length"] // 2
        is_turned = torch.arange(half) < int(half * rope["partial_rotary_factor"])
        return {"rope_freqs.weight": torch.where(is_turned, 1.0, 1e30)}
    if rope.get("rope_type") != "llama3":
        return {}
    places = torch.arange(0, config.head_dim, 2) / config.head_dim
    waves = 2 * math.pi * rope["rope_theta"] ** places
    low, high = rope["low_freq_factor"], rope["high_freq_factor"]
    share = (rope["original_max_position_embeddings"] / waves - low) / (high - low)
    share = share.clip(0, 1)  # of the own frequency: none of the slow ones, all of the fast ones
    return {"rope_freqs.weight": 1 / ((1 - share) / rope["factor"] + share)}


def _packed(name: str, numbers: np.ndarray, kind: str) -> tuple[np.ndarray, Kind]:
    """A tensor as it is kept: of F16 where a row has too few numbers for a kind.

    What was quantised has gone through llama.cpp's own tool, which writes a single row as a list.
    """
    if numbers.ndim == 1 or name.endswith(WHOLE) or not name.endswith(".weight"):
        is_single = kind != "F32" and numbers.ndim > 1 and len(numbers) == 1
        return numbers[0] if is_single else numbers, Kind.F32
    try:
        return gguf.quantize(numbers, Kind[kind]), Kind[kind]
    except gguf.QuantError:
        return gguf.quantize(numbers, Kind.F16), Kind.F16


def _write(file: Path, said: dict[str, Any], tensors: dict[str, tuple[np.ndarray, Kind]]) -> None:
    kinds = {bool: Value.BOOL, int: Value.UINT32, float: Value.FLOAT32, str: Value.STRING}
    writer = gguf.GGUFWriter(file, said.pop("general.architecture"))
    for key, value in said.items():
        writer.add_key_value(key, value, kinds.get(type(value), Value.ARRAY))
    for name, (numbers, kind) in tensors.items():
        writer.add_tensor(name, numbers, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _built(family: str, changes: dict[str, object]) -> tuple[str, PreTrainedModel]:
    base, architecture, own = GGUF_FAMILIES[family]
    n = len(tokens())
    more = {"vocab_size_per_layer_input": n} if base == "gemma4" else {}
    given: dict[str, Any] = {"vocab_size": n, **more, **own, **changes}
    model = build(base, **deepcopy(given))  # the library writes into what it is given
    for name, buffer in model.named_buffers():
        if name in model.state_dict():
            torch.nn.init.normal_(buffer, 0.5, 0.3)
    if base == "t5" and given.get("tie_word_embeddings") is False:  # the class ties it anyway
        model.lm_head.weight = torch.nn.Parameter(torch.randn_like(model.lm_head.weight) / 3)
    return architecture, model


def written(
    file: Path,
    family: str,
    *,
    header: dict[str, object] | None = None,
    without: Collection[str] = (),
    beside: Mapping[str, np.ndarray] | None = None,
    kind: str = "F32",
    **changes: object,
) -> PreTrainedModel:
    """Write a model of random weights, and give it: its logits are those of the file.

    header: further keys, or others; an int is written of 32 bits, a float too, a list as it is.
    without: keys and tensors that are left out. beside: further tensors.
    kind: of matrices; the model has what was kept.
    """
    architecture, model = _built(family, changes)
    config, stored = model.config, dict[str, tuple[np.ndarray, Kind]]()
    names = gguf.get_tensor_name_map(
        next(arch for arch, name in gguf.MODEL_ARCH_NAMES.items() if name == architecture),
        max(config.num_hidden_layers, getattr(config, "num_decoder_layers", 0)),
    )
    for name, weight in _weights(model):
        flat, places = weight.view(-1), torch.arange(weight.numel()).view(weight.shape)
        if _is_shifted(architecture, name):  # what of it a file keeps
            flat.add_(1).sub_(1)
        for spelled, where in _laid(architecture, name, places, config).items():
            key = names.get_name(spelled, try_suffixes=(".weight", ".bias"))
            assert key, f"{architecture} has no tensor for {spelled}"
            numbers = _valued(architecture, name, flat)[where].numpy()
            stored[key] = _packed(key, numbers, kind)
            if stored[key][1] != Kind.F32:
                flat[where] = torch.from_numpy(gguf.dequantize(*stored[key]))
    more = {key: x.numpy() for key, x in _factors(config).items()} | dict(beside or {})
    stored |= {key: (numbers, Kind.F32) for key, numbers in more.items()}
    said = {**_header(architecture, config, kind), **(header or {})}
    _write(
        file,
        {key: value for key, value in said.items() if key not in without},
        {key: tensor for key, tensor in stored.items() if key not in without},
    )
    return model
