"""Protects the report of an opened model: it names what is off, and nothing else."""

import math
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from model.sources.transformers import load
from tests.model.adopted.families import (
    FAMILIES,
    HYBRIDS,
    IN_FOLDERS,
    LENGTHS,
    UNEVEN,
    build,
    saved,
    tokens,
)
from tests.model.builders import edit_json

Change = Callable[[dict[str, Tensor]], object]
LAYER = "transformer.h.2"
UP, OUT, NORM = (f"{LAYER}.{name}.weight" for name in ("mlp.c_fc", "attn.c_proj", "ln_1"))
OTHER, IN = UP.replace("2", "1"), f"{LAYER}.attn.c_attn"
WORDS = "transformer.wte.weight"
NO_TIE: dict[str, Any] = {"tie_word_embeddings": False}
UNTRAINED = "all weights look as at the start: this model is not trained"


def _trained_like(weights: dict[str, Tensor]) -> None:
    """Leave what training leaves: sizes by row and column, and one strong direction.

    What stands in the same place of each layer has the same sizes of rows and columns, nearly.
    """
    for name, weight in weights.items():
        if weight.ndim == 2:
            own = torch.Generator().manual_seed(len(name) * 31 + weight.shape[0])
            rows, columns = (torch.randn(n, generator=own).mul(0.5).exp() for n in weight.shape)
            weight.mul_(rows[:, None] * columns).add_(0.2 * torch.outer(rows**2, columns**2))


def _changed(folder: Path, to: Path, change: Change = len, **config: object) -> Path:
    shutil.copytree(folder, to)
    weights = load_file(folder / "model.safetensors")
    change(weights)
    save_file(weights, to / "model.safetensors", {"format": "pt"})
    edit_json(to / "config.json", lambda fields: fields.update(config))
    return to


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("models")
    build("gpt2", vocab_size=300, n_embd=64, n_layer=4).save_pretrained(top / "random")
    tokens().save_pretrained(top / "random")
    return _changed(top / "random", top / "trained", _trained_like)


# What is done to the weights, to config.json, and what is named; "" where it cannot be seen.
DAMAGES: dict[str, tuple[Change, dict[str, Any], str]] = {
    "none": (len, {}, ""),
    "matrix dropped": (lambda w: w.pop(UP), {}, f"do not have {UP}: zero here"),
    "layer dropped": (
        lambda w: [w.pop(x) for x in list(w) if x.startswith(LAYER)], {}, "and 9 more: zero here",
    ),
    "embeddings dropped": (lambda w: w.pop(WORDS), {}, "do not have lm_head.weight, transformer.w"),
    "fewer layers in config": (len, {"n_layer": 2}, "of its files has no place in the model"),
    "untied without a head": (len, NO_TIE, "does not tie lm_head to the embeddings, so nothing"),
    "left at its start": (lambda w: w[UP].normal_(0, 0.02), {}, f"{UP} looks drawn at random"),
    "transposed": (lambda w: w[OUT].copy_(w[OUT].T.clone()), {}, f"{OUT} looks transposed"),
    "zeroed": (lambda w: w[UP].zero_(), {}, f"{UP} is 0 everywhere"),
    "embeddings zeroed": (lambda w: w[WORDS].zero_(), {}, f"{WORDS} is 0 everywhere"),
    "norm left at its start": (lambda w: w[NORM].fill_(1), {}, f"{NORM} is 1 everywhere"),
    "NaN": (lambda w: w[UP][3, 5:6].fill_(math.nan), {}, f"{UP} has values that are no finite"),
    "copied": (lambda w: w[UP].copy_(w[OTHER]), {}, f"{UP} has the very numbers of {OTHER}"),
    "a hundred times": (lambda w: w[UP].mul_(100), {}, f"{UP} is 1e+02 times as large"),
    "uniform heads": (
        lambda w: [w[f"{IN}.{x}"][..., :64].zero_() for x in ("weight", "bias")], {},
        "decoder.blocks.2.attn.0, decoder.blocks.2.attn.1",
    ),
    "exchanged": (lambda w: w.update({UP: w[OTHER], OTHER: w[UP]}), {}, ""),
    "one value changed": (lambda w: w[UP][3, 5:6].fill_(0.3), {}, ""),
    "head count lies": (len, {"n_head": 8}, ""),
    "activation lies": (len, {"activation_function": "relu"}, ""),
}  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damage_is_named_or_said_to_be_unseen(damage: str, trained: Path, tmp_path: Path) -> None:
    change, config, expected = DAMAGES[damage]
    model = load(_changed(trained, tmp_path / "damaged", change, **config), "cpu")
    assert any(expected in line for line in model.off) if expected else model.off == (), model.off
    assert model.report[-1].text.startswith("cannot be seen from the files alone: weights exch")


