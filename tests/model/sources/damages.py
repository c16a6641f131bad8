"""Ways in which the folder of a checkpoint can be broken, by name: what anyone may be sent."""

import json
import os
import stat
import struct
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor

from model.data.tokenizer import train_characters
from tests.model.builders import edit_json

Damage = Callable[[Path], object]


def rewrite_header(folder: Path, change: Callable[[dict[str, object]], object]) -> None:
    """Apply a change to the config in the header of the weights."""
    path = folder / "model.safetensors"
    with safe_open(path, framework="pt") as file:
        config = json.loads(file.metadata()["config"])
    change(config)
    save_file(load_file(path), path, {"config": json.dumps(config)})


def edit_weights(change: Callable[[dict[str, Tensor]], object]) -> Damage:
    """Damage that changes the stored weights."""

    def damage(folder: Path) -> None:
        weights = load_file(folder / "model.safetensors")
        change(weights)
        save_file(weights, folder / "model.safetensors")

    return damage


def edit_config(**changes: object) -> Damage:
    """Damage that sets values in config.json."""
    return lambda folder: edit_json(folder / "config.json", lambda fields: fields.update(changes))


def edit_tokenizer(change: Callable[[dict[str, Any]], object]) -> Damage:
    """Damage that changes tokenizer.json."""
    return lambda folder: edit_json(folder / "tokenizer.json", change)


def drop_config(*names: str) -> Damage:
    """Damage that takes keys out of config.json."""

    def damage(folder: Path) -> None:
        edit_json(folder / "config.json", lambda fields: [fields.pop(name) for name in names])

    return damage


def write(name: str, text: str) -> Damage:
    """Damage that replaces a file."""
    return lambda folder: (folder / name).write_bytes(text.encode("latin-1"))


def cut(name: str) -> Damage:
    """Damage that takes the end off a file."""
    return lambda folder: (folder / name).write_bytes((folder / name).read_bytes()[:-7])


def remove(name: str) -> Damage:
    """Damage that takes a file away."""
    return lambda folder: (folder / name).unlink()


def replace_by(name: str, make: Callable[[Path], object]) -> Damage:
    """Damage that puts something else in a file's place."""

    def damage(folder: Path) -> None:
        (folder / name).unlink()
        make(folder / name)

    return damage


def link_to(target: str) -> Callable[[Path], None]:
    """What puts a symbolic link in a place."""
    return lambda path: path.symlink_to(target)


def grow(name: str, n_bytes: int) -> Damage:
    """Damage that makes a file huge without filling the disk."""
    return lambda folder: os.truncate(folder / name, n_bytes)


def forbid(name: str) -> Damage:
    """Damage that takes the right to read a file."""
    return lambda folder: (folder / name).chmod(stat.S_IWUSR)


def lose_key_of_d_ff(folder: Path) -> None:
    """A config in which d_ff must be derived from a d_model that is null."""
    drop_config("d_ff")(folder)
    edit_config(d_model=None)(folder)


def store_as(dtype: torch.dtype) -> Damage:
    """Damage that stores the weights in another type, as quantisation does without its scales."""
    return edit_weights(
        lambda weights: weights.update({name: x.to(dtype) for name, x in weights.items()})
    )


def take_other_tokenizer(folder: Path) -> None:
    """A tokenizer of another size."""
    train_characters(["abc"]).save(folder / "tokenizer.json")


def huge_header(folder: Path) -> None:
    """A weights file whose first eight bytes announce a header of 2⁶² bytes."""
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", 2**62) + b"{}")


def strange_header(header: object) -> Damage:
    """A weights file whose header is JSON, but not of safetensors."""
    content = json.dumps(header).encode()

    def damage(folder: Path) -> None:
        path = folder / "model.safetensors"
        path.write_bytes(struct.pack("<Q", len(content)) + content + bytes(64))

    return damage


def beyond_float32(weights: dict[str, Tensor]) -> None:
    """Numbers that float64 holds and float32 does not."""
    weights["embed.weight"] = torch.full_like(weights["embed.weight"], 1e200, dtype=torch.float64)


_SIZES = (
    "vocab_size", "d_model", "n_layers", "n_heads", "n_kv_heads", "d_ff", "max_seq_len",
)  # fmt: skip
_COUNTS = ("window", "prefix_len", "n_global")
_NAMES = ("position", "norm", "norm_placement", "feedforward", "mask")
_SWITCHES = ("bias", "tied_embeddings", "scale_embeddings")
_NUMBERS = ("dropout", "norm_eps", "position_base")
_NO_INTEGERS: dict[str, object] = {
    "text": "2",
    "a fraction": 2.5,
    "true": True,
    "a list": [2],
    "an object": {"2": 2},
    "minus one": -1,
    "10⁹": 10**9,
    "10³⁰": 10**30,
    "4,000 digits": int("9" * 4000),
}
_ANYWHERE = ("text", "10⁹")
_NO_NUMBERS: dict[str, object] = {
    "null": None,
    "text": "0.1",
    "true": True,
    "a list": [0.1],
    "minus one": -1,
    "infinity": float("inf"),
    "NaN": float("nan"),
    "4,000 digits": int("9" * 4000),
}


