"""What files in GGUF are written of: configs with values that no class has where a file is silent.

A default would hide a key that is dropped. Where llama.cpp's converter writes no key, the value is
what llama.cpp takes then.
"""

from typing import Any

THETA = 3333.0
PLACES = {"max_position_embeddings": 48}
TURNED = {"rope_type": "default", "rope_theta": THETA}
PARTIAL = {**TURNED, "partial_rotary_factor": 0.75}
LINEAR = {"rope_type": "linear", "rope_theta": THETA, "factor": 4.0}
YARN = {  # its length lets both bounds differ from those of 32 and 1
    "rope_type": "yarn", "rope_theta": THETA, "factor": 4.0, "original_max_position_embeddings": 60,
    "beta_fast": 3.0, "beta_slow": 0.25, "attention_factor": 0.8,
}  # fmt: skip
LLAMA3 = {  # of five frequencies three are between both bounds
    "rope_type": "llama3", "rope_theta": 7.0, "factor": 4.0, "low_freq_factor": 1.0,
    "high_freq_factor": 4.0, "original_max_position_embeddings": 16,
}  # fmt: skip
LONGROPE = {
    **PARTIAL, "rope_type": "longrope", "original_max_position_embeddings": 6,
    "short_factor": [1.0, 1.3, 1.7], "long_factor": [9.0, 16.0, 25.0],
}  # fmt: skip
SLIDES = {"sliding_attention": {"rope_type": "default", "rope_theta": 777.0}}

USUAL = {**PLACES, "rms_norm_eps": 3e-4, "rope_parameters": TURNED}
LLAMA = {
    **USUAL, "num_hidden_layers": 2, "hidden_size": 32, "intermediate_size": 64, "head_dim": 16,
    "tie_word_embeddings": False,
}  # fmt: skip
# Their converters write no scale: it is the width of a head. In Gemma 3 every sixth layer sees all.
GEMMA2 = {
    **USUAL, "query_pre_attn_scalar": 10, "attn_logit_softcapping": 1.5,
    "final_logit_softcapping": 2.5, "rope_parameters": {**TURNED, "rope_theta": 10000.0},
}  # fmt: skip
GEMMA3 = {
    **USUAL, "query_pre_attn_scalar": 10, "final_logit_softcapping": 2.5, "num_hidden_layers": 7,
    "layer_types": None, "rope_parameters": {**SLIDES, "full_attention": TURNED},
}  # fmt: skip
GEMMA4 = {
    **USUAL, "final_logit_softcapping": 2.5, "rope_parameters": {**SLIDES, "full_attention": {
        "rope_type": "proportional", "rope_theta": THETA, "partial_rotary_factor": 0.5}},
}  # fmt: skip
PHI3 = {
    **USUAL, "hidden_size": 32, "sliding_window": 4, "original_max_position_embeddings": 48,
    "rope_parameters": PARTIAL,
}  # fmt: skip
STABLELM = {
    **PLACES, "hidden_size": 32, "layer_norm_eps": 3e-4,
    "rope_parameters": {**PARTIAL, "rope_theta": 10000.0},
}  # fmt: skip
T5 = {"layer_norm_epsilon": 3e-4, "relative_attention_num_buckets": 10}

# By a name: the family of `families.py`, what llama.cpp calls it, and what its config has.
GGUF_FAMILIES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "llama": ("llama", "llama", LLAMA),
    "llama linear": ("llama", "llama", {**LLAMA, "rope_parameters": LINEAR}),
    "llama yarn": ("llama", "llama", {
        **LLAMA, "max_position_embeddings": 240, "rope_parameters": YARN}),
    "llama3": ("llama", "llama", {**LLAMA, "head_dim": 10, "rope_parameters": LLAMA3}),
    "llama biased": ("llama", "llama", {**LLAMA, "attention_bias": True, "mlp_bias": True}),
    "mistral": ("mistral", "llama", {**USUAL, "sliding_window": None}),
    "qwen2": ("qwen2", "qwen2", USUAL),
    "qwen2 linear": ("qwen2", "qwen2", {**USUAL, "rope_parameters": LINEAR}),
    "qwen3": ("qwen3", "qwen3", USUAL),
    "qwen2moe": ("qwen2_moe", "qwen2moe", {**USUAL, "norm_topk_prob": False}),
    "qwen3moe": ("qwen3_moe", "qwen3moe", {**USUAL, "norm_topk_prob": True}),
    "qwen35": ("qwen3_5", "qwen35", {**USUAL, "rope_parameters": {
        **TURNED, "partial_rotary_factor": 0.6, "mrope_section": [1, 1, 1]}}),
    "gemma2": ("gemma2", "gemma2", GEMMA2),
    "gemma3": ("gemma3", "gemma3", GEMMA3),
    "gemma3 linear": ("gemma3", "gemma3", {
        **GEMMA3, "rope_parameters": {**SLIDES, "full_attention": LINEAR}}),
    "gemma4": ("gemma4", "gemma4", GEMMA4),
    "gemma4 shared": ("gemma4", "gemma4", {
        **GEMMA4, "num_hidden_layers": 4, "num_kv_shared_layers": 2, "use_double_wide_mlp": True,
        "layer_types": ["sliding_attention", "full_attention"] * 2}),
    "phi3": ("phi3", "phi3", PHI3),
    "phi3 longrope": ("phi3", "phi3", {
        **PHI3, "original_max_position_embeddings": 6, "rope_parameters": LONGROPE}),
    "stablelm": ("stablelm", "stablelm", STABLELM),
    "stablelm parallel": ("stablelm", "stablelm", {
        **STABLELM, "use_parallel_residual": True, "use_qkv_bias": True}),
    "starcoder2": ("starcoder2", "starcoder2", {
        **PLACES, "rope_parameters": TURNED, "norm_epsilon": 3e-4}),
    "nemotron": ("nemotron", "nemotron", {
        **PLACES, "hidden_size": 32, "norm_eps": 3e-4, "rope_parameters": PARTIAL}),
    "minimax-m2": ("minimax_m2", "minimax-m2", USUAL),
    # The converter says 4 widths whatever it is, and llama.cpp refuses the tensors then.
    "gpt2": ("gpt2", "gpt2", {"n_inner": 40, "layer_norm_epsilon": 3e-4}),
    "lfm2": ("lfm2", "lfm2", {
        **PLACES, "rope_parameters": TURNED, "norm_eps": 3e-4, "block_multiple_of": 8}),
    "t5": ("t5", "t5", T5),
    "t5 gated": ("t5", "t5", {
        **T5, "feed_forward_proj": "gated-gelu", "tie_word_embeddings": False}),
}  # fmt: skip
