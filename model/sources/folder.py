"""What a folder of transformers holds, read from its small files and from headers alone.

What cannot be opened is refused here, before anything large is read.
"""

import json
import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from model.files import (
    LARGEST_CONFIG,
    MEGABYTE,
    StoredTensor,
    is_gguf,
    opened,
    read_header,
    read_json,
)
from model.lines import one_line, quoted, spelled
from model.sources import nanogpt, places
from model.verify.declared import Declared, of_config
from model.verify.header import as_config

VERSION = "5.23.0"  # of transformers, that this was tried with
FOR_GGUF = (f"transformers=={VERSION}", "gguf==0.19.0", "accelerate==1.15.0")
LARGEST_INDEX = 16 * MEGABYTE
WHOLE, INDEX = "model.safetensors", "model.safetensors.index.json"
POINTER = b"version https://git-lfs.github.com"
STORED = ("F16", "BF16", "F32", "F64")
SIZES = (("num_hidden_layers", "n_layer"), ("num_attention_heads", "n_head"))  # as configs say
LAYERS = re.compile("n_layers?|num_((hidden|encoder|decoder)_)?layers|(en|de)coder_layers")
COUNTS = re.compile(
    f"{LAYERS.pattern}|(.*_)?heads|n_head|n_embd|hidden_size|d_model|d_kv|head_dim|vocab_size"
    "|patch_size|image_size|max_position_embeddings|n_positions|max_seq_len|seq_length"
    "|intermediate_size|d_ff|n_inner|(.*_)?ffn_dim|num_labels"
)
NEEDED = re.compile("(en|de)coder_(layers|attention_heads)|d_model")  # null in them means nothing
PACKED = ("quantization_config", "quantization")  # as transformers and as MLX say it
WRAPPED = re.compile(r"\.(b?oft|hada|hra|ia3|lokr|lora|vera)_")  # in names of weights, by peft
AS_SAVED = "use the file that the model was saved with"
# What transformers calls the classes of a kind that takes a sentence as our models of it do.
KINDS = {"ForCausalLM": "decoder", "LMHeadModel": "decoder", "ForMaskedLM": "encoder"}
KINDS["ForImageClassification"] = "vision"


def refuse_unopenable(folder: Path, free: float) -> dict[str, Any]:
    """The config of a folder that can be opened; ValueError for one that cannot.

    free: bytes of memory that there are for it.
    """
    places.refuse_adapter(folder)
    config, stored = config_in(folder), stored_in(folder)
    if (folder / "tokenizer.json").is_file():
        _refuse_pointer(folder / "tokenizer.json")
    if not is_gguf(folder):
        _refuse_packed(folder, config, stored)
        _refuse_counts(folder, config)
        _refuse_kinds(folder, stored)
    _refuse_size(folder, stored, free)
    _refuse_more(folder, config, stored)
    return config


def config_in(folder: Path) -> dict[str, Any]:
    """What its config.json says; ValueError where that names no family."""
    if about := about_gguf(folder):
        config = about.config
    else:
        config = read_json(folder / "config.json", LARGEST_CONFIG)
    if nanogpt.is_its(config):
        config = nanogpt.as_gpt2(config)
    config = json.loads(json.dumps(config), object_hook=_as_number)
    config = {name: x for name, x in config.items() if x is not None or name not in PACKED}
    if not isinstance(config.get("model_type"), str):
        raise ValueError(f"{spelled(folder / 'config.json')} names no model_type of transformers")
    return config


def about_gguf(file: Path) -> Any:  # noqa: ANN401
    """See `gguf.read`; None for what is no such file. ValueError where packages lack for it."""
    if not is_gguf(file):
        return None
    _refuse_pointer(file)
    if lacking := [x for x in FOR_GGUF if find_spec(x.partition("==")[0]) is None]:
        names = " and ".join(x.partition("==")[0] for x in lacking)
        raise ValueError(
            f"files in GGUF need {names}, which is not installed; install it: pip install "
            + " ".join(lacking)
        )
    from model.sources.gguf import reading  # here, since not everybody has what it reads with

    return reading.read(file)


def kind_of(config: dict[str, Any]) -> str:
    """What kind of model its class or its sizes mean; empty where they say nothing."""
    other = "vision" if {"image_size", "patch_size"} <= config.keys() else ""
    called = class_name(config)
    return next((kind for end, kind in KINDS.items() if called.endswith(end)), other)


