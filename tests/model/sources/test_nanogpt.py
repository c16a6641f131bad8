"""Protects folders of nanoGPT, and of wrapped models: their logits are those of their own files."""

import contextlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from model.sources.places import given_folder
from model.sources.table import open_named
from model.sources.transformers import load
from tests.model.adopted.families import D, build, tokens
from tests.model.builders import edit_json

TEXT = "the red ball gave a dog"
PREFIX, OTHER = "_orig_mod.module.", "module._orig_mod."
ABOUT = Path(__file__).resolve().parents[3] / "docs" / "own-models.md"
LINES = ABOUT.read_text("utf-8").split("```python")[1].split("```")[0]
ARGS = {"n_layer": 3, "n_head": 4, "n_embd": D, "block_size": 48, "vocab_size": 300, "dropout": 0.0}


def made(top: Path, **args: Any) -> tuple[Path, Path]:  # noqa: ANN401
    """A GPT-2, saved while it was wrapped, and the same of nanoGPT by the lines of the docs."""
    args = {"bias": True, "activation_function": "gelu", **args}
    model = build("gpt2", vocab_size=300, activation_function=args["activation_function"])
    kept = {}
    for name, weight in model.state_dict().items():
        if name.endswith("bias") and not args["bias"]:
            weight.zero_()
        else:
            kept[PREFIX + name] = weight.t() if ".h." in name else weight
    folders = top / "gpt2", top / "nanogpt"
    for folder in folders:
        model.save_pretrained(folder)
        tokens().save_pretrained(folder)
        (folder / "model.safetensors").unlink()
    wrapped = {OTHER + name: weight.data for name, weight in model.named_parameters()}
    save_file(wrapped, folders[0] / "model.safetensors", {"format": "pt"})
    with contextlib.chdir(folders[1]):
        torch.save({"model": kept, "model_args": {**ARGS, **args}, "iter_num": 5}, "ckpt.pt")
        exec(LINES, {})
    return folders


@pytest.mark.parametrize(("name", "bias"), [("gelu", True), ("gelu_new", False)])
def test_logits_are_those_of_the_gpt2_it_is(name: str, bias: bool, tmp_path: Path) -> None:
    gpt2, nanogpt = made(tmp_path, bias=bias, activation_function=name)
    same, model = load(gpt2, "cpu"), load(nanogpt, "cpu")
    trace = model.trace(TEXT).trace
    np.testing.assert_allclose(trace.logits, same.trace(TEXT).trace.logits, atol=1e-6)
    for prefix, opened in ((PREFIX, model), (OTHER, same)):
        said = f"{prefix} was taken off the names of its weights"
        assert opened.off == () and any(said in one.text for one in opened.report)


def test_a_pickle_alone_is_refused_with_the_way_to_open_it(tmp_path: Path) -> None:
    folder = made(tmp_path)[1]
    for gone in ("model.safetensors", "config.json"):
        (folder / gone).unlink()
        with pytest.raises(ValueError, match=r"trust it, write model\.safetensors and config"):
            open_named(str(folder), "cpu")
    with pytest.raises(ValueError, match=r"trust it, write model\.safetensors and config"):
        given_folder(str(folder))


def test_a_name_that_is_there_twice_is_off(tmp_path: Path) -> None:
    folder = made(tmp_path)[1]
    stored = load_file(folder / "model.safetensors")
    stored["transformer.wpe.weight"] = stored[f"{PREFIX}transformer.wpe.weight"] + 1
    save_file(stored, folder / "model.safetensors", {"format": "pt"})
    (line,) = load(folder, "cpu").off
    assert line == "transformer.wpe.weight is in its files under several names"


MISFITS: dict[str, tuple[object, str]] = {
    "block_size": (32, "weights have other shapes than its config means, as"),
    "n_head": (5, "cannot be opened: "),
    "vocab_size": (280, "weights have other shapes than its config means, as"),
    "bias": (False, "config.json says that there is no bias, and there is"),
    "use_relu": (True, "has 'use_relu', which nanoGPT's model_args do not"),
}


@pytest.mark.parametrize("name", MISFITS)
def test_weights_that_do_not_fit_are_one_line(name: str, tmp_path: Path) -> None:
    value, expected = MISFITS[name]
    folder = made(tmp_path)[1]
    edit_json(folder / "config.json", lambda fields: fields.update({name: value}))
    with pytest.raises(ValueError) as caught:
        load(folder, "cpu")
    assert expected in str(caught.value) and "\n" not in str(caught.value)
