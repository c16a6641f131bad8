"""Protects that faults are noticed: a few of each layer here, all by `python -m tests.sabotage`."""

import subprocess
import sys

import pytest

from tests.sabotage.faults import FAULTS, SELF_CHECK
from tests.sabotage.planting import ROOT, planted

# One of each kind that is quick to plant; a word of its name.
QUICK = ["RoPE turned", "eps 0.1", "GELU run as ReLU", "hides token 1", "2 % larger",
         "of the heads in reverse", "logits one position", "cached keys with"]  # fmt: skip
IN_THE_BROWSER = [
    "all of another head",
    "rows of the map",
    "every printed number",
    "charts ranks counted",
    "labels one column",
]


def test_every_fault_has_its_place_and_a_name_of_its_own() -> None:
    assert len(FAULTS) >= 60
    assert len({(fault.layer, fault.name) for fault in FAULTS}) == len(FAULTS)
    for fault in FAULTS:
        assert planted(fault) != (ROOT / fault.file).read_text(encoding="utf-8")


def sabotage(*words: str) -> subprocess.CompletedProcess[str]:
    """What the program says of the faults with these words."""
    command = [sys.executable, "-m", "tests.sabotage", *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)


def test_faults_of_the_model_turn_the_self_check_red_and_are_named() -> None:
    found = sabotage(*QUICK)
    assert found.returncode == 0, found.stdout
    assert f"in all: {len(QUICK)} of {len(QUICK)}" in found.stdout


def test_faults_of_the_page_turn_the_badge_red() -> None:
    found = sabotage(*IN_THE_BROWSER)
    assert found.returncode == 0, found.stdout
    assert f"in all: {len(IN_THE_BROWSER)} of {len(IN_THE_BROWSER)}" in found.stdout


@pytest.mark.parametrize("name", QUICK + IN_THE_BROWSER)
def test_the_quick_ones_are_one_each(name: str) -> None:
    found = [fault for fault in FAULTS if name in f"{fault.layer} {fault.name}"]
    assert len(found) == 1
    assert (found[0].probe == SELF_CHECK) == (name in QUICK)
