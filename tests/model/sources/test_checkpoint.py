"""Protects checkpoints: what was saved is what is loaded, and a broken one says so in one line."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from model.files import replacing
from model.sources import checkpoint, places
from tests.model.builders import (
    GROUPED,
    SENTENCE,
    tiny_checkpoint,
    tiny_model,
    tiny_tokenizer,
)
from tests.model.sources.damages import (
    EVERY,
    rewrite_header,
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
    monkeypatch.setattr(places, "SHIPPED", tmp_path)
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


# What the one line must say, the cause and then the remedy, where it is more than any remedy.
SAID = {
    "config.json missing": "no checkpoint .*give a folder with config.json",
    "config.json cut": "config.json is not valid JSON.*copy it again",
    "config.json a list": "config.json is not a JSON object; copy",
    "config.json no UTF-8": "config.json is not UTF-8 at byte 0; copy",
    "config.json deep": "config.json is not valid JSON.*copy it again",
    "unknown key": "config.json: .*unknown key colour; known keys are",
    "config lacks n_heads": "config.json: config lacks n_heads; add it",
    "n_layers text": "config.json: .*n_layers is '2'; it must be",
    "norm 'x'": "norm is 'x'; choose one of layer, rms",
    "heads that do not divide": "d_model 30 .* n_heads 7; change one",
    "d_ff 10³⁰": "d_ff is 10{30}; .* at most 1,048,576",
    "a thousand layers": "n_layers is 1000 but .* only 3. tens",
    "norm_eps infinity": "norm_eps is inf",
    "tokenizer.json missing": "tokenizer.json is missing; copy the whole",
    "tokenizer.json cut": "tokenizer.json is not a valid tokenizer.*copy it again",
    "tokenizer of another model": "tokenizer has 5 tokens but the config says vocab_size 13; use",
    "model.safetensors missing": "model.safetensors is missing; copy the",
    "model.safetensors cut": "model.safetensors cannot be read.*copy it again",
    "model.safetensors a folder": "is a folder, not a file; copy",
    "weights header huge": "model.safetensors cannot be read.*copy it again",
    "weight missing": "lacks blocks.1.attn.q_proj.weight; the weights and config.json belong to",
    "weight unknown": "has unknown extra; the weights and config.json belong to different",
    "weight transposed": r"embed.weight has shape \(30, 13\) but config.json means \(13, 30\)",
    "NaN": "final_norm.gain has 3 NaN or infinite values in float32; train or copy it again",
    "infinity": "embed.weight has 2 NaN or infinite values in float32; train or copy it again",
    "beyond float32": "embed.weight has 390 NaN or infinite values in float32; train or copy",
    "weights as torch.int8": "is stored as I8; convert it to float16",
    "weights as torch.float8_e4m3fn": "is stored as F8_E4M3; convert",
    "more layers than weights": "lacks blocks.2.* and .* more; the",
    "fewer layers than weights": "has unknown blocks.1.* more; the",
}


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_checkpoint(tmp_path_factory.mktemp("sound"))


@pytest.mark.parametrize("name", EVERY)
def test_every_damage_is_one_line_at_once(name: str, sound: Path, tmp_path: Path) -> None:
    """The line is short, whatever the file holds; a hung or swollen process would be killed."""
    folder = Path(shutil.copytree(sound, tmp_path / "broken"))
    EVERY[name](folder)
    with pytest.raises(ValueError, match=SAID.get(name, ".")) as caught:
        checkpoint.load(folder)
    line = str(caught.value)
    assert "\n" not in line
    assert len(line) < 900
    assert re.search("; |: give", line), "a remedy"


def test_what_is_said_is_of_damages_that_are_tried() -> None:
    assert set(SAID) <= set(EVERY)


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
    [line] = places.unusable_folders()
    assert line.encode()
    assert "rename it" in line
