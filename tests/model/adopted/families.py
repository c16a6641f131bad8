"""Small models with random weights of many families, of odd shapes, as transformers builds them."""

import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import tokenizers
import torch
import transformers as hf
from tokenizers import decoders, models, pre_tokenizers, processors, trainers

# Ids within the small vocabularies, or transformers warns.
ENDS = {"bos_token_id": 1, "eos_token_id": 2, "cls_token_id": 1, "sep_token_id": 2}
VOCAB, D = 61, 24  # ids, and the width of the stream
SIZES = {"hidden_size": D, "num_hidden_layers": 3, "num_attention_heads": 4, "vocab_size": VOCAB}
WIDE = {**SIZES, "intermediate_size": 40}
GROUPED = {**WIDE, "num_key_value_heads": 2, "head_dim": 10, "pad_token_id": 0}
BART = {
    "vocab_size": VOCAB, "d_model": D, "encoder_layers": 3, "decoder_layers": 2,
    "encoder_attention_heads": 4, "decoder_attention_heads": 3, "encoder_ffn_dim": 40,
    "decoder_ffn_dim": 36, "max_position_embeddings": 48, "pad_token_id": 1,
}  # fmt: skip
PICTURE = {**SIZES, "image_size": 12, "patch_size": 4, "num_channels": 3}
PICTURE.pop("vocab_size")
WIDE_PICTURE = {**PICTURE, "intermediate_size": 40}

