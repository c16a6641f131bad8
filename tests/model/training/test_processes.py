"""Protects one training in several processes: each row once, one mean, the same weights."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from model.commands import train
from model.training.objectives.base import IGNORED, Examples
from model.training.processes import Processes, here
from tests.model.conftest import Command
from tests.model.training.builders import CORPUS, TOML

FIFTY = TOML.replace("steps = 5", "steps = 50").replace("batch_tokens = 35", "batch_tokens = 56")
FIFTY = FIFTY.replace("warmup", 'optimizer = "adamw"\nwarmup')  # Muon rounds to bfloat16
PAIR = ("one", "two")
TWO = ("torch.distributed.run", "--standalone", "--nproc-per-node", "2")


def pair() -> list[Processes]:
    """Two that train together."""
    return [Processes(rank, 2) for rank in range(2)]


def examples(targets: torch.Tensor) -> Examples:
    """A batch of these targets; ids (B, T) say in which row they are."""
    rows = torch.arange(len(targets))[:, None].expand_as(targets)
    return Examples({"ids": rows}, targets)


@pytest.mark.parametrize("n_rows", [2, 5, 8])
def test_every_row_is_in_one_part(n_rows: int) -> None:
    rows = torch.arange(n_rows * 3).reshape(n_rows, 3)
    parts = [one.part(rows) for one in pair()]
    assert sorted(torch.cat(parts).tolist()) == rows.tolist()
    for one, part in zip(pair(), parts, strict=True):
        found = one.part(examples(rows))
        assert isinstance(found, Examples)
        assert found.targets.tolist() == part.tolist()
        assert found.inputs["ids"][:, 0].tolist() == [*range(one.rank, n_rows, 2)]


def test_the_mean_is_over_targets_however_they_are_dealt_out() -> None:
    targets = torch.full((2, 300), IGNORED)
    targets[0, :100] = 1  # 100 targets for the first, 300 for the second
    targets[1] = 1
    weights = [one.weight(examples(targets)) for one in pair()]
    means = (3.0, 2.0)
    assert sum(w * x for w, x in zip(weights, means, strict=True)) / 2 == pytest.approx(2.25)
    targets[0] = IGNORED
    assert [one.weight(examples(targets)) for one in pair()] == [0.0, 2.0]


def test_a_part_without_targets_has_no_loss_and_a_gradient_of_zero() -> None:
    model = torch.nn.Linear(2, 2)
    loss = Processes().shared(model, lambda batch: torch.tensor(float("nan")))
    loss(torch.zeros(1, 2), 0.0).backward()
    assert all((x.grad == 0).all() for x in model.parameters())


def test_two_processes_learn_what_one_does(tmp_path: Path, command: Command) -> None:
    assert here().count == 1
    (tmp_path / "r.toml").write_text(FIFTY)
    (tmp_path / "c.txt").write_text(CORPUS.texts[0])

    def words(name: str) -> list[str]:
        files = [str(tmp_path / file) for file in ("r.toml", "c.txt", name)]
        return [files[0], "--corpus", files[1], "--out", files[2], "--device", "cpu"]

    alone = command(train, *words("one"))
    assert (alone.code, alone.fields["finished"]) == (0, True)
    shell = [sys.executable, "-m", *TWO, "-m", "model", "train", *words("two")]
    done = subprocess.run(shell, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.count('"finished": true') == 1
    one, two = (load_file(tmp_path / name / "training_state.safetensors") for name in PAIR)
    assert one.keys() == two.keys()
    for name, weight in one.items():
        if name.endswith("k_proj.bias"):  # softmax undoes it: Adam scales what rounding leaves
            continue
        torch.testing.assert_close(two[name], weight, rtol=1e-3, atol=4e-5, msg=name)
    logs = [(tmp_path / name / "metrics.jsonl").read_text().splitlines() for name in PAIR]
    assert len(logs[0]) == len(logs[1]) > 20
