"""What headers of several families say alike: sizes, rotation, windows, caps."""

import math
from typing import Any

from model.lines import quoted
from model.sources.gguf.header import Header

RMS_EPSILON = "attention.layer_norm_rms_epsilon"
EPSILON = "attention.layer_norm_epsilon"
WINDOW, PATTERN = "attention.sliding_window", "attention.sliding_window_pattern"
ROTATED, BASE, SWA_BASE = "rope.dimension_count", "rope.freq_base", "rope.freq_base_swa"
KEY_LENGTH, VALUE_LENGTH = "attention.key_length", "attention.value_length"
USUAL_BASE = 10_000.0
UNTURNED = 1e20  # a factor beyond which nothing turns
FREQUENCIES = "rope_freqs.weight"
LONG, SHORT = "rope_factors_long.weight", "rope_factors_short.weight"
FACTORS = (FREQUENCIES, LONG, SHORT)  # tensors that belong to the config: how rotation is scaled
Built = dict[str, Any]


def sizes_of(header: Header) -> Built:
    """Sizes that nearly every family has, by the names of most configs."""
    heads = header.count("attention.head_count")
    return {
        "vocab_size": n_words(header),
        "hidden_size": header.count("embedding_length"),
        "num_hidden_layers": n_layers(header),
        "num_attention_heads": heads,
        "num_key_value_heads": header.count("attention.head_count_kv", heads),
        "intermediate_size": header.count("feed_forward_length"),
        "max_position_embeddings": header.count("context_length"),
        "tie_word_embeddings": not header.has("output.weight"),
    }


def n_layers(header: Header) -> int:
    """How many blocks; ValueError for more than there are tensors."""
    n, n_tensors = header.count("block_count"), len(header.stored)
    if n > n_tensors:
        raise ValueError(
            f"{header.architecture}.block_count means {n:,} layers, and its weights are "
            f"{n_tensors:,} tensors"
        )
    return n


def n_words(header: Header) -> int:
    """Rows of the table of embeddings, where a header does not say."""
    table = header.stored.get("token_embd.weight")
    if table is None:
        raise ValueError("it has no token_embd.weight")
    return header.count("vocab_size", table.shape[0])