DECODERS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "gpt2": ("GPT2Config", "GPT2LMHeadModel", {
        "vocab_size": VOCAB, "n_embd": D, "n_layer": 3, "n_head": 4, "n_positions": 48}),
    "llama": ("LlamaConfig", "LlamaForCausalLM", GROUPED),
    "one_head": ("LlamaConfig", "LlamaForCausalLM", {**WIDE, "num_attention_heads": 1}),
    "mistral": ("MistralConfig", "MistralForCausalLM", {**GROUPED, "sliding_window": 4}),
    "qwen2": ("Qwen2Config", "Qwen2ForCausalLM", {
        **WIDE, "num_key_value_heads": 2, "tie_word_embeddings": True}),
    "qwen3": ("Qwen3Config", "Qwen3ForCausalLM", GROUPED),
    "gemma2": ("Gemma2Config", "Gemma2ForCausalLM", {
        **GROUPED, "sliding_window": 4, "query_pre_attn_scalar": 7}),
    "gemma3": ("Gemma3TextConfig", "Gemma3ForCausalLM", {
        **GROUPED, "sliding_window": 4, "query_pre_attn_scalar": 7,
        "layer_types": ["sliding_attention", "full_attention", "sliding_attention"]}),
    "gpt_neox": ("GPTNeoXConfig", "GPTNeoXForCausalLM", WIDE),
    "opt": ("OPTConfig", "OPTForCausalLM", {
        **SIZES, "ffn_dim": 40, "word_embed_proj_dim": D, "max_position_embeddings": 48}),
    "phi": ("PhiConfig", "PhiForCausalLM", {
        **WIDE, "num_attention_heads": 3, "pad_token_id": 0}),
    "olmo": ("OlmoConfig", "OlmoForCausalLM", {**WIDE, "pad_token_id": 0, "eos_token_id": 1}),
    "mixtral": ("MixtralConfig", "MixtralForCausalLM", {**GROUPED, "num_local_experts": 3}),
    "smollm3": ("SmolLM3Config", "SmolLM3ForCausalLM", {**GROUPED, "no_rope_layers": [0, 1, 0]}),
    "granite_hybrid": ("GraniteMoeHybridConfig", "GraniteMoeHybridForCausalLM", {
        **WIDE, "num_key_value_heads": 2, "pad_token_id": 0, "layer_types": ["attention"] * 3,
        "position_embedding_type": None, "shared_intermediate_size": 40, "num_local_experts": 0,
        "mamba_n_heads": 4, "mamba_d_head": 12}),
    "gpt_oss": ("GptOssConfig", "GptOssForCausalLM", {
        **GROUPED, "num_local_experts": 3, "num_experts_per_tok": 2, "sliding_window": 4}),
}  # fmt: skip
LINEAR = {
    "linear_num_key_heads": 2, "linear_num_value_heads": 4, "linear_key_head_dim": 6,
    "linear_value_head_dim": 5,
    "layer_types": ["linear_attention", "full_attention", "linear_attention"],
}  # fmt: skip
# Decoders of which some layers keep more of earlier tokens than keys and values.
HYBRIDS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "lfm2": ("Lfm2Config", "Lfm2ForCausalLM", {
        **GROUPED, "layer_types": ["conv", "full_attention", "conv"]}),
    "falcon_h1": ("FalconH1Config", "FalconH1ForCausalLM", {
        **GROUPED, "mamba_d_ssm": D, "mamba_n_heads": 4, "mamba_d_head": 6, "mamba_d_state": 8,
        "mamba_chunk_size": 8}),
    "qwen3_5": ("Qwen3_5TextConfig", "Qwen3_5ForCausalLM", {**GROUPED, **LINEAR}),
    "qwen3_next": ("Qwen3NextConfig", "Qwen3NextForCausalLM", {
        **GROUPED, **LINEAR, "num_experts": 3, "num_experts_per_tok": 2,
        "moe_intermediate_size": 12, "shared_expert_intermediate_size": 12}),
    "olmo_hybrid": ("OlmoHybridConfig", "OlmoHybridForCausalLM", {
        **WIDE, **LINEAR, "num_key_value_heads": 2, "pad_token_id": 0}),
}  # fmt: skip
# Decoders that see earlier tokens otherwise from a length on, shorter than the texts of the tests.
LENGTHS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "llama4": ("Llama4TextConfig", "Llama4ForCausalLM", {
        **GROUPED, "intermediate_size_mlp": 40, "num_local_experts": 2,
        "interleave_moe_layer_step": 2, "attention_chunk_size": 9}),
    "phi3": ("Phi3Config", "Phi3ForCausalLM", {
        **WIDE, "pad_token_id": 0, "original_max_position_embeddings": 6, "rope_parameters": {
            "rope_type": "longrope", "rope_theta": 100.0, "short_factor": [1.0] * 3,
            "original_max_position_embeddings": 6, "long_factor": [9.0, 16.0, 25.0]}}),
}  # fmt: skip
# Decoders whose layers differ in their sizes, or values from keys.
UNEVEN: dict[str, tuple[str, str, dict[str, Any]]] = {
    "gemma4": ("Gemma4TextConfig", "Gemma4ForCausalLM", {
        **GROUPED, "global_head_dim": 14, "sliding_window": 4, "vocab_size_per_layer_input": VOCAB,
        "hidden_size_per_layer_input": 6, "num_kv_shared_layers": 0,
        "layer_types": ["sliding_attention", "full_attention", "full_attention"]}),
    "gemma4_wide": ("Gemma4TextConfig", "Gemma4ForCausalLM", {  # global heads as wide as the stream
        **GROUPED, "hidden_size": 32, "global_head_dim": 32, "sliding_window": 4,
        "hidden_size_per_layer_input": 0, "num_kv_shared_layers": 0,
        "layer_types": ["sliding_attention", "full_attention", "full_attention"]}),
    "deepseek_v3": ("DeepseekV3Config", "DeepseekV3ForCausalLM", {
        **WIDE, "num_key_value_heads": 4, "q_lora_rank": 8, "kv_lora_rank": 6, "v_head_dim": 5,
        "qk_rope_head_dim": 4, "qk_nope_head_dim": 6, "n_routed_experts": 4, "n_group": 1,
        "topk_group": 1, "num_experts_per_tok": 2, "moe_intermediate_size": 12}),
}  # fmt: skip
# Decoders that are tried as files in GGUF alone.
IN_FILES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "qwen2_moe": ("Qwen2MoeConfig", "Qwen2MoeForCausalLM", {
        **WIDE, "num_key_value_heads": 2, "num_experts": 3, "num_experts_per_tok": 2,
        "moe_intermediate_size": 12, "shared_expert_intermediate_size": 20}),
    "qwen3_moe": ("Qwen3MoeConfig", "Qwen3MoeForCausalLM", {
        **GROUPED, "num_experts": 3, "num_experts_per_tok": 2, "moe_intermediate_size": 12}),
    "stablelm": ("StableLmConfig", "StableLmForCausalLM", {**WIDE, "num_key_value_heads": 2}),
    "starcoder2": ("Starcoder2Config", "Starcoder2ForCausalLM", {
        **WIDE, "num_key_value_heads": 2}),
    "nemotron": ("NemotronConfig", "NemotronForCausalLM", {**WIDE, "num_key_value_heads": 2}),
    "minimax_m2": ("MiniMaxM2Config", "MiniMaxM2ForCausalLM", {
        **GROUPED, "num_local_experts": 3, "num_experts_per_tok": 2, "rotary_dim": 6}),
}  # fmt: skip
ENCODERS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "bert": ("BertConfig", "BertForMaskedLM", WIDE),
    "roberta": ("RobertaConfig", "RobertaForMaskedLM", {**WIDE, "max_position_embeddings": 50}),
    "distilbert": ("DistilBertConfig", "DistilBertForMaskedLM", {
        "vocab_size": VOCAB, "dim": D, "n_layers": 3, "n_heads": 4, "hidden_dim": 40}),
    "modernbert": ("ModernBertConfig", "ModernBertForMaskedLM", {
        **WIDE, "pad_token_id": 0, "local_attention": 4, "global_attn_every_n_layers": 2}),
    "albert": ("AlbertConfig", "AlbertForMaskedLM", {**WIDE, "embedding_size": 16}),
}  # fmt: skip
ENCODER_DECODERS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "t5": ("T5Config", "T5ForConditionalGeneration", {
        "vocab_size": VOCAB, "d_model": D, "d_kv": 5, "num_heads": 4, "d_ff": 40, "num_layers": 3,
        "num_decoder_layers": 2}),
    "bart": ("BartConfig", "BartForConditionalGeneration", BART),
    "marian": ("MarianConfig", "MarianMTModel", {**BART, "decoder_start_token_id": 1}),
}  # fmt: skip
VISION: dict[str, tuple[str, str, dict[str, Any]]] = {
    "vit": ("ViTConfig", "ViTForImageClassification", WIDE_PICTURE),
    "dinov2": ("Dinov2WithRegistersConfig", "Dinov2WithRegistersForImageClassification", {
        **PICTURE, "num_register_tokens": 2}),
    "deit": ("DeiTConfig", "DeiTForImageClassification", WIDE_PICTURE),
}  # fmt: skip
# Models that are tried by what their folders say, and by opening them.
IN_FOLDERS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "apertus": ("ApertusConfig", "ApertusForCausalLM", {**WIDE, "num_key_value_heads": 2}),
    "blenderbot": ("BlenderbotConfig", "BlenderbotForConditionalGeneration", BART),
    "cohere2": ("Cohere2Config", "Cohere2ForCausalLM", {
        **WIDE, "num_key_value_heads": 2, "pad_token_id": 0, "sliding_window": 4}),
    "deepseek_v2": ("DeepseekV2Config", "DeepseekV2ForCausalLM", {
        **WIDE, "q_lora_rank": 8, "kv_lora_rank": 6, "v_head_dim": 5, "qk_rope_head_dim": 4,
        "qk_nope_head_dim": 6, "n_routed_experts": 4, "n_group": 1, "topk_group": 1,
        "num_experts_per_tok": 2, "moe_intermediate_size": 12, "first_k_dense_replace": 1}),
    "doge": ("DogeConfig", "DogeForCausalLM", GROUPED),
    "ernie": ("ErnieConfig", "ErnieForMaskedLM", WIDE),
    "eurobert": ("EuroBertConfig", "EuroBertForMaskedLM", {
        **WIDE, "num_key_value_heads": 2, "pad_token_id": 0}),
    "gpt_bigcode": ("GPTBigCodeConfig", "GPTBigCodeForCausalLM", {
        "vocab_size": VOCAB, "n_embd": D, "n_layer": 3, "n_head": 4, "n_positions": 48}),
    "gemma": ("GemmaConfig", "GemmaForCausalLM", GROUPED),
    "phimoe": ("PhimoeConfig", "PhimoeForCausalLM", {
        **WIDE, "num_key_value_heads": 2, "pad_token_id": 0, "num_local_experts": 4}),
    "umt5": ("UMT5Config", "UMT5ForConditionalGeneration", {
        "vocab_size": VOCAB, "d_model": D, "d_kv": 6, "num_heads": 4, "d_ff": 40, "num_layers": 3,
        "num_decoder_layers": 2}),
}  # fmt: skip
FAMILIES = {**DECODERS, **ENCODERS, **ENCODER_DECODERS, **VISION}
EVERY = {**FAMILIES, **HYBRIDS, **LENGTHS, **UNEVEN, **IN_FILES, **IN_FOLDERS}


