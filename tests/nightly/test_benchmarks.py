"""Protects the benchmarks: each still finds what it times."""

import json
import math
import subprocess
import sys

import pytest

from tests.benchmarks.__main__ import BENCHMARKS
from tests.serving import ROOT


@pytest.mark.parametrize("name", BENCHMARKS)
def test_a_benchmark_runs(name: str) -> None:
    """In a process of its own: Playwright starts once in a thread."""
    command = [sys.executable, "-m", "tests.benchmarks", "--once", name]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout.splitlines()[-1])
    assert figures and all(math.isfinite(value) for value in figures.values())
