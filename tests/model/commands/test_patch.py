"""Protects `python -m model patch`: JSON last, and every cell a run."""

from pathlib import Path

import numpy as np
import pytest

from model.analysis.metrics import Metric
from model.analysis.patching import GRIDS, Pair, begin
from model.commands import patch
from model.sources import checkpoint
from tests.model.builders import (
    SENTENCE,
    tiny_checkpoint,
    tiny_translation_checkpoint,
    tiny_vision,
)
from tests.model.conftest import Command

OTHER = SENTENCE.replace("cat", "tat")


def test_the_last_line_has_every_grid(tmp_path: Path, command: Command) -> None:
    folder = tiny_checkpoint(tmp_path / "mine")
    asked = ("--answer", "t", "--against", "m", "--into", "first", "--metric", "logit")
    answer = command(
        patch, "--checkpoint", folder, "--text", SENTENCE, "--second", OTHER, *asked
    ).answer
    loaded = checkpoint.load(folder, "cpu")
    ids, other = (loaded.tokenizer.encode(text) for text in (SENTENCE, OTHER))
    (t,), (m,) = loaded.tokenizer.encode("t"), loaded.tokenizer.encode("m")
    pair = Pair(loaded.decoder, ids, other, Metric("logit", len(ids) - 1, t, m))
    found = begin(pair)
    found.filling.advance(1e9)
    for name in GRIDS:
        np.testing.assert_allclose(answer["grids"][name], found.exact[name], atol=1e-5)
        shares = found.kept.restored(found.exact[name])
        np.testing.assert_allclose(answer["put_back"][name], shares, rtol=1e-3, atol=1e-5)
        assert -1 <= answer["correlation_with_estimate"][name] <= 1
    assert (answer["answer"], answer["against"], answer["into"]) == ("t", "m", "first")
    assert answer["of_base"] == pytest.approx(found.kept.of_base, abs=1e-6)


def shares(answer: dict, grid: str) -> np.ndarray:
    """What a grid puts back, (L, T) or (L, H)."""
    return np.array(answer["put_back"][grid])


@pytest.mark.parametrize("stack", ["encoder", "decoder"])
def test_a_translation_is_patched_in_either_stack(
    stack: str, tmp_path: Path, command: Command
) -> None:
    folder = tiny_translation_checkpoint(tmp_path / "mine")
    words = ("--text", "abc", "--second", "adc", "--target", "xy", "--stack", stack)
    asked = ("--answer", "t", "--against", "m")
    answer = command(patch, "--checkpoint", folder, *words, *asked).answer
    assert answer["target"] == ["<|startoftext|>", "x", "y"]
    assert (answer["position"], answer["stack"]) == (2, stack)
    grid = shares(answer, "resid_pre")
    assert grid.shape == ((3, 4) if stack == "encoder" else (2, 3)), "layers × tokens"
    before = [0, 1, 0, 0] if stack == "encoder" else [0, 0, 0]
    assert grid[0].tolist() == pytest.approx(before, abs=1e-4)


def test_a_translation_is_asked_where_both_part(command: Command) -> None:
    words = ("--text", "A man rides a bicycle.", "--second", "A man rides a horse.")
    answer = command(patch, "--checkpoint", "translate", *words).answer
    assert answer["target"][:3] == ["<|startoftext|>", " Ein", " Mann"]
    assert answer["of_source"] > 0 > answer["of_base"]
    assert shares(answer, "resid_pre")[0].argmax() == answer["first"].index(" bicycle")


def test_a_blank_is_hidden_in_both(command: Command) -> None:
    words = ("--text", "Tom gave the dog a bone.", "--second", "Tom gave the cat a bone.")
    answer = command(patch, "--checkpoint", "blank", *words, "--blank", 5).answer
    assert answer["first"][5] == answer["second"][5] == "[MASK]"
    grid = shares(answer, "resid_pre")
    assert grid.shape == (6, 7)
    assert grid[0].tolist() == [0, 0, 0, 1, 0, 0, 0], "the word that differs gives all of it"


def test_the_class_of_a_picture_is_asked(tmp_path: Path, command: Command) -> None:
    small = tiny_vision(image_size=28, patch_size=14, n_classes=10)
    checkpoint.save(tmp_path / "small", small, None)
    words = ("--checkpoint", tmp_path / "small", "--image", "assets/digits.npz", "--second", 1)
    answer = command(patch, *words, "--answer", "7", "--against", "5").answer
    assert (answer["first"], answer["second"]) == (0, 1)
    assert (answer["answer"], answer["against"]) == ("7", "5")
    grid = shares(answer, "resid_pre")
    assert grid.shape == (2, 5)
    assert grid[0, 0] == 0, "the class token is the same in both"
    assert shares(answer, "z").shape == (2, 3)