def build(family: str, seed: int = 7, **changes: object) -> Any:  # noqa: ANN401
    """A model of a family, the weights of a seed; no weight is left at zero or one."""
    config_name, model_name, sizes = EVERY[family]
    torch.manual_seed(seed)
    config = getattr(hf, config_name)(**{**ENDS, **sizes, **changes})
    model = getattr(hf, model_name)._from_config(config, attn_implementation="eager")
    for weight in model.parameters():
        torch.nn.init.normal_(weight, 0.5 if weight.ndim == 1 else 0.0, 0.3)
    return model.eval()


def given(family: str, n_tokens: int = 7) -> dict[str, torch.Tensor]:
    """An input of a family, no two tokens alike."""
    generator = torch.Generator().manual_seed(3)
    if family in VISION:
        return {"pixel_values": torch.rand(1, 3, 12, 12, generator=generator)}
    ids = 4 + torch.randperm(VOCAB - 4, generator=generator)[None]
    if family in ENCODER_DECODERS:
        n_source = n_tokens + 2
        source, target = ids[:, :n_source], ids[:, n_source : n_source + n_tokens]
        return {"input_ids": source, "decoder_input_ids": target}
    return {"input_ids": ids[:, :n_tokens]}


def tokens(vocab_size: int = 300, start: str = "", end: str = "") -> hf.PreTrainedTokenizerFast:
    """A byte-level tokenizer of transformers; `start` and `end` are put around every text."""
    backend = tokenizers.Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    specials = ["</s>", *([start] if start else [])]
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        special_tokens=specials,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    backend.train_from_iterator(["the red ball and the blue ball gave the dog a ball"], trainer)
    around = [(name, backend.token_to_id(name)) for name in (start, end) if name]
    if around:
        backend.post_processor = processors.TemplateProcessing(
            single=f"{start} $A {end}".strip(), special_tokens=around
        )
    return hf.PreTrainedTokenizerFast(tokenizer_object=backend, eos_token="</s>")


