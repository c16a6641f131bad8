"""Protects `python -m model trace`: it writes the published format, true by another's numpy."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from model.commands import trace
from model.commands.cli import trace_text
from model.sources import checkpoint
from model.sources.recorded import REPRODUCED
from model.verify.independent import check_independently
from model.verify.records import ATTENTION_CHECKS
from tests.model.builders import SENTENCE, tiny_checkpoint
from tests.model.conftest import Command


def test_last_line_says_what_was_proved(tmp_path: Path, command: Command) -> None:
    folder, out = tiny_checkpoint(tmp_path / "c"), tmp_path / "no suffix"
    result = command(trace, "--checkpoint", folder, "--text", "the cat", "--out", out)
    answer = json.loads(result.out[-1])
    assert answer["tokens"] == 7
    assert answer["checks_passed"] is True
    names = {name for name, *_ in ATTENTION_CHECKS}
    loaded = checkpoint.load(folder, device="cpu")
    names |= {x.name for x in check_independently(trace_text(loaded, "the cat"), loaded.files)}
    assert set(answer["checks"]) == names | {REPRODUCED}
    assert answer["worst_error"] == max(answer["checks"].values()) < 1e-5
    assert answer["bytes"] == out.stat().st_size


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"--text": ""}, "the text is empty; give a sentence"),
        ({"--text": 24 * "a"}, "24 tokens, more than the model's context of 23 tokens; shorten it"),
        ({"--out": "missing/t.npz"}, "cannot write .*missing/t.npz: No such file"),
    ],
)
def test_bad_input_gets_one_line(
    changes: dict[str, str], message: str, tmp_path: Path, command: Command
) -> None:
    paths = {"--checkpoint": tiny_checkpoint(tmp_path / "c"), "--out": tmp_path / "t.npz"}
    options: dict[str, Any] = {"--text": SENTENCE} | paths | changes
    result = command(trace, *(word for option in options.items() for word in option))
    assert result.code == 2
    assert len(result.err) == 1
    assert re.match(f"error: .*{message}", result.err[0])
