"""Protects how many threads an answer takes: one, or as many as its starter asks for."""

import os
import subprocess
import sys

import pytest

import app

THREADS = "import app, torch; print(torch.get_num_threads())"


def test_an_answer_takes_one_thread() -> None:
    """Two threads beside one busy process made a translation a hundred times slower."""
    environment = {name: x for name, x in os.environ.items() if name != "OMP_NUM_THREADS"}
    command = [sys.executable, "-c", THREADS]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split()[-1] == "1"


def test_more_are_taken_where_they_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    app.spare_threads()
    assert os.environ["OMP_NUM_THREADS"] == "2"