def lacking(sign: str, unk: str | None = None) -> hf.PreTrainedTokenizerFast:
    """The same without one of the 256 signs of bytes, which are lost or become an unknown token."""
    file = json.loads(tokens().backend_tokenizer.to_str())
    del file["model"]["vocab"][sign]
    file["model"]["unk_token"] = unk
    backend = tokenizers.Tokenizer.from_str(json.dumps(file))
    return hf.PreTrainedTokenizerFast(tokenizer_object=backend, eos_token="</s>")


def pieces(
    names: str, merges: Sequence[tuple[str, str]] = (), **how: object
) -> hf.PreTrainedTokenizerFast:
    """BPE of transformers with few merges: what it lacks becomes bytes, or is unknown."""
    vocab = {name: i for i, name in enumerate(["<unk>", "</s>", *names.split(" ")])}
    backend = tokenizers.Tokenizer(models.BPE(vocab, list(merges), unk_token="<unk>", **how))
    if how.get("byte_fallback"):
        backend.pre_tokenizer = pre_tokenizers.Metaspace()
        backend.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace()])
    else:
        backend.pre_tokenizer = pre_tokenizers.Whitespace()
        backend.decoder = decoders.BPEDecoder()
    return hf.PreTrainedTokenizerFast(tokenizer_object=backend, eos_token="</s>", unk_token="<unk>")


SPELLED_BYTES = pieces(
    " ".join(["▁", *"abcdefghijklmnop", *(f"<0x{byte:02X}>" for byte in range(256))]),
    byte_fallback=True,
)
# Words that no merge joins with the space before them.
SPACE_APART = pieces("▁ H e o He", [("H", "e")], byte_fallback=True)
ENDED_WORDS = pieces("a b c a</w> b</w> .</w>", end_of_word_suffix="</w>")