@pytest.mark.parametrize("family", [*FAMILIES, *HYBRIDS, *LENGTHS, *UNEVEN, *IN_FOLDERS])
def test_all_that_is_found_of_a_random_model_is_that(family: str, tmp_path: Path) -> None:
    build(family).save_pretrained(tmp_path)
    model = load(tmp_path, "cpu")
    assert model.off == ()
    assert family == "deepseek_v3" or UNTRAINED in {one.text for one in model.report}


def test_heads_and_vocabularies_of_another_size_are_said(trained: Path, tmp_path: Path) -> None:
    assert "lm_head is tied to the embeddings" in load(trained, "cpu").report[0].text
    added: Any = {"lm_head.weight": torch.rand(300, 64), "qa.base_layer.weight": torch.rand(2, 64)}
    model = load(_changed(trained, tmp_path / "head", lambda w: w.update(added)), "cpu")
    said = "\n".join(one.text for one in model.report if not one.is_off)
    assert "config.json ties lm_head to the embeddings, but the files have both" in said
    assert "the tokenizer has 280 tokens, and the model rows for 300: the others stand for" in said
    assert "qa.base_layer.weight of its files is not used by this class of model" in said
    assert torch.equal(model.model.inner.lm_head.weight, added["lm_head.weight"])


def test_layers_of_a_decoder_that_are_missing_are_said(tmp_path: Path) -> None:
    saved(tmp_path / "t5", "t5")  # null means as many as the encoder has, one more than are stored
    model = load(_changed(tmp_path / "t5", tmp_path / "more", num_decoder_layers=None), "cpu")
    assert "do not have decoder.block.2" in model.off[0]


def test_a_missing_head_predicts_nothing_rather_than_anything(
    trained: Path, tmp_path: Path
) -> None:
    model = load(_changed(trained, tmp_path / "headless", **NO_TIE), "cpu")
    assert not model.trace("the red ball").trace.logits.any()


def test_norms_by_their_old_names_are_taken_exactly(tmp_path: Path) -> None:
    def rename(weights: dict[str, Tensor]) -> None:
        for name in [x for x in weights if "LayerNorm" in x]:
            old = name.replace("LayerNorm.weight", "LayerNorm.gamma")
            weights[old.replace("LayerNorm.bias", "LayerNorm.beta")] = weights.pop(name)

    new = saved(tmp_path / "new", "bert")
    models = [load(x, "cpu") for x in (new, _changed(new, tmp_path / "old", rename))]
    assert [model.off for model in models] == [(), ()]
    first, second = (model.trace("the red ball").trace.output for model in models)
    assert first is not None and (first == second).all()


def test_a_tokenizer_with_more_tokens_than_rows_is_red(trained: Path, tmp_path: Path) -> None:
    own = tokens()
    own.add_tokens([f"zork{n}" for n in range(30)])
    own.save_pretrained(_changed(trained, tmp_path / "more"))
    (line,) = load(tmp_path / "more", "cpu").off
    assert line.startswith("the tokenizer has 310 tokens, and the model rows for 300; use")


YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 12}
LLAMA3 = {
    **YARN, "rope_type": "llama3", "low_freq_factor": 1.0, "high_freq_factor": 4.0,
    "rope_theta": 10000.0,
}  # fmt: skip
# What is written into config.json of a family, and what is named of it; "" where nothing is.
SAID: dict[str, tuple[str, dict[str, Any], str]] = {
    "window": ("llama", {"sliding_window": 7}, "sliding_window 7, which LlamaForCausalLM does no"),
    "window that is off": ("llama", {"sliding_window": 7, "use_sliding_window": False}, ""),
    "cap": ("qwen3", {"attn_logit_softcapping": 5.0}, "attn_logit_softcapping 5.0, which Qwen3"),
    "what its class does, turned off": ("lfm2", {"use_pos_enc": False}, "use_pos_enc False, wh"),
    "positions": ("bert", {"position_embedding_type": "relative_key"}, "position_embedding_type "),
    "usual positions": ("bert", {"position_embedding_type": "absolute", "pooler_type": "x"}, ""),
    "the same": ("gpt2", {"n_ctx": 48, "head_dim": 6, "logit_scale": None, "alibi": False}, ""),
    "another width": ("gpt2", {"head_dim": 5}, "head_dim 5, which GPT2LMHeadModel does not"),
    "declared and not read": ("gpt_oss", {"hidden_act": "relu"}, "hidden_act 'relu', which GptOss"),
    "asked whether it is there": ("bert", {"embedding_size": 9}, "embedding_size 9, which Bert"),
    "read by another class": ("gemma4", {"hidden_act": "relu"}, "hidden_act 'relu', which Gemma4"),
    "read for another attention": (
        "gemma", {"use_bidirectional_attention": True}, "use_bidirectional_attention True, which",
    ),
    "the same, undeclared": (
        "gemma2", {"use_bidirectional_attention": True}, "use_bidirectional_attention True, which",
    ),
    "read and not followed": ("phimoe", {"num_experts_per_tok": 3}, "num_experts_per_tok 3, which"),
    "a name of the library's own": ("llama", {"attribute_map": "x"}, "attribute_map 'x', which Ll"),
    "rotation": ("gpt2", {"rope_theta": 10000.0}, "rope_theta 10000.0, which GPT2LMHeadModel"),
    "another base": ("llama", {"rope_theta": 5.0}, "rope_theta 5.0 beside another rotation, wh"),
    "no base": ("llama", {"rope_theta": "x"}, "rope_theta 'x' beside another rotation, wh"),
    "the same base": ("llama", {"rope_theta": 10000}, ""),
    "of another kind": (
        "llama",
        {"rope_scaling": {**YARN, "low_freq_factor": 2.0}},
        "low_freq_factor 2.0 (rope_type yarn), which LlamaForCausalLM does not know",
    ),
    "of no kind": ("llama", {"rope_parameters": {"factor": 4.0}}, "factor 4.0 (rope_type default"),
    "a share": ("llama", {"partial_rotary_factor": 0.5}, "partial_rotary_factor 0.5 (rope_type d"),
    "a share that is read": ("phi", {"rope_parameters": {"partial_rotary_factor": 0.25}}, ""),
    "an old name": ("llama", {"rope_scaling": {"type": "linear", "factor": 4}}, ""),
    "llama3": ("llama", {"rope_scaling": LLAMA3, "is_llama_config": True}, ""),
    "of layers": (
        "gemma3",
        {"rope_parameters": {"full_attention": {"factor": 4.0}, "sliding_attention": {}}},
        "factor 4.0 (rope_type default), which Gemma3ForCausalLM does not",
    ),
    "old names": ("gemma3", {"rope_local_base_freq": 1e4, "hidden_act": "gelu_pytorch_tanh"}, ""),
}  # fmt: skip


