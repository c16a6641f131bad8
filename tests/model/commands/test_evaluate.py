"""Protects `python -m model evaluate`: the scores it prints."""

import math
from pathlib import Path

import pytest

from model.commands import evaluate
from tests.model.builders import SENTENCE, tiny_checkpoint
from tests.model.conftest import Command


def test_command_prints_the_scores(tmp_path: Path, command: Command) -> None:
    folder, text = tiny_checkpoint(tmp_path / "mine"), tmp_path / "a.txt"
    text.write_text(SENTENCE)
    options = ("--checkpoint", folder, "--text-file", text, "--window", 5)
    result = command(evaluate, *options)
    answer = result.answer
    assert (result.code, result.err) == (0, [])
    assert (answer["checkpoint"], answer["tokens"], answer["window"]) == ("mine", 21, 5)
    assert answer["perplexity"] == pytest.approx(math.exp(answer["loss"]))
    assert "by_position" not in answer
    result = command(evaluate, *options, "--by-position", 5)
    assert len(result.answer["by_position"]) == 1
    assert "separators" not in answer
    text.write_text(f"{SENTENCE}<|endoftext|>{SENTENCE}")
    scores = command(evaluate, *options).answer
    nats = scores["loss"] * scores["tokens"]
    assert (scores["separators"], scores["bytes"]) == (1, 2 * len(SENTENCE) + 13)
    assert scores["bits_per_byte_without_separators"] == pytest.approx(
        nats / math.log(2) / (2 * len(SENTENCE))
    )
