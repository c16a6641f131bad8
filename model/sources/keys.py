"""Keys of config.json that the classes of a model pass over: it may mean another model.

transformers keeps a key that nobody reads as an attribute of the config, and says nothing.
"""

import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import MISSING, Field, dataclass, fields
from inspect import getsource
from typing import Any

from model.lines import quoted
from model.verify.check import Finding

MOST_NAMED = 20  # in lines of their own
# How the source of a model, and that of its config, take what a config says.
OF_MODEL = re.compile(
    r"\bconfig\.(\w+)"
    r"|(?<!hasattr\()config, ['\"](\w+)['\"]|(?<=rope_parameters)(?:\.get\(|\[)['\"](\w+)['\"]"
)
OF_CONFIG = re.compile(r"\bself\.(\w+)|\bkwargs\.(?:get|pop)\(\s*['\"](\w+)['\"]")
AT_TOP, CLASS = re.compile(r"^(?=class |def )", re.MULTILINE), re.compile(r"class (\w+)")
# Keys that no number of a run hangs on, and why.
WITHOUT_EFFECT = (
    (r"model_type|architectures|auto_map|transformers_version|is_llama_config"
     r"|is_encoder_decoder|is_decoder", "what it is"),
    (r"id2label|label2id", "names of classes"),
    (r"tie_word_embeddings", "said by the tensors of a file, too"),
    (r"_name_or_path|_commit_hash|_num_labels|license|language|tags", "where it comes from"),
    (r"unsloth_.*|transformers\.js_config", "of other programs"),
    (r"(torch_)?dtype|.*_in_fp32|bf16|fp16", "all is float32 here"),
    (r"use_cache|cache_implementation|return_dict|output_(past|attentions|hidden_states"
     r"|router_logits)|_?out_(features|indices)|stage_names|reshape_hidden_states",
     "what else is kept"),
    (r"_?attn_implementation.*|_?(use_)?flash_attn.*|pretraining_tp|reference_compile"
     r"|gradient_checkpointing|chunk_size_feed_forward|use_reentrant.*|reorder_and_upcast_attn"
     r"|deterministic_flash_attn|mamba_chunk_size|inference_runner|validate_runner_input"
     r"|pad_key_length|pre_allocate_kv_cache|max_batch_size", "how, not what is computed"),
    (r".*(dropout|pdrop|drop_path|layerdrop|router_jitter).*|.*init(ializer)?_.*|.*xavier_init"
     r"|label_smoothing|sparse_pred.*|.*(aux|z)_loss.*|neftune_.*|replacing_rate|save_step|student_.*_layers|layers_to_keep"
     r"|repad_logits_with_grad|ignore_index"
     r"|layerscale_value|linear_(a_log|dt)_(min|max)|sinusoidal_pos_embds", "of training alone"),
    (r".*_token_ids?|.*_token_index|mask_token|tokenizer_class|prefix|task_specific_params"
     r"|finetuning_task|force_bos_token_to_be_generated",
     "of the tokenizer, or of how a text is written"),
    (r"n_ctx|n_positions|extra_pos_embeddings|seq_len(gth)?|max_(seq_len(gth)?|sequence_length)"
     r"|model_max_length", "how long a text may be"),
    (r"ep_size|seq_aux|num_steps|custom_pipelines|num_mtp_modules|use_mtp", "of training"),
    (r"directionality|pooler_.*|summary_.*|classifier_.*|num_labels|problem_type"
     r"|pool_act|predict_special_tokens|num_nextn_predict_layers|mtp_.*"
     r"|encoder_stride|apply_layernorm|num_logits_to_keep", "of parts that are not shown"),
)  # fmt: skip
WITHOUT = re.compile("|".join(pattern for pattern, _ in WITHOUT_EFFECT))
# What the library's masks take, outside of the sources of a family whose class declares it.
OF_MASKS = {"attention_chunk_size"}
# Keys that a class reads and does not follow: for other attention than the one here, which is given
# its mask; or since it takes two experts, one by one.
UNFOLLOWED = {
    "gemma": {"use_bidirectional_attention"},
    "gemma2": {"use_bidirectional_attention"},
    "phimoe": {"num_experts_per_tok"},
}
# What a model does anyway: by a name that its config or its rotation has for the same,
SAME = {
    "n_embd": "hidden_size", "n_head": "num_attention_heads", "n_layer": "num_hidden_layers",
    "num_heads": "num_attention_heads", "num_layers": "num_hidden_layers",
    "block_dim": "hidden_size", "conv_dim": "hidden_size", "conv_dim_out": "hidden_size",
    "num_key_value_heads": "num_attention_heads", "num_kv_heads": "num_attention_heads",
    "hidden_act": "hidden_activation", "hidden_activation": "hidden_act",
    "activation_function": "hidden_act", "sliding_window_size": "sliding_window",
    "norm_eps": "layer_norm_eps", "layer_norm_epsilon": "norm_epsilon",
    "layer_norm_eps": "norm_eps",
    "block_norm_eps": "norm_eps", "experts_per_token": "num_experts_per_tok",
    "theta": "rope_theta", "rope_pct": "partial_rotary_factor",
    "rope_percentage": "partial_rotary_factor", "tie_weights_": "tie_word_embeddings",
    "initial_context_length": "original_max_position_embeddings",
}  # fmt: skip
# by a value at which it changes nothing,
NEUTRAL: dict[str, object] = {
    "down_scale_factor": 1, "full_attn_mod": 1, "interpolate_factor": 1, "factor": 1,
    "partial_rotary_factor": 1, "position_embedding_type": "absolute", "block_use_swiglu": True,
    "use_pos_enc": True, "mlp_type": "default", "norm_type": "layer_norm",
    "scale_attn_weights": True, "normalization_function": "rmsnorm",
    "rotary_scaling_factor": 1,
}  # fmt: skip
# or because all of the family do.
OF_FAMILY: dict[str, dict[str, object]] = {
    "apertus": {"qk_norm": True},
    "bart": {"normalize_embedding": True},
    "blenderbot": {
        "normalize_before": True, "add_final_layer_norm": True,
        "do_blenderbot_90_layernorm": True, "layernorm_variant": "prelayernorm",
    },
    "cohere2": {
        "order_of_interleaved_layers": "local_attn_first", "position_embedding_type": "rope_gptj",
        "rotary_pct": 1, "use_embedding_sharing": True, "use_gated_activation": True,
        "use_parallel_block": True, "use_parallel_embedding": True, "layer_switch": 4,
    },
    "deepseek_v2": {"scoring_func": "softmax", "moe_layer_freq": 1},
    "marian": {"static_position_embeddings": True},
    "mbart": {
        "normalize_embedding": True, "normalize_before": True, "add_final_layer_norm": True,
    },
    "pegasus": {
        "static_position_embeddings": True, "normalize_before": True, "add_final_layer_norm": True,
    },
    "deepseek_v3": {
        "scoring_func": "sigmoid", "topk_method": "noaux_tc", "moe_layer_freq": 1,
    },
    "minimax_m2": {
        "scoring_func": "sigmoid", "use_qk_norm": True, "qk_norm_type": "per_layer",
        "use_routing_bias": True,
    },
    "umt5": {"scalable_attention": True},
    "starcoder2": {"activation_function": "gelu"},  # in the published ones, beside hidden_act
}  # fmt: skip
WINDOWS, GATE = ("sliding_window", "max_window_layers"), "use_sliding_window"
ROTATION = {  # old names, which become rope_parameters
    "rope_parameters", "rope_scaling", "rope_theta", "partial_rotary_factor", "rotary_pct",
    "rotary_emb_base", "rope_local_base_freq", "global_rope_theta", "local_rope_theta",
}  # fmt: skip
# What each kind of rotation takes; the default one a share only where the model reads it.
DEFAULT = {"rope_type", "type", "rope_theta"}
SCALED = {*DEFAULT, "factor", "partial_rotary_factor"}
TRAINED = {"finetuned"}  # tells how a model was trained
STRETCHED = {*SCALED, *TRAINED, "original_max_position_embeddings", "attention_factor"}
TAKEN = {
    "linear": SCALED,
    "dynamic": SCALED,
    "proportional": SCALED,
    "llama3": {
        *SCALED, "original_max_position_embeddings", "low_freq_factor", "high_freq_factor",
    },
    "yarn": {*STRETCHED, "beta_fast", "beta_slow", "mscale", "mscale_all_dim", "truncate"},
    "longrope": {*STRETCHED, "short_factor", "long_factor"},
}  # fmt: skip
UNKNOWN = "does not know: the model may mean something else"


