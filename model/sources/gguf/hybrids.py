"""Families of GGUF in which attention is only in some layers: what their headers mean."""

from model.lines import quoted
from model.sources.gguf.header import Header
from model.sources.gguf.shared import (
    KEY_LENGTH,
    RMS_EPSILON,
    VALUE_LENGTH,
    Built,
    are_whole,
    head_width,
    is_biased,
    n_layers,
    n_words,
    rotation,
    without_usual_width,
)


def lfm2(header: Header) -> Built:
    """Layers whose number of heads for keys is none are convolutions."""
    kv_heads, heads = header.own("attention.head_count_kv"), header.count("attention.head_count")
    depth = n_layers(header)
    is_list = isinstance(kv_heads, list) and len(kv_heads) == depth and are_whole(kv_heads)
    if not is_list or len(set(kv_heads) - {0}) != 1:
        raise ValueError(
            f"lfm2.attention.head_count_kv must say of each of {depth} layers how many heads it "
            f"has, one number or none, and is {quoted(str(kv_heads))}"
        )
    sizes = {"hidden_size": header.count("embedding_length"), "num_attention_heads": heads}
    width = head_width(header, sizes)
    config = {
        **sizes,
        "head_dim": width,
        "vocab_size": n_words(header),
        "intermediate_size": header.count("feed_forward_length"),
        "block_auto_adjust_ff_dim": False,  # the width is the one that is built
        "num_hidden_layers": depth,
        "num_key_value_heads": max(kv_heads),
        "layer_types": ["full_attention" if n else "conv" for n in kv_heads],
        "max_position_embeddings": header.count("context_length"),
        "norm_eps": header.number(RMS_EPSILON),
        "conv_L_cache": header.count("shortconv.l_cache"),
        "conv_bias": is_biased(header, "shortconv.in_proj"),
        "rope_parameters": rotation(header, width),
        "tie_word_embeddings": not header.has("output.weight"),
    }
    return without_usual_width(config)


def qwen35(header: Header) -> Built:
    """Layers of one width each."""
    return {**_of_qwen35(header), "intermediate_size": header.count("feed_forward_length")}


def _of_qwen35(header: Header) -> Built:
    """Gated delta nets, and attention at each last layer of an interval."""
    width, values = header.count(KEY_LENGTH), header.count("ssm.time_step_rank")
    header.agree(VALUE_LENGTH, width)
    n_ahead = header.count("nextn_predict_layers") if header.own("nextn_predict_layers") else 0
    depth = n_layers(header) - n_ahead
    every = header.count("full_attention_interval", 4)
    kinds = ["linear_attention" if (n + 1) % every else "full_attention" for n in range(depth)]
    heads = header.count("attention.head_count")
    sections = header.own("rope.dimension_sections")
    if not isinstance(sections, list) or len(sections) != 4 or not are_whole(sections):
        raise ValueError(
            f"{header.architecture}.rope.dimension_sections is {quoted(str(sections))}; it must be "
            "four whole numbers"
        )
    return {
        "vocab_size": n_words(header),
        "hidden_size": header.count("embedding_length"),
        "num_hidden_layers": depth,
        "num_attention_heads": heads,
        "num_key_value_heads": header.count("attention.head_count_kv", heads),
        "head_dim": width,
        "max_position_embeddings": header.count("context_length"),
        "rms_norm_eps": header.number(RMS_EPSILON),
        "layer_types": kinds,
        "linear_conv_kernel_dim": header.count("ssm.conv_kernel"),
        "linear_key_head_dim": header.count("ssm.state_size"),
        "linear_num_key_heads": header.count("ssm.group_count"),
        "linear_num_value_heads": values,
        "linear_value_head_dim": header.count("ssm.inner_size") // values,
        "rope_parameters": {
            **rotation(header, width, is_partial=True),
            "mrope_section": [x for x in sections if x],
            "mrope_interleaved": True,
        },
        "tie_word_embeddings": not header.has("output.weight"),
    }


def qwen35moe(header: Header) -> Built:
    """The same with experts, of which one is always used."""
    header.own("feed_forward_length")  # no layer is as wide: experts have keys of their own
    return {
        **_of_qwen35(header),
        "num_experts": header.count("expert_count"),
        "num_experts_per_tok": header.count("expert_used_count"),
        "moe_intermediate_size": header.count("expert_feed_forward_length"),
        "shared_expert_intermediate_size": header.count("expert_shared_feed_forward_length"),
    }
