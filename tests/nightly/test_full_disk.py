"""Protects a training where it may not write: it says so in a line, and loses nothing."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.model.training.builders import trained

FULL = """
import resource, sys
from pathlib import Path
from tests.model.training.builders import trained
out = Path(sys.argv[1])
# A file larger than this cannot be written: what a full disk says, at the same place.
import signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
try:
    trained(out, resume=True)
except ValueError as error:
    print(error)
"""


def test_a_full_disk_is_one_line_and_leaves_the_old_state(tmp_path: Path) -> None:
    trained(tmp_path / "straight")
    trained(tmp_path / "out", max_minutes=0)
    before = (tmp_path / "out" / "training_state.safetensors").read_bytes()
    assert len(before) > 20_000
    command = [sys.executable, "-c", FULL, str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("cannot write ")
    assert len(done.stdout.splitlines()) == 1
    assert (tmp_path / "out" / "training_state.safetensors").read_bytes() == before
    assert list((tmp_path / "out").glob("*.new")) == []
    trained(tmp_path / "out", resume=True)
    for name in ("model.safetensors", "tokenizer.json"):
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "straight" / name).read_bytes()


@pytest.mark.skipif("os.geteuid() == 0", reason="root may write anywhere")
def test_a_read_only_folder_is_one_line(tmp_path: Path) -> None:
    tmp_path.chmod(0o555)
    with pytest.raises(ValueError, match="cannot write"):
        trained(tmp_path)