# What published folders say that their classes do not declare, sizes as those of the small models.
AS_PUBLISHED: dict[str, dict[str, Any]] = {
    "gpt2": {"n_ctx": 1024, "output_past": True, "predict_special_tokens": True, "n_special": 0,
             "task_specific_params": {"text-generation": {"max_length": 50}}, "_num_labels": 1},
    "llama": {"is_llama_config": True, "rope_interleaved": False, "unsloth_fixed": True,
              "transformers.js_config": {"dtype": {}}, "torch_dtype": "bfloat16"},
    "qwen2": {"use_mrope": False, "_name_or_path": "x"},
    "gemma2": {"cache_implementation": "hybrid", "hidden_act": "gelu_pytorch_tanh",
               "sliding_window_size": 4},
    "gemma3": {"cache_implementation": "hybrid", "_sliding_window_pattern": 6, "auto_map": {}},
    "gpt_oss": {"experts_per_token": 2, "initial_context_length": 4096},
    "gpt_neox": {"rotary_pct": 0.25, "rotary_emb_base": 10000},
    "lfm2": {"block_dim": 24, "block_mlp_init_scale": 1.0, "block_norm_eps": 1e-5, "conv_dim": 24,
             "block_use_swiglu": True, "num_heads": 4, "theta": 1e6, "use_pos_enc": True,
             "conv_use_xavier_init": True},
    "phi3": {"full_attn_mod": 1, "interpolate_factor": 1, "lm_head_bias": False},
    "bert": {"directionality": "bidi", "pooler_fc_size": 768, "pooler_type": "first_token_trans",
             "gradient_checkpointing": False, "position_embedding_type": "absolute"},
    "distilbert": {"tie_weights_": True, "output_past": True},
    "modernbert": {"position_embedding_type": "absolute", "repad_logits_with_grad": False,
                   "layer_norm_eps": 1e-5},
    "qwen3_moe": {},  # saved under another name than its class has
    "deepseek_v3": {"ep_size": 1, "moe_layer_freq": 1, "scoring_func": "sigmoid", "seq_aux": True,
                    "topk_method": "noaux_tc"},
    "albert": {"down_scale_factor": 1, "gap_size": 0, "num_memory_blocks": 0},
    "t5": {"n_positions": 512, "is_gated_act": False, "tokenizer_class": "T5Tokenizer"},
    "bart": {"normalize_embedding": True, "static_position_embeddings": False, "save_step": 58,
             "extra_pos_embeddings": 2, "force_bos_token_to_be_generated": True},
    "marian": {"normalize_embedding": False, "static_position_embeddings": True,
               "extra_pos_embeddings": 58101, "add_bias_logits": False},
    "apertus": {"qk_norm": True, "post_norm": False},
    "blenderbot": {"add_final_layer_norm": True, "do_blenderbot_90_layernorm": True,
                   "extra_layer_norm": False, "layernorm_variant": "prelayernorm",
                   "normalize_before": True, "normalize_embedding": False},
    "cohere2": {"cache_implementation": "hybrid", "layer_switch": 4, "rotary_pct": 1.0,
                "order_of_interleaved_layers": "local_attn_first",
                "position_embedding_type": "rope_gptj", "use_embedding_sharing": True,
                "use_gated_activation": True, "use_parallel_block": True,
                "use_parallel_embedding": True},
    "deepseek_v2": {"ep_size": 1, "moe_layer_freq": 1, "scoring_func": "softmax", "seq_aux": True,
                    "topk_method": "greedy", "aux_loss_alpha": 0.001, "pretraining_tp": 1},
    "ernie": {"pool_act": "tanh"},
    "eurobert": {"clip_qkv": None, "mask_token": "<|mask|>", "mask_token_id": 3},
    "gpt_bigcode": {"inference_runner": 0, "max_batch_size": None, "pad_key_length": True,
                    "pre_allocate_kv_cache": False, "validate_runner_input": True},
    "stablelm": {"rotary_scaling_factor": 1.0, "norm_eps": 1e-5, "rope_pct": 0.25},
    "umt5": {"scalable_attention": True, "output_past": True},
}  # fmt: skip


@pytest.mark.parametrize("family", AS_PUBLISHED)
def test_what_published_folders_say_is_known(family: str, tmp_path: Path) -> None:
    build(family).save_pretrained(tmp_path)
    edit_json(tmp_path / "config.json", lambda fields: fields.update(AS_PUBLISHED[family]))
    assert load(tmp_path, "cpu").off == ()


@pytest.mark.parametrize("name", SAID)
def test_what_the_class_passes_over_is_named(name: str, tmp_path: Path) -> None:
    family, said, expected = SAID[name]
    build(family, max_position_embeddings=48).save_pretrained(tmp_path)
    assert load(tmp_path, "cpu").off == ()
    edit_json(tmp_path / "config.json", lambda fields: fields.update(said))
    off = load(tmp_path, "cpu").off
    assert len(off) == bool(expected) and all(f"says {expected}" in line for line in off), off


def test_of_very_many_keys_the_first_are_named(tmp_path: Path) -> None:
    build("llama").save_pretrained(tmp_path)
    said = {f"zork_{n}": n for n in range(1, 1026)}
    edit_json(tmp_path / "config.json", lambda fields: fields.update(said))
    *_, last = off = load(tmp_path, "cpu").off
    assert len(off) == 21 and "says 1,005 keys more that LlamaForCausalLM does not" in last