def reads_chats(folder: Path) -> bool:
    """Whether it is a decoder's and has a template of chats."""
    return kind_of(config_in(folder)) == "decoder" and bool(templates_in(folder))


def templates_in(folder: Path) -> list[str]:
    """Where a template of chats stands among its files, the one that is read first."""
    if about := about_gguf(folder):
        return ["tokenizer.chat_template"] if "tokenizer.chat_template" in about.said else []
    own, config = folder / "chat_template.jinja", folder / "tokenizer_config.json"
    said = read_json(config, LARGEST_CONFIG).get("chat_template") if config.is_file() else None
    if isinstance(said, list):  # several, each with what it is for
        named = {x.get("name"): x.get("template") for x in said if isinstance(x, dict)}
        said = named.get("default")
    found = {
        own.name: own.is_file() and own.stat().st_size,
        config.name: isinstance(said, str) and said,
    }
    return [name for name, has_one in found.items() if has_one]


def _as_number(given: dict[str, Any]) -> Any:  # noqa: ANN401
    """Infinity as transformers writes it, which JSON has no number for."""
    is_one = given.keys() == {"__float__"} and given["__float__"] in ("Infinity", "-Infinity")
    return float(given["__float__"]) if is_one else given


def declared_in(folder: Path, config: dict[str, Any]) -> Declared | None:
    """What its files say of attention, as they stand; None of a family that is not known."""
    if about := about_gguf(folder):
        return of_config(as_config(about.said, about.factors), "its header")
    return of_config(config)


def class_name(config: dict[str, Any]) -> str:
    """What config.json calls the class of the model; empty where it does not say."""
    names = config.get("architectures")
    return str(names[0]) if isinstance(names, list) and names else ""


def stored_in(folder: Path) -> dict[str, StoredTensor]:
    """What its weights files hold; ValueError where one is missing, a pointer or no safetensors."""
    if about := about_gguf(folder):
        return about.stored
    index = folder / INDEX
    is_whole = (folder / WHOLE).is_file() or not index.is_file()
    names = [WHOLE] if is_whole else _named_in(index)
    stored: dict[str, StoredTensor] = {}
    for name in names:
        path = folder / str(name)
        if path.parent != folder:
            raise ValueError(f"{spelled(index)} names a file outside of its folder; copy it again")
        if not path.is_file():
            nanogpt.refuse_pickle(folder)
            raise ValueError(_without_weights(folder, path))
        _refuse_pointer(path)
        stored |= read_header(path)
    return stored


def _named_in(index: Path) -> list[str]:
    """The files that an index of shards names."""
    files = read_json(index, LARGEST_INDEX).get("weight_map")
    if not isinstance(files, dict) or not all(isinstance(name, str) for name in files.values()):
        raise ValueError(f"{spelled(index)} names no file for each weight; copy the whole folder")
    return sorted(set(files.values()))


def _without_weights(folder: Path, path: Path) -> str:
    if packed := sorted(folder.glob("*.gguf")):
        return (
            f"{spelled(folder)} has its weights in GGUF; give the file, as "
            f"{quoted(packed[0].name)!r} in it"
        )
    if any(folder.glob("*.bin")):
        return (
            f"{spelled(folder)} has its weights in .bin files, which are never unpickled here; "
            "save it again as safetensors where you trust it"
        )
    return f"{spelled(path)} is missing; copy the whole folder"


def _refuse_pointer(path: Path) -> None:
    with opened(path) as file:
        start = file.read(256)
    if start.startswith(POINTER):
        size = start.partition(b"size ")[2].split(b"\n")[0].decode("ascii", "replace")
        of = f" to a file of {int(size) / MEGABYTE:,.0f} MB" if size.isdigit() else ""
        raise ValueError(
            f"{spelled(path)} is a pointer of Git LFS{of}; run git lfs pull in its folder"
        )


