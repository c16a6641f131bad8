"""Protects the commands on encoder, encoder-decoder and vision model, from training to a check."""

import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from model.commands import check, evaluate, trace, train
from model.decoding.translation import target_text, translated
from model.sources import checkpoint
from model.training import scores
from tests.model.builders import (
    SENTENCE,
    tiny_picture,
)
from tests.model.conftest import Command
from tests.model.sources.test_architectures import MADE, saved

RECIPE = """
name = "toy"
objective = "{objective}"
tokenizer = "{tokenizer}"
vocab_size = 0
batch_tokens = 40
precision = "float32"
optimizer = "adam"
schedule = "noam"
average_last = 2
[model]
architecture = "{architecture}"
d_model = 30
n_layers = 1
n_heads = 3
{sizes}
[[stages]]
steps = 4
seq_len = 10
"""


@pytest.fixture
def folders(tmp_path: Path) -> dict[str, Path]:
    """A checkpoint of each architecture, by its name."""
    for name in MADE:
        saved(tmp_path / name, name)
    return {name: tmp_path / name for name in MADE}


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    """A file of seven pictures a part."""
    images = np.stack([255 * tiny_picture(seed) for seed in range(7)]).astype(np.uint8)
    labels = np.arange(7) % 5
    arrays = {f"{part}_{name}": x for part in ("train", "test")
              for name, x in (("images", images), ("labels", labels))}  # fmt: skip
    np.savez(tmp_path / "pictures.npz", **arrays)
    return tmp_path / "pictures.npz"


def written(path: Path, *lines: str) -> Path:
    """A text file."""
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def line(command: Command, *words: object) -> str:
    """The one line of a command that refuses."""
    result = command(*words)
    assert (result.code, len(result.err)) == (2, 1)
    return result.err[0]


def test_blanks_and_pictures_are_scored(
    folders: dict[str, Path], pictures: Path, tmp_path: Path, command: Command
) -> None:
    text = written(tmp_path / "a.txt", SENTENCE * 20)
    found = command(evaluate, "--checkpoint", folders["encoder"], "--text-file", text).answer
    assert found["window"] == 23
    assert 40 <= found["targets"] <= 90, "15 % of 420"
    assert 0 <= found["accuracy"] <= 1
    found = command(evaluate, "--checkpoint", folders["vision"], "--images", pictures).answer
    assert found["targets"] == 7
    model = checkpoint.load(folders["vision"]).model
    with np.load(pictures) as stored:
        told = model(torch.tensor(stored["test_images"] / np.float32(255))).argmax(dim=-1).numpy()
        assert found["accuracy"] == pytest.approx((told == stored["test_labels"]).mean())


def test_translations_are_scored_as_sacrebleu_does(
    folders: dict[str, Path], tmp_path: Path, command: Command
) -> None:
    sources = ["the cat sat on a mat.", "a mat.", "the cat"]
    loaded = checkpoint.load(folders["encoder_decoder"])
    ids = [translated(loaded.model, loaded.tokenizer, x, beam_width=2) for x in sources]
    texts = [target_text(loaded.tokenizer, x) for x in ids]
    source = written(tmp_path / "a.en", *sources)
    reference = written(tmp_path / "a.de", "one two three", texts[1] or "x", "the cat")
    found = command(
        evaluate, "--checkpoint", loaded.folder, "--text-file", source,
        "--reference-file", reference, "--beam-width", 2,
    ).answer  # fmt: skip
    references = reference.read_text().splitlines()
    assert found["bleu"] == pytest.approx(scores.bleu(texts, references).bleu)
    assert "tok:13a" in found["signature"]
    assert "case:mixed" in found["signature"]
    assert found["sentences"] == 3


def test_bleu_of_the_reference_itself_is_100() -> None:
    texts = ["Ein Hund läuft durch den Schnee.", "Zwei Männer sitzen auf einer Bank."]
    assert scores.bleu(texts, texts).bleu == pytest.approx(100)
    lower = [text.lower() for text in texts]
    found = scores.bleu(lower, texts)
    assert found.bleu < 99
    assert found.lower_case == pytest.approx(100)


def test_without_sacrebleu_it_says_how_to_install_it(
    folders: dict[str, Path], tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sacrebleu", None)
    monkeypatch.setattr(scores, "find_spec", lambda name: None)
    text = written(tmp_path / "a", "the cat")
    said = line(
        command, evaluate, "--checkpoint", folders["encoder_decoder"], "--text-file", text,
        "--reference-file", text,
    )  # fmt: skip
    assert "not installed; install it: pip install sacrebleu" in said


def test_a_class_the_model_has_not_and_a_path_too_long_are_one_line(
    folders: dict[str, Path], pictures: Path, tmp_path: Path, command: Command
) -> None:
    with np.load(pictures) as archive:
        arrays = dict(archive) | {"test_labels": np.full(7, 99)}
    np.savez(pictures, **arrays)
    asked = ("--checkpoint", folders["vision"], "--images", pictures)
    assert "a picture is of class 99" in line(command, evaluate, *asked)
    recipe = "assets/recipes/digits.toml"
    out = tmp_path / (300 * "x")
    assert "too long" in line(command, train, recipe, "--corpus", pictures, "--out", out)


def test_every_one_is_traced_and_checked(
    folders: dict[str, Path], pictures: Path, tmp_path: Path, command: Command
) -> None:
    for name, folder in folders.items():
        given = ("--image", pictures, "--number", 3) if name == "vision" else ("--text", SENTENCE)
        found = command(check, "--checkpoint", folder, *given).answer
        assert found["checks_passed"]
        out = tmp_path / f"{name}.npz"
        found = command(trace, "--checkpoint", folder, *given, "--out", out).answer
        assert found["checks_passed"]
        with np.load(out, allow_pickle=False) as archive:
            assert ("encoder.pixels" in archive) == (name == "vision")
            assert ("decoder.blocks.0.cross_attn.pattern" in archive) == (name == "encoder_decoder")


@pytest.mark.parametrize(
    ("objective", "architecture", "sizes"),
    [
        ("masked", "encoder", "max_seq_len = 10"),
        ("translation", "encoder_decoder", "max_seq_len = 10"),
        ("images", "vision", "image_size = 12\npatch_size = 4\nn_classes = 5"),
    ],
)
def test_training_takes_the_data_of_each(
    objective: str, architecture: str, sizes: str, pictures: Path, tmp_path: Path, command: Command
) -> None:
    recipe, out = tmp_path / "recipe.toml", tmp_path / "out"
    tokenizer = "none" if objective == "images" else "characters"
    fields = {"objective": objective, "tokenizer": tokenizer}
    recipe.write_text(RECIPE.format(**fields, architecture=architecture, sizes=sizes))
    texts = (written(tmp_path / "a", *["the cat"] * 9), written(tmp_path / "b", *["a mat."] * 9))
    corpus = {"masked": texts[:1], "translation": texts, "images": (pictures,)}[objective]
    result = command(train, recipe, "--corpus", *corpus, "--held-out", *corpus, "--out", out)
    assert result.code == 0, result.err
    assert result.fields["finished"]
    loaded = checkpoint.load(out)
    assert loaded.config.architecture == architecture
    assert [item.passed for item in loaded.recorded] == [True]
    wrong = {"masked": (pictures,), "translation": texts[:1], "images": texts[:1]}[objective]
    said = line(command, train, recipe, "--corpus", *wrong, "--out", tmp_path / "other")
    assert any(word in said for word in ("not valid UTF-8", "source with its target", ".npz"))
