"""Protects `python -m model trace`: it writes the published format, true by another's numpy."""

from pathlib import Path

from model.commands import trace
from model.commands.cli import trace_text
from model.sources import checkpoint
from model.sources.recorded import REPRODUCED
from model.verify.independent import check_independently
from model.verify.records import ATTENTION_CHECKS
from tests.model.builders import tiny_checkpoint
from tests.model.conftest import Command


def test_last_line_says_what_was_proved(tmp_path: Path, command: Command) -> None:
    folder, out = tiny_checkpoint(tmp_path / "c"), tmp_path / "no suffix"
    answer = command(trace, "--checkpoint", folder, "--text", "the cat", "--out", out).answer
    assert answer["tokens"] == 7
    assert answer["checks_passed"] is True
    names = {name for name, *_ in ATTENTION_CHECKS}
    loaded = checkpoint.load(folder, device="cpu")
    names |= {x.name for x in check_independently(trace_text(loaded, "the cat"), loaded.files)}
    assert set(answer["checks"]) == names | {REPRODUCED}
    assert answer["worst_error"] == max(answer["checks"].values()) < 1e-5
    assert answer["bytes"] == out.stat().st_size
