"""Protects how many threads an answer takes: one, or as many as its starter asks for."""

import os
import subprocess
import sys

import pytest

THREADS = "import app, torch; print(torch.get_num_threads())"


@pytest.mark.parametrize(("asked", "n_threads"), [(None, "1"), ("2", "2")])
def test_an_answer_takes_one_thread_unless_more_are_asked_for(
    asked: str | None, n_threads: str
) -> None:
    """Two threads beside one busy process made a translation a hundred times slower."""
    environment = {name: x for name, x in os.environ.items() if name != "OMP_NUM_THREADS"}
    environment |= {"OMP_NUM_THREADS": asked} if asked else {}
    command = [sys.executable, "-c", THREADS]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split()[-1] == n_threads
