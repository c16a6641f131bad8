"""Protects what a checkpoint notes of itself: a changed bit is named, other numbers turn it red."""

import hashlib
import json
import math
import random
from pathlib import Path

import pytest
import torch

from model.sources import checkpoint, places
from model.sources.recorded import RECORDED, REPRODUCED
from model.sources.sums import SUMS
from tests.model.builders import SENTENCE, edit_json, tiny_checkpoint

FILES = ("config.json", "model.safetensors", "tokenizer.json")


def flip(path: Path, place: int, bit: int) -> None:
    """Turn one bit of a file over."""
    content = bytearray(path.read_bytes())
    content[place] ^= 1 << bit
    path.write_bytes(content)


@pytest.mark.parametrize("name", FILES)
def test_any_bit_of_any_file_is_noticed_and_the_file_named(name: str, tmp_path: Path) -> None:
    folder = tiny_checkpoint(tmp_path / "tiny")
    chance, path = random.Random(name), folder / name
    whole = path.read_bytes()
    for place in (0, len(whole) - 1, *chance.choices(range(len(whole)), k=40)):
        flip(path, place, chance.randrange(8))
        with pytest.raises(ValueError, match=r"(config\.json|model\.safetensors|tokenizer)"):
            checkpoint.load(folder)
        path.write_bytes(whole)
    checkpoint.load(folder)


def test_a_weight_changed_in_its_last_bit_says_what_to_do(tmp_path: Path) -> None:
    folder = tiny_checkpoint(tmp_path / "tiny")
    flip(folder / "model.safetensors", -2, 0)
    with pytest.raises(ValueError, match=r"a bit of it has changed; copy .* or delete SHA256SUMS"):
        checkpoint.load(folder)
    (folder / SUMS).unlink()
    assert checkpoint.load(folder).name == "tiny"


def test_the_notes_are_what_sha256sum_reads(tmp_path: Path) -> None:
    folder = tiny_checkpoint(tmp_path / "tiny")
    lines = (folder / SUMS).read_text().splitlines()
    expected = [hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in FILES]
    assert lines == [f"{digest}  {name}" for digest, name in zip(expected, FILES, strict=True)]


@pytest.mark.parametrize("line", ["x", f"{64 * 'a'}  ../config.json", f"{63 * 'a'}  config.json"])
def test_notes_that_are_none_are_refused_by_line(line: str, tmp_path: Path) -> None:
    folder = tiny_checkpoint(tmp_path / "tiny")
    with (folder / SUMS).open("a") as file:
        file.write(line + "\n")
    with pytest.raises(ValueError, match=r"SHA256SUMS line 4: .* is no checksum of a file"):
        checkpoint.load(folder)


def test_shipped_models_give_what_was_recorded() -> None:
    for folder in sorted(places.SHIPPED.glob("*/")):
        (found,) = checkpoint.load(folder, "cpu").recorded
        assert found.name == REPRODUCED
        assert found.passed, folder.name


def test_a_model_of_other_numbers_is_opened_and_red(tmp_path: Path) -> None:
    """Whoever changes the weights and the checksums with them is still seen."""
    folder = tiny_checkpoint(tmp_path / "tiny")
    loaded = checkpoint.load(folder, "cpu")
    with torch.no_grad():
        loaded.model.get_parameter("embed.weight").mul_(1.001)
    (failed,) = (
        item
        for item in loaded.check(loaded.trace(SENTENCE).trace)
        if not item.passed and item.name == REPRODUCED
    )
    assert 1e-5 < failed.error < 1


@pytest.mark.parametrize(
    "change",
    [
        lambda noted: noted.pop("ids"),
        lambda noted: noted.update(ids=[10**6]),
        lambda noted: noted.update(ids="x"),
        lambda noted: noted.update(logits={}),
        lambda noted: noted.update(logits={"a": 1}),
        lambda noted: noted.update(logits=[3]),
    ],
)
def test_a_record_that_cannot_be_used_is_a_failed_check(change: object, tmp_path: Path) -> None:
    folder = tiny_checkpoint(tmp_path / "tiny")
    edit_json(folder / RECORDED, change)
    (found,) = checkpoint.load(folder, "cpu").recorded
    assert found.error == math.inf
    assert not found.passed


def test_a_record_that_is_no_json_is_a_failed_check(tmp_path: Path) -> None:
    folder = tiny_checkpoint(tmp_path / "tiny")
    (folder / RECORDED).write_text("{")
    (found,) = checkpoint.load(folder, "cpu").recorded
    assert not found.passed
    (folder / RECORDED).unlink()
    assert checkpoint.load(folder, "cpu").recorded == ()
    assert json.loads((folder / "config.json").read_text())
