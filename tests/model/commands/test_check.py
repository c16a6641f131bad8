"""Protects `python -m model check`: every check by name, and a failed one is not overlooked."""

import json
import math
from pathlib import Path

import pytest

from model.commands import check
from model.commands.cli import trace_text
from model.sources import checkpoint, table
from model.sources.checkpoint import Checkpoint
from model.verify.check import Check, in_digits
from tests.model.builders import SENTENCE, tiny_checkpoint
from tests.model.conftest import Command
from tests.model.made_up import MadeUp


def test_every_check_is_printed_with_error_and_bound(tmp_path: Path, command: Command) -> None:
    folder = tiny_checkpoint(tmp_path / "mine")
    result = command(check, "--checkpoint", folder, "--text", SENTENCE)
    assert (result.code, result.err) == (0, [])
    loaded = checkpoint.load(folder, device="cpu")
    expected = loaded.check(trace_text(loaded, SENTENCE))
    *lines, last = result.out
    assert len(lines) == len(expected) > 10
    for line, item in zip(lines, expected, strict=True):
        assert line.startswith("ok ")
        assert item.name in line
        assert line.endswith(f"error {in_digits(item.error):7}  bound {in_digits(item.bound, 0)}")
    answer = json.loads(last)
    assert (answer["checkpoint"], answer["tokens"]) == ("mine", len(SENTENCE))
    assert (answer["checks_passed"], answer["failed"]) == (True, [])
    assert answer["checks"] == {x.name: {"error": x.error, "bound": x.bound} for x in expected}
    assert answer["worst_error"] == max(item.error for item in expected)


def test_a_failed_check_is_exit_code_1(
    tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One above its bound, one that is no number, which JSON cannot say either."""
    found = (Check("fine", 1e-7, 1e-6), Check("off", 2e-3, 1e-5), Check("odd", math.nan, 1e-5))
    monkeypatch.setattr(Checkpoint, "check", lambda loaded, trace: found)
    result = command(check, "--checkpoint", tiny_checkpoint(tmp_path))
    assert result.code == 1
    assert [line.split()[:2] for line in result.out[:-1]] == [
        ["ok", "fine"],
        ["FAILED", "off"],
        ["FAILED", "odd"],
    ]
    answer = result.fields
    assert (answer["checks_passed"], answer["failed"]) == (False, ["off", "odd"])
    assert answer["checks"]["odd"] == {"error": None, "bound": 1e-5}


def test_a_model_of_any_source_is_checked(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One without weights, tokenizer and logits: what its arrays say of themselves."""
    monkeypatch.setitem(table.SOURCES, "made-up", MadeUp())
    result = command(check, "--checkpoint", "made-up:two-streams")
    answer = result.answer
    assert (answer["checkpoint"], answer["checks_passed"]) == ("two-streams", True)
    assert "scores = scale · q·kᵀ + bias, in float64" in answer["checks"]
    assert len(answer["checks"]) == len(result.out) - 1 == 6
