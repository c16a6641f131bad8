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
    "attention_factor": ("attn_factor", "yarn_attn_factor"),
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
    pattern = own.get("attention.sliding_window_pattern")
    if isinstance(pattern, list):
        kinds = ("full_attention", "sliding_attention")
        config["layer_types"] = [kinds[bool(slides)] for slides in pattern]
    elif pattern:
        config["sliding_window_pattern"] = pattern
    width = own.get("attention.key_length")
    if own.get("block_count") == BY_DEPTH.get(family, -1):
        width = own["embedding_length"] / own["attention.head_count"]
    if width is not None:
        config["query_pre_attn_scalar"] = width
    config["rope_scaling"] = _scaling(own, config, factors)
    return config


def _scaling(
    own: Mapping[str, Any], config: Mapping[str, Any], factors: Mapping[str, np.ndarray]
) -> dict[str, Any]:
    """How the rotation is scaled, as transformers has it in rope_scaling."""
    given = {
        x: own.get(f"rope.scaling.{name}") for x, names in OF_SCALING.items() for name in names
    }
    scaling = {name: value for name, value in given.items() if value is not None}
    factor = scaling.get("factor") or own.get("rope.scale_linear")
    kind = own.get("rope.scaling.type") or ("linear" if factor else "default")
    scaling |= {"rope_type": kind, "n_turned": own.get("rope.dimension_count")}
    if FREE in factors:
        by = (factors[FREE] * (factor if kind == "linear" else 1)).tolist()
        scaling |= {"rope_type": "longrope", "short_factor": by, "long_factor": by}
        scaling["attention_factor"] = 1.0
    elif SHORT in factors:
        long = factors.get(LONG, factors[SHORT]).tolist()
        scaling |= {"rope_type": "longrope", "short_factor": factors[SHORT].tolist()}
        scaling["long_factor"] = long
    return scaling