def _every_field() -> dict[str, Damage]:
    """Some wrong values in every field of the config, and all of them in one of each type."""
    wrong = [(name, kind, _NO_INTEGERS[kind]) for name in (*_SIZES, *_COUNTS) for kind in _ANYWHERE]
    wrong += [(name, "zero", 0) for name in _SIZES]
    wrong += [("d_ff", kind, value) for kind, value in _NO_INTEGERS.items()]
    wrong += [(name, "text", "0.1") for name in _NUMBERS]
    wrong += [("norm_eps", kind, value) for kind, value in _NO_NUMBERS.items()]
    wrong += [(name, "'x'", "x") for name in _NAMES]
    wrong += [("norm", repr(x)[:12], x) for x in (None, "", 1, ["rms"], "LAYER", "x" * 20_000)]
    wrong += [(name, "'yes'", "yes") for name in _SWITCHES]
    wrong += [("bias", repr(x), x) for x in (None, 0, 1, [])]
    return {f"{name} {kind}": edit_config(**{name: value}) for name, kind, value in wrong}


def _every_file() -> dict[str, Damage]:
    """A thing that is no readable file in the place of each file."""
    makes: dict[str, Callable[[Path], object]] = {
        "a folder": Path.mkdir,
        "a pipe": os.mkfifo,
        "/dev/zero": link_to("/dev/zero"),
        "/dev/null": link_to("/dev/null"),
        "a link to nothing": link_to("nowhere"),
        "a link to itself": lambda path: path.symlink_to(path.name),
    }
    found: dict[str, Damage] = {}
    for name in ("config.json", "tokenizer.json", "model.safetensors"):
        for kind, make in makes.items():
            found[f"{name} {kind}"] = replace_by(name, make)
        found[f"{name} missing"] = remove(name)
        found[f"{name} cut"] = cut(name)
        found[f"{name} empty"] = write(name, "")
        found[f"{name} no UTF-8"] = write(name, "\xff\xfe{}")
        found[f"{name} an HTML page"] = write(name, "<!doctype html><title>Not found</title>")
        found[f"{name} a pickle"] = write(name, "\x80\x04\x95cos\nsystem\n(S'true'\ntR.")
        found[f"{name} deep"] = write(name, 99_999 * "[")
        found[f"{name} a list"] = write(name, "[]")
    found["config.json huge"] = grow("config.json", 2_000_000_000)
    found["tokenizer.json huge"] = grow("tokenizer.json", 2_000_000_000)
    found["model.safetensors huge"] = grow("model.safetensors", 2_000_000_000)
    return found


def _with_model(**fields: object) -> Damage:
    return edit_tokenizer(lambda tokenizer: tokenizer["model"].update(fields))


def _expanding(depth: int) -> dict[str, object]:
    """A normalizer that makes a text of n letters one of n · 2^depth."""
    double = {"type": "Replace", "pattern": {"String": "a"}, "content": "aa"}
    return {"type": "Sequence", "normalizers": [double] * depth}


def _growing(*factors: int) -> dict[str, object]:
    """A decoder that makes each t of a text as many as all factors together."""
    parts = [{"type": "Replace", "pattern": {"String": "t"}, "content": "t" * n} for n in factors]
    return {"type": "Sequence", "decoders": [{"type": "Fuse"}, *parts]}