def head_width(header: Header, sizes: Built) -> int:
    """Values of a key in a head; a value must be as wide."""
    width = header.count(KEY_LENGTH, sizes["hidden_size"] // sizes["num_attention_heads"])
    header.agree(VALUE_LENGTH, width)
    return width


def of_layers(header: Header, key: str, is_other: list[bool]) -> tuple[int, int]:
    """What a key says of some layers and of the others; ValueError where either differ."""
    said = header.own(key)
    if not isinstance(said, list):
        return (n := header.count(key)), n
    parts = [{x for x, y in zip(said, is_other, strict=False) if y == of} for of in (False, True)]
    is_whole = are_whole(said, least=1)
    if len(said) < len(is_other) or not is_whole or any(len(part) > 1 for part in parts):
        raise ValueError(
            f"{header.architecture}.{key} is {quoted(str(said))}; it must be one whole number for "
            f"all of {len(is_other)} layers, or one for each kind of them"
        )
    one, other = map(list, parts)
    return (one or other)[0], (other or one)[0]


def are_whole(values: list[Any], least: int = 0) -> bool:
    """Whether all are whole numbers not below `least`, or truths."""
    return all(isinstance(x, int) and x >= least for x in values)


def refuse_groups(header: Header, sizes: Built) -> None:
    """ValueError where several heads share keys, which a class does not have."""
    n_heads, n_kv_heads = sizes["num_attention_heads"], sizes["num_key_value_heads"]
    if n_heads != n_kv_heads:
        raise ValueError(
            f"{header.architecture}.attention.head_count_kv is {n_kv_heads}, and its class has as "
            f"many heads of keys as of queries, {n_heads}"
        )


def rotation(header: Header, width: int, *, is_partial: bool = False) -> Built:
    """`rope_parameters` of a header. width: of a head, of which a class may turn a part."""
    turned, n_turned = {}, width
    if is_partial:
        n_turned = header.count(ROTATED, width)
        turned["partial_rotary_factor"] = _share(n_turned, width)
    else:
        header.agree(ROTATED, width)
    if n_turned > width or n_turned % 2:
        raise ValueError(
            f"{header.architecture}.{ROTATED} is {n_turned}; pairs turn, of {width} values a head"
        )
    for name, factors in header.factors.items():
        if factors.shape != (n_turned // 2,):
            raise ValueError(f"{name} has shape {factors.shape}, and {n_turned // 2} pairs turn")
    return {"rope_theta": header.number(BASE, USUAL_BASE), **turned, **_scaling(header)}


def _share(n: int, of: int) -> float:
    """n / of, such that `int(of * share)` is n again."""
    share = n / of
    return share if int(of * share) == n else math.nextafter(share, 1)


def _scaling(header: Header) -> Built:
    """How rotation is scaled: linear (Chen et al. 2023), YaRN (Peng et al. 2023) or by factors.

    Factors are Llama 3's, of which files tell no more, or LongRoPE's (Ding et al. 2024).
    """
    kind = header.own("rope.scaling.type", "linear")
    factor = 1.0
    if kind == "longrope":
        header.agree("rope.scaling.factor", 1)
    else:
        factor = header.given("rope.scaling.factor") or header.given("rope.scale_linear") or factor
    first = header.count("rope.scaling.original_context_length", header.count("context_length"))
    slow, fast = (header.given(f"rope.scaling.yarn_beta_{x}") for x in ("slow", "fast"))
    if kind not in ("none", "linear", "yarn", "longrope"):
        raise ValueError(
            f"{header.architecture}.rope.scaling.type is {quoted(str(kind))}; none, linear, yarn "
            "and longrope are known"
        )
    by_context = {"original_max_position_embeddings": first}
    whole = factor if kind == "linear" else 1.0
    lists = {name: [float(x) * whole for x in header.factors[name]] for name in header.factors}
    if lists and kind == "yarn":
        raise ValueError(
            f"{header.architecture}.rope.scaling.type is yarn, and {min(lists)} scales rotation, "
            "too; files say one of them"
        )
    if lists:
        one = lists.get(FREQUENCIES) or lists.get(SHORT) or lists[LONG]
        return {
            "rope_type": "longrope",
            "short_factor": lists.get(SHORT, one),
            "long_factor": lists.get(LONG, one),
            "attention_factor": header.number("rope.scaling.attn_factor", 1.0),
            "factor": 1.0,
            **by_context,
        }
    if kind == "yarn":
        attention = _lengthened(header, factor)
        yarn = {"beta_fast": fast, "beta_slow": slow, "attention_factor": attention}
        known = {name: value for name, value in yarn.items() if value is not None}
        return {"rope_type": "yarn", "factor": factor, **known, **by_context}
    if kind == "linear" and factor != 1:
        return {"rope_type": "linear", "factor": factor}
    return {"rope_type": "default"}


def _lengthened(header: Header, factor: float) -> float | None:
    """By what YaRN multiplies cosines and sines; None where that hangs on its factor alone.

    The converter writes all of it as yarn_attn_factor. What attn_factor says llama.cpp multiplies
    with that, or with its own, 1 + 0.1 ln factor (ggml's rope_yarn).
    """
    whole, more = (header.given(f"rope.scaling.{x}attn_factor") for x in ("yarn_", ""))
    if more is None:
        return whole
    return more * (whole or 1 + 0.1 * math.log(max(factor, 1)))


def window_of(header: Header) -> int | None:
    """How many tokens a query sees, itself included; None for all before it."""
    return header.count(WINDOW, 0, least=0) or None


def proportional(rope: Built) -> Built:
    """The same rotation where factors say of some values that they do not turn at all."""
    factors = rope.get("short_factor", [])
    n_turned = sum(x == 1 for x in factors)
    if not factors or n_turned + sum(x > UNTURNED for x in factors) < len(factors):
        return rope
    share = _share(n_turned, len(factors))
    theta = rope["rope_theta"]
    return {"rope_type": "proportional", "rope_theta": theta, "partial_rotary_factor": share}


def sliding(header: Header, period: int) -> list[bool]:
    """Which layers see a window: all but each last one of a period, or as a list says."""
    said, depth = header.own(PATTERN, period), n_layers(header)
    if isinstance(said, list) and len(said) >= depth and are_whole(said):
        return [bool(x) for x in said[:depth]]
    if isinstance(said, bool) or not isinstance(said, int) or said < 0:
        raise ValueError(
            f"{header.architecture}.{PATTERN} is {quoted(str(said))}; it must be a whole number, "
            f"or say of each of {depth} layers whether it sees a window"
        )
    return [said == 0 or layer % said < said - 1 for layer in range(depth)]


def kinds_of_layers(slides: list[bool]) -> list[str]:
    """What transformers calls the layers that slide, and those that do not."""
    return ["sliding_attention" if x else "full_attention" for x in slides]


def is_biased(header: Header, *parts: str) -> bool:
    """Whether all of some matrices of a layer have a bias, as the class has them."""
    return all(header.has(f"{part}.bias") for part in parts)


def cap_of(header: Header, key: str, usual: float) -> float | None:
    """A soft cap; None where a header says that there is none."""
    return usual if header.own(key) is None else header.given(key)


def without_usual_width(config: Built) -> Built:
    """Some classes have no width of a head, but take one from a config that does."""
    usual = config["hidden_size"] // config["num_attention_heads"]
    return {x: value for x, value in config.items() if (x, value) != ("head_dim", usual)}
