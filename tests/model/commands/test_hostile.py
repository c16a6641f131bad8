"""Protects the command line from sentences that try to be more than text."""

import json
from pathlib import Path

import pytest

from model.commands import check
from tests.hostile import sentences
from tests.model.builders import tiny_checkpoint
from tests.model.conftest import Command

pytestmark = pytest.mark.nightly


def test_all_are_text_or_one_line(tmp_path: Path, command: Command) -> None:
    folder = tiny_checkpoint(tmp_path, max_seq_len=300)
    for text in sentences():
        result = command(check, "--checkpoint", folder, f"--text={text}")
        assert result.code in (0, 2), text[:80]
        if result.code == 2:
            said = [line for line in result.err if not line.startswith("note: ")]
            assert len(said) == 1
            assert len(said[0]) < 700
        else:
            assert json.loads(result.out[-1])["checks_passed"], text[:80]
    assert not Path("/tmp/hacked").exists()
