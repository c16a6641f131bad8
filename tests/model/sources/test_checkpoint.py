"""Protects checkpoints: what was saved is what is loaded, and a broken one says so in one line."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from model.commands import generate
from model.files import replacing
from model.sources import checkpoint
from tests.model.builders import (
    GROUPED,
    SENTENCE,
    tiny_checkpoint,
    tiny_model,
    tiny_tokenizer,
)
from tests.model.conftest import Command
from tests.model.sources.damages import (
    EVERY,
    Damage,
    beyond_float32,
    cut,
    drop_config,
    edit_config,
    edit_weights,
    huge_header,
    lose_key_of_d_ff,
    remove,
    replace_by,
    rewrite_header,
    store_as,
    take_other_tokenizer,
    write,
)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=str)
@pytest.mark.parametrize("tied", [True, False])
def test_loaded_is_saved(dtype: torch.dtype, tied: bool, tmp_path: Path) -> None:
    tokenizer = tiny_tokenizer()
    variant = {"position": "learned", "norm": "rms", "feedforward": "swiglu"}
    sizes = {"vocab_size": tokenizer.vocab_size, **GROUPED}
    model = tiny_model(**variant, **sizes, tied_embeddings=tied)
    checkpoint.save(tmp_path / "mine", model, tokenizer, dtype)
    loaded = checkpoint.load(tmp_path / "mine", device="cpu")
    assert (loaded.name, loaded.folder) == ("mine", tmp_path / "mine")
    assert loaded.config == model.config
    assert loaded.tokenizer.encode(SENTENCE) == tokenizer.encode(SENTENCE)
    weights = loaded.model.state_dict()
    for name, weight in model.state_dict().items():
        assert torch.equal(weights[name], weight.to(dtype).float()), name
    assert (loaded.model.unembed.weight is loaded.model.embed.weight) == tied
    assert not loaded.model.training
    assert not any(weight.requires_grad for weight in loaded.model.parameters())


def test_file_holds_half_precision_and_tied_weights_once(tmp_path: Path) -> None:
    weights = load_file(tiny_checkpoint(tmp_path) / "model.safetensors")
    assert {weight.dtype for weight in weights.values()} == {torch.float16}
    assert "embed.weight" in weights
    assert "unembed.weight" not in weights


def test_saving_leaves_just_the_files_and_what_is_noted_of_them(tmp_path: Path) -> None:
    tiny_checkpoint(tmp_path)
    names = {path.name for path in tiny_checkpoint(tmp_path).iterdir()}
    files = {"config.json", "model.safetensors", "tokenizer.json"}
    assert names == files | {"SHA256SUMS", "recorded.json"}


def test_a_failure_in_the_middle_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    message = "cannot write .*a.txt: disk full; choose another place"
    with pytest.raises(ValueError, match=message), replacing(path) as new:
        new.write_text("ne")
        raise OSError("disk full")
    assert [file.name for file in tmp_path.iterdir()] == ["a.txt"]
    assert path.read_text() == "old"
    with replacing(path) as new:
        new.write_text("new")
    assert path.read_text() == "new"


def test_a_weight_too_large_for_half_precision_is_not_saved_as_infinity(tmp_path: Path) -> None:
    tokenizer = tiny_tokenizer()
    model = tiny_model(vocab_size=tokenizer.vocab_size)
    model.embed.weight[3, 5] = 1e5
    with pytest.raises(ValueError, match=r"embed\.weight"):
        checkpoint.save(tmp_path, model, tokenizer)


def test_shipped_checkpoints_are_found_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tiny_checkpoint(tmp_path / "b")
    tiny_checkpoint(tmp_path / "a")
    (tmp_path / "c").mkdir()
    monkeypatch.setattr(checkpoint, "SHIPPED", tmp_path)
    assert checkpoint.found_names() == ["a", "b"]
    assert checkpoint.load("b").folder == tmp_path / "b"
    with pytest.raises(ValueError, match=r"no checkpoint 'c': give a folder .* or one of a, b"):
        checkpoint.load("c")


@pytest.mark.parametrize("file", ["config.json", "model.safetensors", "tokenizer.json"])
def test_a_revision_changes_with_every_file_of_the_model(tmp_path: Path, file: str) -> None:
    tiny_checkpoint(tmp_path)
    source = checkpoint.CheckpointSource()
    first = source.revision(str(tmp_path))
    assert source.revision(str(tmp_path)) == first
    changed = (tmp_path / file).stat().st_mtime_ns + 1
    os.utime(tmp_path / file, ns=(changed, changed))
    assert source.revision(str(tmp_path)) != first
    with pytest.raises(ValueError, match="no checkpoint"):
        source.revision(str(tmp_path / "missing"))


def test_a_file_from_before_a_field_was_added_still_loads(tmp_path: Path) -> None:
    """Its config lacks the field, which has a default; another value is another model."""
    folder = tiny_checkpoint(tmp_path)
    rewrite_header(folder, lambda config: config.pop("n_global"))
    (folder / "SHA256SUMS").unlink()
    assert checkpoint.load(folder).config.n_global == 0
    for change in ({"n_global": 3}, {"unheard": 1}, {"n_heads": 7}):
        tiny_checkpoint(folder)
        rewrite_header(folder, lambda config, change=change: config.update(change))
        with pytest.raises(ValueError, match=r"saved with another config\.json; copy both again"):
            checkpoint.load(folder)


@pytest.mark.parametrize(
    "name",
    ["", "..", "a\0b", 300 * "a", "https://example.org/x"],
    ids=["empty", "..", "NUL", "long", "URL"],
)
def test_odd_names_are_only_unknown(name: str) -> None:
    with pytest.raises(ValueError, match=r"no checkpoint .*give a folder"):
        checkpoint.load(name)


# What is broken, and what the one line must say: the cause, then the remedy.
BROKEN: dict[str, tuple[Damage, str]] = {
    "config missing": (remove("config.json"), "no checkpoint .*give a folder with config.json"),
    "config no JSON": (write("config.json", "{"), "config.json is not valid JSON.*copy it again"),
    "config cut": (cut("config.json"), "config.json is not valid JSON.*copy it again"),
    "config a list": (write("config.json", "[]"), "config.json is not a JSON object; copy"),
    "config no UTF-8": (write("config.json", "\xff"), "config.json is not UTF-8 at byte 0; copy"),
    "config deep": (
        write("config.json", 9999 * "["),
        "config.json is not valid JSON.*copy it again",
    ),
    "config long": (write("config.json", '{"a": ' + 5000 * "1" + "}"), "config.json .*copy"),
    "unknown key": (edit_config(colour=1), "config.json: .*unknown key colour; known keys are"),
    "missing key": (drop_config("n_heads"), "config.json: config lacks n_heads; add it"),
    "size as text": (edit_config(n_layers="2"), "config.json: .*n_layers is '2'; it must be"),
    "size a fraction": (edit_config(d_model=2.5), "config.json: .*d_model is 2.5; it must be"),
    "size null": (edit_config(n_heads=None), "config.json: .*n_heads is None; it must be"),
    "size null, another derived": (lose_key_of_d_ff, "d_model is None; it must be of type int"),
    "size true": (edit_config(max_seq_len=True), "config.json: .*max_seq_len is True; it must"),
    "switch a number": (edit_config(bias=1), "config.json: .*bias is 1; it must be of type bool"),
    "unknown variant": (edit_config(norm="x"), "norm is 'x'; choose one of layer, rms"),
    "sizes that do not fit": (edit_config(n_heads=7), "d_model 30 .* n_heads 7; change one"),
    "size beyond memory": (edit_config(d_ff=10**13), "d_ff is 10{13}; .* at most 1,048,576"),
    "size beyond 64 bits": (edit_config(d_ff=10**30), "d_ff is 10{30}; .* at most 1,048,576"),
    "depth beyond the weights": (edit_config(n_layers=999), "n_layers is 999 but .* only 3. tens"),
    "eps infinite": (edit_config(norm_eps=float("inf")), "norm_eps is inf"),
    "tokenizer missing": (remove("tokenizer.json"), "tokenizer.json is missing; copy the whole"),
    "tokenizer cut": (
        cut("tokenizer.json"),
        "tokenizer.json is not a valid tokenizer.*copy it again",
    ),
    "tokenizer no UTF-8": (write("tokenizer.json", "\xff"), "tokenizer.json is not .*copy"),
    "tokenizer of another": (
        take_other_tokenizer,
        "tokenizer has 5 tokens but the config says vocab_size 13; use the tokenizer",
    ),
    "weights missing": (remove("model.safetensors"), "model.safetensors is missing; copy the"),
    "weights cut": (cut("model.safetensors"), "model.safetensors cannot be read.*copy it again"),
    "weights empty": (write("model.safetensors", ""), "model.safetensors cannot be read.*copy it"),
    "weights garbage": (huge_header, "model.safetensors cannot be read.*copy it again"),
    "weights a folder": (
        replace_by("model.safetensors", Path.mkdir),
        "is a folder, not a file; copy",
    ),
    "weight missing": (
        edit_weights(lambda w: w.pop("blocks.1.attn.q_proj.weight")),
        "lacks blocks.1.attn.q_proj.weight; the weights and config.json belong to different",
    ),
    "weight unknown": (
        edit_weights(lambda w: w.update(extra=torch.zeros(3))),
        "has unknown extra; the weights and config.json belong to different",
    ),
    "weight of another shape": (
        edit_weights(lambda w: w.update({"embed.weight": torch.zeros(13, 7)})),
        r"embed.weight has shape \(13, 7\) but config.json means \(13, 30\); the two",
    ),
    "weight transposed": (
        edit_weights(lambda w: w.update({"embed.weight": w["embed.weight"].T.contiguous()})),
        r"embed.weight has shape \(30, 13\) but config.json means \(13, 30\)",
    ),
    "NaN": (
        edit_weights(lambda w: w["final_norm.gain"][:3].fill_(torch.nan)),
        "final_norm.gain has 3 NaN or infinite values in float32; train or copy it again",
    ),
    "infinity": (
        edit_weights(lambda w: w["embed.weight"][1, :2].fill_(-torch.inf)),
        "embed.weight has 2 NaN or infinite values in float32; train or copy it again",
    ),
    "weights as integers": (store_as(torch.int8), "is stored as I8; convert it to float16"),
    "weights in 8 bits": (store_as(torch.float8_e4m3fn), "is stored as F8_E4M3; convert"),
    "beyond float32": (
        edit_weights(beyond_float32),
        "embed.weight has 390 NaN or infinite values in float32; train or copy it again",
    ),
    "more layers than weights": (edit_config(n_layers=3), "lacks blocks.2.* and .* more; the"),
    "fewer layers than weights": (edit_config(n_layers=1), "has unknown blocks.1.* more; the"),
}


@pytest.mark.parametrize(("damage", "message"), BROKEN.values(), ids=BROKEN)
def test_broken_checkpoint_gets_one_line_and_exit_code_2(
    damage: Damage, message: str, tmp_path: Path, command: Command
) -> None:
    folder = tiny_checkpoint(tmp_path / "broken")
    damage(folder)
    with pytest.raises(ValueError, match=message):
        checkpoint.load(folder)
    result = command(generate, "--checkpoint", folder, "--prompt", "the")
    assert (result.code, result.out, len(result.err)) == (2, [], 1)
    assert re.search(message, result.err[0])
    assert result.err[0].startswith("error: ")


@pytest.mark.parametrize("name", EVERY)
def test_every_damage_is_one_line_at_once(name: str, tmp_path: Path) -> None:
    """The line is short, whatever the file holds; a hung or swollen process would be killed."""
    folder = tiny_checkpoint(tmp_path / "broken")
    EVERY[name](folder)
    with pytest.raises(ValueError, match=r".") as caught:
        checkpoint.load(folder)
    line = str(caught.value)
    assert "\n" not in line
    assert len(line) < 900
    assert re.search("; |: give", line), "a remedy"


def test_loading_draws_no_weights() -> None:
    """Drawing them without memory imports torch's compiler: two seconds of a start."""
    program = (
        "import sys; from model.sources import checkpoint; checkpoint.load('stories'); "
        "assert 'torch._dynamo' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_name_that_is_not_utf8_is_left_out_with_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
    tiny_checkpoint(tmp_path / "whole")
    tiny_checkpoint(tmp_path / os.fsdecode(b"caf\xe9"))
    assert checkpoint.found_names()[-1] == "whole"
    [line] = checkpoint.unusable_folders()
    assert line.encode()
    assert "rename it" in line
