"""Weights of Hugging Face's GPT-2 and Llama under our names, to compare two equal models."""

from torch import Tensor

# Our names for theirs; {} is the layer.
NORM_OF_LAYER = {"gain": "weight", "offset": "bias"}
GPT2_LAYER = {
    "attn_norm": "ln_1",
    "attn.out_proj": "attn.c_proj",
    "ffn_norm": "ln_2",
    "ffn.up": "mlp.c_fc",
    "ffn.down": "mlp.c_proj",
}
LLAMA_LAYER = {
    "attn_norm": "input_layernorm",
    "attn.q_proj": "self_attn.q_proj",
    "attn.k_proj": "self_attn.k_proj",
    "attn.v_proj": "self_attn.v_proj",
    "attn.out_proj": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn.gate": "mlp.gate_proj",
    "ffn.up": "mlp.up_proj",
    "ffn.down": "mlp.down_proj",
}


def their_name(ours: str, layer_names: dict[str, str], top_names: dict[str, str]) -> str:
    """blocks.1.ffn.up.weight → layers.1.mlp.up_proj.weight, by the tables."""
    module, _, parameter = ours.rpartition(".")
    parameter = NORM_OF_LAYER.get(parameter, parameter)
    if not module.startswith("blocks."):
        return f"{top_names[module]}.{parameter}"
    _, layer, module = module.split(".", 2)
    return f"{top_names['blocks']}.{layer}.{layer_names[module]}.{parameter}"


def gpt2_weights(theirs: dict[str, Tensor], names: list[str]) -> dict[str, Tensor]:
    """GPT-2's weights under our names: its matrices are transposed, its q, k, v are one."""
    top = {
        "embed": "transformer.wte",
        "position.table": "transformer.wpe",
        "blocks": "transformer.h",
        "final_norm": "transformer.ln_f",
        "unembed": "lm_head",
    }
    parts = {f"attn.{name}_proj": "attn.c_attn" for name in "qkv"}
    weights = {}
    for name in names:
        weight = theirs[their_name(name, GPT2_LAYER | parts, top)]
        if name.startswith("blocks.") and weight.ndim == 2:
            weight = weight.T
        for third, letter in enumerate("qkv"):
            weight = weight.chunk(3)[third] if f"attn.{letter}_proj" in name else weight
        weights[name] = weight
    return weights