def passed_over(said: Mapping[str, Any], inner: Any) -> Iterator[Finding]:  # noqa: ANN401
    """What config.json says that the classes of a model do not know.

    said: config.json. inner: the model that transformers built of it.
    """
    read = _read(inner.modules(), OF_MODEL) | _read([inner.config], OF_CONFIG)
    found, name = list(_unknown(said, inner.config, read)), type(inner).__name__
    for key in found[:MOST_NAMED]:
        yield Finding(f"config.json says {key}, which {name} {UNKNOWN}", is_off=True)
    if (more := len(found) - MOST_NAMED) > 0:
        yield Finding(f"config.json says {more:,} keys more that {name} {UNKNOWN}", is_off=True)


@dataclass(frozen=True)
class Read:
    """Names that sources take of a config: a model's own classes, and all of their modules."""

    own: frozenset[str]
    near: frozenset[str]

    def __or__(self, other: "Read") -> "Read":
        return Read(self.own | other.own, self.near | other.near)


def _read(objects: Iterable[object], taking: re.Pattern[str]) -> Read:
    """What is taken by the classes of some objects; functions beside a class are its own."""
    kinds = {kind for x in objects for kind in type(x).__mro__}
    of_library = [kind for kind in kinds if kind.__module__.startswith("transformers.models.")]
    names = {kind.__name__ for kind in of_library}
    modules = [sys.modules[name] for name in {kind.__module__ for kind in of_library}]
    near = [part for module in modules for part in AT_TOP.split(getsource(module))]
    own = [part for part in near if (named := CLASS.match(part)) is None or named[1] in names]
    return Read(*(frozenset(_taken("".join(parts), taking)) for parts in (own, near)))