def _refuse_packed(folder: Path, config: dict[str, Any], stored: dict[str, StoredTensor]) -> None:
    """ValueError for weights that are not those of the model alone: quantised, or wrapped."""
    whole = (x.dtype for name, x in stored.items() if name.endswith("weight"))
    if any(name in config for name in PACKED) or any(x.startswith(("I", "U")) for x in whole):
        raise ValueError(
            f"{spelled(folder)} has quantised weights; open the model it was made from, in "
            "float16 or float32"
        )
    if name := next(filter(WRAPPED.search, stored), None):
        raise ValueError(
            f"{spelled(folder)} was saved with adapters (LoRA) in it, as {quoted(name)!r}; save "
            "what merge_and_unload of peft gives and open that"
        )


def _refuse_counts(folder: Path, config: dict[str, Any]) -> None:
    """ValueError for a number of layers, heads, … that is none; lists mean something."""
    for name in filter(COUNTS.fullmatch, config):
        value = config[name]
        is_none = value is None and NEEDED.fullmatch(name)
        if is_none or type(value) in (bool, float, str) or (type(value) is int and value < 1):
            raise ValueError(
                f"{spelled(folder / 'config.json')}: {name} is {quoted(repr(value))}; it must "
                f"be a whole number above 0; {AS_SAVED}"
            )


def _refuse_kinds(folder: Path, stored: dict[str, StoredTensor]) -> None:
    for name, tensor in stored.items():
        if tensor.dtype not in STORED and not tensor.dtype.startswith(("I", "U", "BOOL")):
            raise ValueError(
                f"{spelled(folder)}: {quoted(name)} is stored as {quoted(tensor.dtype)}; "
                "convert it to float16 or float32"
            )


def _refuse_size(folder: Path, stored: dict[str, StoredTensor], free: float) -> None:
    """ValueError for weights beyond memory, where what is dequantised is copied twice besides."""
    needed, how = 4 * n_numbers(stored), ""
    if is_gguf(folder):
        largest = max((math.prod(x.shape) for x in stored.values()), default=0)
        needed, how = needed + 8 * largest, " while they are dequantised"
    if needed > 0.8 * free:
        raise ValueError(
            f"{spelled(folder)}: its weights need {needed / 1e9:.1f} GB in float32{how}, and "
            f"{free / 1e9:.1f} GB of memory are free; close what needs memory, or take a smaller "
            "model"
        )


def n_numbers(stored: dict[str, StoredTensor]) -> int:
    """How many numbers weights files hold."""
    return sum(math.prod(tensor.shape) for tensor in stored.values())


def _refuse_more(folder: Path, config: dict[str, Any], stored: dict[str, StoredTensor]) -> None:
    """ValueError for more layers or labels than there are weights for, before one is built."""
    depths = [config[name] for name in filter(LAYERS.fullmatch, config)]
    deepest = max((n for n in depths if isinstance(n, int)), default=0)
    labels, width = config.get("num_labels"), config.get("hidden_size")
    of_labels = labels * width if isinstance(labels, int) and isinstance(width, int) else 0
    for n, what, n_stored, of in (
        (deepest, "layers", len(stored), "tensors"),
        (of_labels, "numbers for its labels", n_numbers(stored), "numbers"),
    ):
        if n > n_stored:
            raise ValueError(
                f"{spelled(folder)}: its config means {n:,} {what}, and its weights are "
                f"{n_stored:,} {of}; the two belong to different models"
            )


@contextmanager
def in_one_line(folder: Path, what: str) -> Iterator[None]:
    """Whatever the library raises on files of anyone is a ValueError of one line."""
    try:
        yield
    except ImportError as error:  # its text says what to install
        raise ValueError(f"{spelled(folder)}: {what}: {one_line(str(error))}") from None
    except Exception as error:
        _refuse_unknown_value(folder, error)
        raise ValueError(
            f"{spelled(folder)}: {what}: {one_line(str(error))}; its files may be damaged or of "
            "different models, copy the whole folder"
        ) from None


def _refuse_unknown_value(folder: Path, error: Exception) -> None:
    """ValueError for what the library does not take in config.json, as a name or a null."""
    sought = error.args[:1] if isinstance(error, KeyError) else ()
    for name, value in config_in(folder).items():
        is_unknown = isinstance(value, str) and value in sought
        if is_unknown or f"Field '{name}' expected" in str(error):
            raise ValueError(
                f"{spelled(folder / 'config.json')}: {name} is {quoted(repr(value))}, which "
                f"transformers does not take; {AS_SAVED}"
            ) from None
