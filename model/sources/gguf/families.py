"""From the header of a file in GGUF to a config of transformers, each key in its writer's sense.

Keys are those of llama.cpp (gguf-py/gguf/constants.py, src/llama-model.cpp), and so is what holds
where a key is missing. Each key of a header is read here, is known to change nothing, or is named
by `Header.unread`: nothing is passed over in silence.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from model.lines import quoted
from model.sources.gguf import hybrids, tokenizer
from model.sources.gguf.header import Header
from model.sources.gguf.shared import (
    EPSILON,
    KEY_LENGTH,
    RMS_EPSILON,
    ROTATED,
    SWA_BASE,
    USUAL_BASE,
    VALUE_LENGTH,
    WINDOW,
    Built,
    cap_of,
    head_width,
    is_biased,
    kinds_of_layers,
    n_layers,
    n_words,
    of_layers,
    proportional,
    refuse_groups,
    rotation,
    sizes_of,
    sliding,
    window_of,
    without_usual_width,
)


@dataclass(frozen=True)
class Family:
    """How files of a family are meant: the class they become, and its config of a header."""

    model_type: str
    class_name: str
    build: Callable[[Header], Built]


def config_of(header: Header, ends: Mapping[str, int]) -> Built:
    """The config of a header, as transformers takes it; ValueError where there is none.

    ends: ids of the tokens in the vocabulary that end a text, by `tokenizer.ENDS`.
    """
    family = FAMILIES.get(header.architecture)
    if family is None:
        raise ValueError(
            f"{quoted(header.architecture)} is no architecture that is opened from GGUF; these "
            f"are: {', '.join(sorted(FAMILIES))}"
        )
    for name in tokenizer.READ:
        header.get(name)
    tokenizer.refuse_odd(header.said)
    ids = tokenizer.end_ids(header.said, ends)
    start, padding = (tokenizer.special_id(header.said, x) for x in ("bos", "padding"))
    config = family.build(header)
    for name, token_id in {**ends, **tokenizer.special_ids(header.said)}.items():
        if token_id >= config["vocab_size"]:
            raise ValueError(
                f"{name} is token {token_id:,}, and the model has rows for {config['vocab_size']:,}"
            )
    return {
        "model_type": family.model_type,
        "architectures": [family.class_name],
        "bos_token_id": start,
        "eos_token_id": ids[0] if len(ids) == 1 else ids or None,
        "pad_token_id": padding,
        **config,
    }


def _dense(header: Header, *, is_partial: bool = False, epsilon: str = "rms_norm_eps") -> Built:
    """A decoder with RoPE and RMSNorm, as most are."""
    sizes = sizes_of(header)
    width = head_width(header, sizes)
    key, other = RMS_EPSILON, EPSILON
    if epsilon != "rms_norm_eps":
        key, other = other, key
    header.agree(other, header.number(key))
    return {
        **sizes,
        "head_dim": width,
        epsilon: header.number(key),
        "rope_parameters": rotation(header, width, is_partial=is_partial),
    }


def _llama(header: Header) -> Built:
    """Of older files the width of a head is that of its rotation."""
    if header.said.get("llama.expert_count"):
        raise ValueError("a llama with experts (Mixtral) is not opened from GGUF")
    sizes = sizes_of(header)
    usual = header.said.get(
        f"llama.{ROTATED}", sizes["hidden_size"] // sizes["num_attention_heads"]
    )
    width = header.count(KEY_LENGTH, usual)
    header.agree(VALUE_LENGTH, width)
    config = {
        **sizes,
        "head_dim": width,
        "rms_norm_eps": header.number(RMS_EPSILON),
        "rope_parameters": rotation(header, width),
        "attention_bias": is_biased(header, "attn_q", "attn_k", "attn_v", "attn_output"),
        "mlp_bias": is_biased(header, "ffn_gate", "ffn_up", "ffn_down"),
    }
    if window := window_of(header):  # Mistral's, which has no class of its own in llama.cpp
        del config["attention_bias"], config["mlp_bias"]
        named = {"model_type": "mistral", "architectures": ["MistralForCausalLM"]}
        return {**config, **named, "sliding_window": window}
    return config


def _qwen2(header: Header) -> Built:
    return without_usual_width(_dense(header))


def _experts(header: Header) -> Built:
    header.agree("expert_gating_func", 1, 0)
    used = header.count("expert_used_count")
    usual = header.count("feed_forward_length") // used
    return {
        "num_experts": header.count("expert_count"),
        "num_experts_per_tok": used,
        "moe_intermediate_size": header.count("expert_feed_forward_length", usual),
    }


def _qwen2moe(header: Header) -> Built:
    config = {**_qwen2(header), **_experts(header)}
    header.agree("expert_weights_norm", False)
    shared = header.count("expert_shared_feed_forward_length", config["intermediate_size"])
    return {**config, "shared_expert_intermediate_size": shared, "norm_topk_prob": False}


def _qwen3moe(header: Header) -> Built:
    header.agree("expert_weights_norm", True)
    return {**_dense(header), **_experts(header), "norm_topk_prob": True}


def _of_gemma(header: Header, largest: int) -> Built:
    """What both have. largest: how many layers the model has whose scale is by d_model / heads."""
    config = _dense(header)
    is_largest = config["num_hidden_layers"] == largest
    wide = config["hidden_size"] // config["num_attention_heads"]
    header.agree("attention.scale", 0)
    return {**config, "query_pre_attn_scalar": wide if is_largest else config["head_dim"]}


def _gemma2(header: Header) -> Built:
    config = _of_gemma(header, 46)
    header.agree(SWA_BASE, config["rope_parameters"]["rope_theta"])
    return {
        **config,
        "sliding_window": header.count(WINDOW, 4096),
        "layer_types": kinds_of_layers(sliding(header, 2)),
        "attn_logit_softcapping": cap_of(header, "attn_logit_softcapping", 50.0),
        "final_logit_softcapping": cap_of(header, "final_logit_softcapping", 30.0),
    }


def _gemma3(header: Header) -> Built:
    """Scaling is of the layers that see everything; the others turn by a base of their own."""
    config, window = _of_gemma(header, 62), window_of(header)
    slides = sliding(header, 6)
    local = {"rope_type": "default", "rope_theta": header.number(SWA_BASE, USUAL_BASE)}
    return {
        **config,
        "sliding_window": window or config["max_position_embeddings"],
        "layer_types": kinds_of_layers(slides if window else [False] * len(slides)),
        "rope_parameters": {
            "full_attention": config["rope_parameters"],
            "sliding_attention": local,
        },
        "attn_logit_softcapping": None,
        "final_logit_softcapping": header.given("final_logit_softcapping"),
    }


def _gemma4(header: Header) -> Built:
    """Layers that slide and those that see all differ in heads, widths and rotation."""
    if header.said.get("gemma4.expert_count"):
        raise ValueError("a gemma4 with experts is not opened from GGUF")
    depth, slides = n_layers(header), sliding(header, 6)
    n_shared = header.count("attention.shared_kv_layers", 0, least=0)
    is_shared = [layer >= depth - n_shared for layer in range(depth)]
    ff, wide = of_layers(header, "feed_forward_length", is_shared)
    if wide not in (ff, 2 * ff):
        raise ValueError(f"gemma4.feed_forward_length is {ff} and {wide}: not the same, nor double")
    is_far = [not x for x in slides]
    near_heads, far_heads = of_layers(header, "attention.head_count_kv", is_far)
    far, near = header.count(KEY_LENGTH), header.count(f"{KEY_LENGTH}_swa")
    for key in (VALUE_LENGTH, ROTATED):
        header.agree(key, far)
        header.agree(f"{key}_swa", near)
    values = (f"blk.{layer}.attn_v.weight" in header.stored for layer in range(depth))
    own = zip(is_far, is_shared, values, strict=True)
    return {
        "vocab_size": n_words(header),
        "vocab_size_per_layer_input": n_words(header),
        "hidden_size": header.count("embedding_length"),
        "hidden_size_per_layer_input": header.count("embedding_length_per_layer_input", 0, 0),
        "intermediate_size": ff,
        "use_double_wide_mlp": wide != ff,
        "num_hidden_layers": depth,
        "num_kv_shared_layers": n_shared,
        "num_attention_heads": header.count("attention.head_count"),
        "num_key_value_heads": near_heads,
        "num_global_key_value_heads": far_heads,
        "attention_k_eq_v": any(of and not shared and not v for of, shared, v in own),
        "head_dim": near,
        "global_head_dim": far,
        "max_position_embeddings": header.count("context_length"),
        "rms_norm_eps": header.number(RMS_EPSILON),
        "sliding_window": header.count(WINDOW),
        "layer_types": kinds_of_layers(slides),
        "rope_parameters": {
            "full_attention": proportional(rotation(header, far)),
            "sliding_attention": {
                "rope_type": "default", "rope_theta": header.number(SWA_BASE, USUAL_BASE)},
        },
        "final_logit_softcapping": header.given("final_logit_softcapping"),
        "tie_word_embeddings": not header.has("output.weight"),
    }  # fmt: skip


def _phi3(header: Header) -> Built:
    config = _dense(header, is_partial=True)
    rope = config["rope_parameters"]
    usual = config["max_position_embeddings"]
    return {
        **config,
        "original_max_position_embeddings": rope.get("original_max_position_embeddings", usual),
        "sliding_window": window_of(header),
    }


def _stablelm(header: Header) -> Built:
    """Whether both sublayers read one stream is seen by the norm that is missing then."""
    config = _dense(header, is_partial=True, epsilon="layer_norm_eps")
    is_parallel = not header.has("ffn_norm.weight")
    header.agree("use_parallel_residual", is_parallel)
    header.agree(KEY_LENGTH, config.pop("head_dim"))
    return {
        **config,
        "use_qkv_bias": is_biased(header, "attn_q", "attn_k", "attn_v"),
        "use_parallel_residual": is_parallel,
    }


def _starcoder2(header: Header) -> Built:
    return {
        **_dense(header, epsilon="norm_epsilon"),
        "sliding_window": window_of(header),
        "use_bias": is_biased(header, "attn_q", "attn_output", "ffn_up", "ffn_down"),
    }


def _nemotron(header: Header) -> Built:
    return {
        **_dense(header, is_partial=True, epsilon="norm_eps"),
        "attention_bias": is_biased(header, "attn_q", "attn_k", "attn_v", "attn_output"),
        "mlp_bias": is_biased(header, "ffn_up", "ffn_down"),
    }


def _minimax_m2(header: Header) -> Built:
    """Its class has sigmoids for gates, and experts as wide as the feed-forward."""
    config = _dense(header, is_partial=True)
    header.agree("expert_gating_func", 2)
    header.agree("expert_weights_norm", True)
    header.agree("expert_feed_forward_length", config["intermediate_size"])
    return {
        **config,
        "num_local_experts": header.count("expert_count"),
        "num_experts_per_tok": header.count("expert_used_count"),
    }


def _gpt2(header: Header) -> Built:
    sizes = sizes_of(header)
    refuse_groups(header, sizes)
    return {
        "vocab_size": sizes["vocab_size"],
        "n_embd": sizes["hidden_size"],
        "n_layer": sizes["num_hidden_layers"],
        "n_head": sizes["num_attention_heads"],
        "n_positions": sizes["max_position_embeddings"],
        "n_inner": sizes["intermediate_size"],
        "layer_norm_epsilon": header.number(EPSILON),
        "tie_word_embeddings": sizes["tie_word_embeddings"],
    }


def _t5(header: Header) -> Built:
    """T5 (Raffel et al. 2020), or the same with gates (Shazeer 2020), as its tensors say.

    UMT5 has positions of its own in each layer.
    """
    sizes, is_gated = sizes_of(header), header.has("ffn_gate.weight")
    epsilon = header.number(EPSILON)
    header.agree(RMS_EPSILON, epsilon)
    refuse_groups(header, sizes)
    width = head_width(header, sizes)
    config = {
        "vocab_size": sizes["vocab_size"],
        "d_model": sizes["hidden_size"],
        "d_ff": sizes["intermediate_size"],
        "d_kv": width,
        "num_heads": sizes["num_attention_heads"],
        "num_layers": sizes["num_hidden_layers"],
        "num_decoder_layers": header.count("decoder_block_count", sizes["num_hidden_layers"]),
        "relative_attention_num_buckets": header.count("attention.relative_buckets_count"),
        "layer_norm_epsilon": epsilon,
        "feed_forward_proj": "gated-gelu" if is_gated else "relu",
        "tie_word_embeddings": sizes["tie_word_embeddings"],
    }
    if header.own("decoder_start_token_id") is not None:
        config["decoder_start_token_id"] = header.count("decoder_start_token_id", 0, least=0)
    if "enc.blk.1.attn_rel_b.weight" in header.stored:
        named = FAMILIES[header.architecture].class_name
        config |= {"model_type": "umt5", "architectures": [f"UM{named}"]}
    return config


FAMILIES: dict[str, Family] = {
    "llama": Family("llama", "LlamaForCausalLM", _llama),
    "qwen2": Family("qwen2", "Qwen2ForCausalLM", _qwen2),
    "qwen3": Family("qwen3", "Qwen3ForCausalLM", _dense),
    "qwen2moe": Family("qwen2_moe", "Qwen2MoeForCausalLM", _qwen2moe),
    "qwen3moe": Family("qwen3_moe", "Qwen3MoeForCausalLM", _qwen3moe),
    "gemma2": Family("gemma2", "Gemma2ForCausalLM", _gemma2),
    "gemma3": Family("gemma3_text", "Gemma3ForCausalLM", _gemma3),
    "gemma4": Family("gemma4_text", "Gemma4ForCausalLM", _gemma4),
    "phi3": Family("phi3", "Phi3ForCausalLM", _phi3),
    "stablelm": Family("stablelm", "StableLmForCausalLM", _stablelm),
    "starcoder2": Family("starcoder2", "Starcoder2ForCausalLM", _starcoder2),
    "nemotron": Family("nemotron", "NemotronForCausalLM", _nemotron),
    "minimax-m2": Family("minimax_m2", "MiniMaxM2ForCausalLM", _minimax_m2),
    "gpt2": Family("gpt2", "GPT2LMHeadModel", _gpt2),
    "lfm2": Family("lfm2", "Lfm2ForCausalLM", hybrids.lfm2),
    "qwen35": Family("qwen3_5_text", "Qwen3_5ForCausalLM", hybrids.qwen35),
    "qwen35moe": Family("qwen3_5_moe_text", "Qwen3_5MoeForCausalLM", hybrids.qwen35moe),
    "t5": Family("t5", "T5ForConditionalGeneration", _t5),
    "t5encoder": Family("t5", "T5EncoderModel", _t5),
}
