"""Weights of Hugging Face's and torch's own models under our names, to compare two equal ones."""

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


BERT_LAYER = {
    "attn.q_proj": "attention.self.query",
    "attn.k_proj": "attention.self.key",
    "attn.v_proj": "attention.self.value",
    "attn.out_proj": "attention.output.dense",
    "attn_norm": "attention.output.LayerNorm",
    "ffn.up": "intermediate.dense",
    "ffn.down": "output.dense",
    "ffn_norm": "output.LayerNorm",
}
VIT_LAYER = {
    "attn_norm": "layernorm_before",
    "attn.q_proj": "attention.q_proj",
    "attn.k_proj": "attention.k_proj",
    "attn.v_proj": "attention.v_proj",
    "attn.out_proj": "attention.o_proj",
    "ffn_norm": "layernorm_after",
    "ffn.up": "mlp.fc1",
    "ffn.down": "mlp.fc2",
}
MARIAN_LAYER = {
    **{f"attn.{name}_proj": f"self_attn.{name}_proj" for name in ("q", "k", "v", "out")},
    **{f"cross_attn.{name}_proj": f"encoder_attn.{name}_proj" for name in ("q", "k", "v", "out")},
    "attn_norm": "self_attn_layer_norm",
    "cross_norm": "encoder_attn_layer_norm",
    "ffn.up": "fc1",
    "ffn.down": "fc2",
    "ffn_norm": "final_layer_norm",
}


def bert_weights(theirs: dict[str, Tensor], names: list[str]) -> dict[str, Tensor]:
    """The blocks of a BERT under our names; its embeddings have a norm, which ours have not."""
    top = {"blocks": "encoder.layer"}
    blocks = (name for name in names if name.startswith("blocks."))
    return {name: theirs[their_name(name, BERT_LAYER, top)] for name in blocks}


def marian_weights(theirs: dict[str, Tensor], names: list[str]) -> dict[str, Tensor]:
    """A Marian under our names: one embedding, which is also the unembedding."""
    top = {"embed": "embed_tokens", "position.table": "embed_positions", "blocks": "layers"}
    weights = {"unembed.weight": theirs["lm_head.weight"]}
    for name in names:
        stack, _, rest = name.partition(".")
        if stack != "unembed":
            weights[name] = theirs[f"model.{stack}.{their_name(rest, MARIAN_LAYER, top)}"]
    return weights


def vit_weights(theirs: dict[str, Tensor], names: list[str]) -> dict[str, Tensor]:
    """A ViT under our names: its patches are embedded by a convolution."""
    top = {
        "embed.patches": "vit.embeddings.patch_embeddings.projection",
        "blocks": "vit.layers",
        "final_norm": "vit.layernorm",
        "unembed": "classifier",
    }
    weights = {
        "embed.class_token": theirs["vit.embeddings.cls_token"][0, 0],
        "position.table.weight": theirs["vit.embeddings.position_embeddings"][0],
    }
    for name in names:
        if name not in weights:
            weights[name] = theirs[their_name(name, VIT_LAYER, top)]
    name = "embed.patches.weight"
    return weights | {name: weights[name].flatten(1)}  # (D, 1, p, p) → (D, p·p)