def _taken(source: str, taking: re.Pattern[str]) -> Iterator[str]:
    return (name for found in taking.findall(source) for name in found)


def _unknown(said: Mapping[str, Any], config: Any, read: Read) -> Iterator[str]:  # noqa: ANN401
    """The keys, each with its value, that a config keeps beside what its class declares."""
    kept, rotation = vars(config), vars(config).get("rope_parameters") or {}
    declared = {field.name: field for field in fields(config)}
    names = type(config).attribute_map  # of the class: a file may say the same key
    heard = read.own | {*names, *names.values()}
    heard |= (read.near | OF_MASKS) & declared.keys()
    heard -= UNFOLLOWED.get(config.model_type, set())
    for key in (key for key in said if key in kept):
        if isinstance(said[key], dict) and hasattr(kept[key], "model_type"):  # of a part
            yield from _unknown(said[key], kept[key], read | _read([kept[key]], OF_CONFIG))
        elif key in declared and said[key] == _usual(declared[key]):
            continue
        elif key not in heard and not _changes_nothing(key, said, config):
            yield f"{quoted(key)} {quoted(repr(said[key]))}"
    for key in (key for key in said if key in ROTATION and rotation):
        is_taken = key not in kept or key == "rope_parameters"
        is_heard = set(_numbers(said[key])) <= set(_numbers(rotation))
        if is_taken and (isinstance(said[key], str | list) or not is_heard):
            yield f"{key} {quoted(repr(said[key]))} beside another rotation"
    yield from _unknown_to_rotation(
        rotation, read.own | set(type(config).ignore_keys_at_rope_validation)
    )


def _usual(field: Field[Any]) -> object:
    """What a class has where a file is silent."""
    return field.default if field.default_factory is MISSING else field.default_factory()


def _changes_nothing(key: str, said: Mapping[str, Any], config: Any) -> bool:  # noqa: ANN401
    """Whether a key that is not read is known to change nothing, or says what is done anyway."""
    value, of_family = said[key], OF_FAMILY.get(str(said.get("model_type")), {})
    anyway = [table[key] for table in (NEUTRAL, of_family) if key in table]
    if value is None or (not value and not anyway) or value in anyway:
        return True
    if WITHOUT.fullmatch(key) or (key in WINDOWS and said.get(GATE) is False):
        return True
    if key == "head_dim":
        names = ("hidden_size", "num_attention_heads")
        width, heads = (getattr(config, name, None) for name in names)
        return isinstance(width, int) and isinstance(heads, int) and value == width // heads
    same, kept = SAME.get(key, ""), vars(config)
    return value in [x[same] for x in (kept, kept.get("rope_parameters") or {}) if same in x]


def _unknown_to_rotation(rotation: Mapping[str, Any], known: Set[str]) -> Iterator[str]:
    """The same of what is said of the rotation, or of that of each kind of layer."""
    kind = rotation.get("rope_type")
    inside = [one for one in rotation.values() if isinstance(one, dict)]
    taken = set() if inside else TAKEN.get(str(kind), DEFAULT) | known
    for key, value in rotation.items():
        if value and key not in taken and NEUTRAL.get(key) != value and value not in inside:
            yield f"{quoted(key)} {quoted(repr(value))} (rope_type {quoted(kind)})"
    for one in inside:
        yield from _unknown_to_rotation(one, known)


def _numbers(value: object) -> Iterator[float]:
    """All numbers in what JSON holds."""
    if isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _numbers(one)
    elif isinstance(value, int | float):
        yield value