def words(names: str = "the red ##d ball dog ! a") -> hf.PreTrainedTokenizerFast:
    """A WordPiece tokenizer of transformers, as BERT has one."""
    vocab = {
        name: i
        for i, name in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *names.split()])
    }
    backend = tokenizers.Tokenizer(models.WordPiece(vocab, unk_token="[UNK]"))
    backend.normalizer = tokenizers.normalizers.BertNormalizer(lowercase=True)
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    backend.decoder = decoders.WordPiece()
    backend.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    specials = {
        f"{name}_token": f"[{name.upper()}]" for name in ("pad", "unk", "cls", "sep", "mask")
    }
    return hf.PreTrainedTokenizerFast(tokenizer_object=backend, **specials)


CHATML = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def saved(
    folder: Path,
    family: str = "gpt2",
    vocab_size: int = 300,
    start: str = "",
    end: str = "",
    **changes: object,
) -> Path:
    """A folder that transformers wrote: a model of random weights and its tokenizer."""
    build(family, vocab_size=vocab_size, **changes).save_pretrained(folder)
    tokens(vocab_size, start, end).save_pretrained(folder)
    return folder


def saved_with_chats(folder: Path, template: str = CHATML, **changes: object) -> Path:
    """The same of a model that was made for chats, which ends a turn by a token of its own."""
    own = tokens()
    own.add_special_tokens({"additional_special_tokens": ["<|im_start|>", "<|im_end|>"]})
    own.chat_template = template
    model = build("llama", vocab_size=len(own), **changes)
    model.generation_config.eos_token_id = [5, own.convert_tokens_to_ids("<|im_end|>")]
    model.save_pretrained(folder)
    own.save_pretrained(folder)
    return folder


def _merges() -> dict[str, str]:
    model = json.loads(tokens().backend_tokenizer.to_str())["model"]
    rules = "\n".join(map(" ".join, model["merges"]))
    return {"vocab.json": json.dumps(model["vocab"]), "merges.txt": f"#version: 0.2\n{rules}\n"}


def _marian() -> dict[str, str | bytes]:
    """As the published ones are: two files of sentencepiece, and ids in another order."""
    sentencepiece = pytest.importorskip("sentencepiece")
    files, known = {}, set()
    texts = {"source": "the red ball gave the dog a ball", "target": "der rote Ball gab dem Hund"}
    for name, text in texts.items():
        content = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter([text]), model_writer=content, vocab_size=30, minloglevel=2,
            hard_vocab_limit=False,
        )  # fmt: skip
        read = sentencepiece.SentencePieceProcessor(model_proto=content.getvalue())
        known |= set(map(read.id_to_piece, range(3, len(read))))
        files[f"{name}.spm"] = content.getvalue()
    vocab = {piece: i for i, piece in enumerate(["</s>", "<unk>", *sorted(known), "<pad>"])}
    return {**files, "vocab.json": json.dumps(vocab), "tokenizer_config.json": "{}"}


RESIDUES = "<cls> <pad> <eos> <unk> L A G V S E R T I D P K Q N F Y M H <mask>".replace(" ", "\n")
# What folders have instead of a tokenizer.json, with the model beside it.
PUBLISHED: dict[str, tuple[str, Callable[[], dict[str, Any]]]] = {
    "merges": ("gpt2", _merges),
    "words": ("bert", lambda: {"vocab.txt": "\n".join(words().get_vocab())}),
    "esm": ("bert", lambda: {
        "vocab.txt": RESIDUES, "tokenizer_config.json": '{"tokenizer_class": "EsmTokenizer"}'}),
    "bertweet": ("roberta", lambda: {
        "vocab.txt": "the 1\nth@@ 1\nred 1\nd 1\n", "bpe.codes": "t h 1\nth e</w> 1\nr e 1\n"
        "re d</w> 1\n", "tokenizer_config.json": '{"tokenizer_class": "BertweetTokenizer"}'}),
    "marian": ("marian", _marian),
}  # fmt: skip


def published(folder: Path, kind: str) -> Path:
    """A folder of a model whose tokenizer is in other files than tokenizer.json."""
    family, files = PUBLISHED[kind]
    build(family, vocab_size=300, decoder_start_token_id=1).save_pretrained(folder)
    for name, content in files().items():
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def pictured(folder: Path, family: str) -> Path:
    """A folder of a model of pictures, and how these are made ready."""
    build(family).save_pretrained(folder)
    said = {"size": 12, "image_mean": [0.5, 0.4, 0.3], "image_std": [0.2, 0.3, 0.4]}
    (folder / "preprocessor_config.json").write_text(json.dumps(said))
    return folder
