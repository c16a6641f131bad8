"""Models that nanoGPT trained, as transformers has them: each is a GPT-2, laid out in another way.

Such a folder has config.json, the `model_args` of nanoGPT's file, and model.safetensors.
"""

import os
from pathlib import Path
from typing import Any

from model.files import LARGEST_CONFIG, read_json
from model.lines import quoted, spelled

SAME = ("n_layer", "n_head", "n_embd", "vocab_size")  # named as in a GPT2Config
NEEDED = {*SAME, "block_size"}
KNOWN = {*NEEDED, "bias", "dropout", "activation_function"}
TRANSPOSED = (".c_attn.weight", ".c_fc.weight", ".c_proj.weight")
BIASED = (*TRANSPOSED, ".ln_1.weight", ".ln_2.weight", ".ln_f.weight")


def is_its(config: dict[str, Any]) -> bool:
    """Whether a config.json is what nanoGPT calls model_args."""
    return "model_type" not in config and config.keys() >= NEEDED


def as_gpt2(args: dict[str, Any]) -> dict[str, Any]:
    """The config.json of transformers for model_args; ValueError where these are another's."""
    if unknown := sorted(args.keys() - KNOWN):
        raise ValueError(
            f"config.json has {quoted(unknown[0])!r}, which nanoGPT's model_args do not; only its "
            "own model is opened, not one that was changed"
        )
    return {
        "model_type": "gpt2",
        "architectures": ["GPT2LMHeadModel"],
        **{name: args[name] for name in SAME},
        "n_positions": args["block_size"],
        "activation_function": args.get("activation_function", "gelu"),  # the exact one
        "bos_token_id": None,
        "eos_token_id": None,
    }


def weights(folder: Path) -> dict[str, Any] | None:
    """Tensors of nanoGPT as GPT-2 has them, with all biases; None for another kind of folder.

    A square matrix does not say how it lies: in its files all are (out, in), in GPT-2's (in, out).
    """
    args = read_json(folder / "config.json", LARGEST_CONFIG)
    if not is_its(args):
        return None
    from safetensors.torch import load_file  # here, since it loads torch

    tensors = load_file(folder / "model.safetensors")
    for name in [name for name in tensors if name.endswith(BIASED)]:
        bias = f"{name.removesuffix('weight')}bias"
        if not args.get("bias", True) and bias in tensors:
            raise ValueError(f"config.json says that there is no bias, and there is {quoted(bias)}")
        if not args.get("bias", True):
            tensors[bias] = tensors[name].new_zeros(len(tensors[name]))
        if name.endswith(TRANSPOSED):
            tensors[name] = tensors[name].t().contiguous()
    for head in [name for name in tensors if name.endswith("lm_head.weight")]:
        table = tensors.get(head.replace("lm_head", "transformer.wte"))
        if table is not None and table.shape == tensors[head].shape and table.equal(tensors[head]):
            del tensors[head]  # transformers ties both
    return tensors


def refuse_pickle(folder: Path) -> None:
    """ValueError for a folder in which there is nanoGPT's own file."""
    if os.path.isfile(folder / "ckpt.pt"):  # false for a name that no file can have
        raise ValueError(
            f"{spelled(folder)} has its model in ckpt.pt, which is never unpickled here; where you "
            "trust it, write model.safetensors and config.json beside it, by the lines in "
            "docs/own-models.md under: nanoGPT"
        )