TOKENIZERS: dict[str, Damage] = {
    "tokenizer truncates": edit_tokenizer(
        lambda x: x.update(
            truncation={
                "direction": "Right",
                "max_length": 3,
                "strategy": "LongestFirst",
                "stride": 0,
            }
        )
    ),
    "tokenizer pads": edit_tokenizer(
        lambda x: x.update(
            padding={
                "strategy": {"Fixed": 9},
                "direction": "Right",
                "pad_to_multiple_of": None,
                "pad_id": 0,
                "pad_type_id": 0,
                "pad_token": "<|endoftext|>",
            }
        )
    ),
    "tokenizer with a hole": edit_tokenizer(lambda x: x["model"]["vocab"].update(a=99)),
    "tokenizer with two of one id": edit_tokenizer(lambda x: x["model"]["vocab"].update(a=3)),
    "tokenizer without the unknown": edit_tokenizer(lambda x: x["model"].update(unk_token="[UNK]")),
    "tokenizer expands": edit_tokenizer(lambda x: x.update(normalizer=_expanding(40))),
    "tokenizer expands what it decodes": edit_tokenizer(
        lambda x: x.update(decoder=_growing(1000, 1000, 1000))
    ),
    "tokenizer that may panic": edit_tokenizer(
        lambda x: x.update(decoder={"type": "Strip", "content": "x", "start": 100, "stop": 100})
    ),
    "tokenizer of many parts": edit_tokenizer(
        lambda x: x.update(
            normalizer={"type": "Sequence", "normalizers": [{"type": "NFKD"}] * 20_000}
        )
    ),
    "tokenizer whose unknown is a character": edit_tokenizer(
        lambda x: x["model"].update(
            unk_token="[UNK]", vocab={**x["model"]["vocab"], "\U0010fffd": 13}
        )
    ),
    "tokenizer without a model": edit_tokenizer(lambda x: x.pop("model")),
    "tokenizer of no kind": _with_model(type="Nonsense"),
    "tokenizer without a vocabulary": _with_model(vocab={}),
    "tokenizer with a vocabulary of text": _with_model(vocab={"a": "b"}),
    "tokenizer BPE without bytes": edit_tokenizer(
        lambda x: x.update(model={"type": "BPE", "vocab": x["model"]["vocab"], "merges": []})
    ),
    "tokenizer of another model": take_other_tokenizer,
}

WEIGHTS: dict[str, Damage] = {
    "weights header huge": huge_header,
    "weights header a list": strange_header([]),
    "weights header of text": strange_header({"embed.weight": "x"}),
    "weights header without shape": strange_header({"embed.weight": {"dtype": "F32"}}),
    "weights header overlapping": strange_header(
        {
            name: {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]}
            for name in ("embed.weight", "final_norm.gain")
        }
    ),
    "weights header beyond the file": strange_header(
        {"embed.weight": {"dtype": "F32", "shape": [13, 30], "data_offsets": [0, 10**12]}}
    ),
    "weights header negative": strange_header(
        {"embed.weight": {"dtype": "F32", "shape": [-13, 30], "data_offsets": [0, 64]}}
    ),
    "weight missing": edit_weights(lambda w: w.pop("blocks.1.attn.q_proj.weight")),
    "weight unknown": edit_weights(lambda w: w.update(extra=torch.zeros(3))),
    "weight unknown with a long name": edit_weights(
        lambda w: w.update({"x" * 20_000: torch.zeros(3)})
    ),
    "weight of another shape": edit_weights(
        lambda w: w.update({"embed.weight": torch.zeros(13, 7)})
    ),
    "weight transposed": edit_weights(
        lambda w: w.update({"embed.weight": w["embed.weight"].T.contiguous()})
    ),
    "weight a number": edit_weights(lambda w: w.update({"embed.weight": torch.tensor(1.0)})),
    "NaN": edit_weights(lambda w: w["final_norm.gain"][:3].fill_(torch.nan)),
    "infinity": edit_weights(lambda w: w["embed.weight"][1, :2].fill_(-torch.inf)),
    "beyond float32": edit_weights(beyond_float32),
    "no weights": edit_weights(lambda w: w.clear()),
    "more layers than weights": edit_config(n_layers=3),
    "fewer layers than weights": edit_config(n_layers=1),
    "a thousand layers": edit_config(n_layers=1000),
    "100,000 layers": edit_config(n_layers=100_000),
    "heads that do not divide": edit_config(n_heads=7),
    "d_ff beyond the file": edit_config(d_ff=2**20),
    "unknown key": edit_config(colour=1),
    "20,000 unknown keys": edit_config(**{f"key{n}": n for n in range(20_000)}),
    "another architecture": edit_config(architecture="x" * 20_000),
    "architecture a number": edit_config(architecture=3),
    "d_ff of a null": lose_key_of_d_ff,
    **{
        f"weights as {dtype}": store_as(dtype)
        for dtype in (torch.int8, torch.int64, torch.bool, torch.float8_e4m3fn)
    },
    **{
        f"header says {name}": partial(
            rewrite_header,
            change=lambda config, name=name, value=value: config.update({name: value}),
        )
        for name, value in {"n_heads": 7, "unheard": 1, "n_global": 3, "mask": "prefix"}.items()
    },
    **{
        f"config lacks {name}": drop_config(name)
        for name in ("vocab_size", "d_model", "n_layers", "n_heads", "max_seq_len")
    },
}

EVERY: dict[str, Damage] = {**_every_field(), **_every_file(), **TOKENIZERS, **WEIGHTS}
if os.geteuid() != 0:  # root may read everything
    EVERY |= {
        f"{name} unreadable": forbid(name)
        for name in ("config.json", "tokenizer.json", "model.safetensors")
    }
