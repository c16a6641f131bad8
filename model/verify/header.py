"""The header of a file in GGUF by the names that config.json has, as far as attention goes.

What each key means is told by llama.cpp's converter; nothing of transformers is asked.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

NAMES = {
    "gemma3": "gemma3_text", "gptneox": "gpt_neox", "gpt-oss": "gpt_oss", "qwen2moe": "qwen2_moe",
    "qwen3moe": "qwen3_moe",
}  # fmt: skip
# Whose scale no header says: that of the width of a head, but of these depths of embedding / heads.
BY_DEPTH = {"gemma2": 46, "gemma3": 62}
PERIODS, UNSAID = {"gemma2": 2, "gemma3": 6}, {"gemma3"}  # without a word no layer slides
SAME = {
    "head_dim": "attention.key_length",
    "max_position_embeddings": "context_length",
    "sliding_window": "attention.sliding_window",
    "attention_multiplier": "attention.scale",
    "attn_logit_softcapping": "attn_logit_softcapping",
    "final_logit_softcapping": "final_logit_softcapping",
    "is_causal": "attention.causal",
    "rope_theta": "rope.freq_base",
    "rope_local_base_freq": "rope.freq_base_swa",
    "original_max_position_embeddings": "rope.scaling.original_context_length",
}
OF_SCALING = {
    "factor": ("factor",),
    "beta_fast": ("yarn_beta_fast",),
    "beta_slow": ("yarn_beta_slow",),
    "attention_factor": ("yarn_attn_factor",),
}
FREE, LONG, SHORT = "rope_freqs.weight", "rope_factors_long.weight", "rope_factors_short.weight"


def as_config(said: Mapping[str, Any], factors: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """What a header says, and the tensors beside it that scale its rotation."""
    family = str(said.get("general.architecture"))
    own = {x.removeprefix(f"{family}."): value for x, value in said.items()}
    config: dict[str, Any] = {ours: own[name] for ours, name in SAME.items() if name in own}
    config |= {"model_type": NAMES.get(family, family), "use_sliding_window": True}
    config |= {"rope_theta": config.get("rope_theta", 10_000.0), "max_window_layers": 0}
    config.setdefault("sliding_window", None)
    for cap in ("attn_logit_softcapping", "final_logit_softcapping"):
        if cap in config:
            config[cap] = config[cap] or None
    if slides := _sliding(family, own, config["sliding_window"]):
        kinds = ("full_attention", "sliding_attention")
        config["layer_types"] = [kinds[bool(x)] for x in slides]
    width = own.get("attention.key_length")
    if own.get("block_count") == BY_DEPTH.get(family, -1):
        width = own["embedding_length"] / own["attention.head_count"]
    if width is not None:
        config["query_pre_attn_scalar"] = width
    config["rope_scaling"] = _scaling(own, config, factors)
    return config


def _sliding(family: str, own: Mapping[str, Any], window: object) -> list[bool]:
    """Which layers see a window, of families of which not all do: each but the last of a period."""
    pattern, depth = own.get("attention.sliding_window_pattern"), own.get("block_count", 0)
    if isinstance(pattern, list):
        return pattern
    if family not in PERIODS:
        return []
    period = PERIODS[family] if pattern is None else pattern
    is_windowed = bool(window) or family not in UNSAID
    return [is_windowed and (not period or n % period < period - 1) for n in range(depth)]


def _scaling(
    own: Mapping[str, Any], config: Mapping[str, Any], factors: Mapping[str, np.ndarray]
) -> dict[str, Any]:
    """How the rotation is scaled, as transformers has it in rope_scaling."""
    scaling = {
        x: own[f"rope.scaling.{name}"]
        for x, names in OF_SCALING.items()
        for name in names
        if f"rope.scaling.{name}" in own
    }
    factor = scaling.get("factor") or own.get("rope.scale_linear") or 1.0
    kind = own.get("rope.scaling.type") or "linear"
    scaling |= {"rope_type": kind, "n_turned": own.get("rope.dimension_count"), "factor": factor}
    more = own.get("rope.scaling.attn_factor")
    if kind == "yarn" and more:  # on top of what YaRN itself does
        own_factor = 0.1 * float(np.log(factor)) + 1.0 if factor > 1 else 1.0
        scaling["attention_factor"] = (scaling.get("attention_factor") or own_factor) * more
    if factors and kind != "yarn":
        whole = factor if kind == "linear" else 1.0
        short, long = (factors.get(x, factors.get(FREE)) for x in (SHORT, LONG))
        lists = {"short_factor": short, "long_factor": long}
        scaling |= {x: (by * whole).tolist() for x, by in lists.items() if by is not None}
        usual = own.get("rope.scaling.attn_factor", 1.0)
        scaling |= {"rope_type": "longrope", "attention_factor": usual}
    return scaling
