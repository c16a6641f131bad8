"""Protects the saved state: what is written is whole, what is broken or foreign is refused."""

from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from model.training import state as state_module
from model.training.optimizers import OPTIMIZERS
from model.training.state import STATE_FILE, TrainingState, read_steps_done
from tests.model.training.builders import MODEL, toy_recipe, toy_trainer, toy_windows, trained


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("n_steps", [0, 1, 3])
def test_a_restored_trainer_takes_the_same_next_step(
    optimizer: str, n_steps: int, tmp_path: Path
) -> None:
    trainer, twin = toy_trainer(optimizer=optimizer), toy_trainer(optimizer=optimizer, seed=5)
    for _ in range(n_steps):
        trainer.step(toy_windows())
    trainer.state().write(tmp_path)
    assert read_steps_done(tmp_path) == n_steps
    twin.restore(TrainingState.read(tmp_path))
    assert torch.equal(trainer.step(toy_windows()), twin.step(toy_windows()))
    for weight, expected in zip(twin.model.parameters(), trainer.model.parameters(), strict=True):
        assert torch.equal(weight, expected)
    assert [x.item() for x in twin.unlogged] == [x.item() for x in trainer.unlogged]


def test_a_state_written_before_there_were_unlogged_losses_is_read(tmp_path: Path) -> None:
    """It has no `unlogged`, and its header may lack the optimizer."""
    trainer = toy_trainer()
    trainer.step(toy_windows())
    trainer.state().write(tmp_path)
    tensors = load_file(tmp_path / STATE_FILE)
    assert tensors.pop("unlogged").shape == (1,)
    save_file(tensors, tmp_path / STATE_FILE, {"steps_done": "1"})
    twin = toy_trainer()
    twin.restore(TrainingState.read(tmp_path))
    assert (twin.steps_done, twin.unlogged) == (1, [])
    assert torch.equal(twin.step(toy_windows()), trainer.step(toy_windows()))


def test_a_failure_while_saving_leaves_the_old_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trainer = toy_trainer()
    trainer.state().write(tmp_path)
    before = (tmp_path / STATE_FILE).read_bytes()

    def fail(tensors: dict[str, Tensor], path: Path, metadata: dict[str, str]) -> None:
        Path(path).write_bytes(b"half a file")
        raise OSError("disk full")

    monkeypatch.setattr(state_module, "save_file", fail)
    with pytest.raises(OSError, match="disk full"):
        trainer.state().write(tmp_path)
    assert (tmp_path / STATE_FILE).read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == [STATE_FILE]


@pytest.mark.parametrize(
    "changes",
    [
        {"model": MODEL | {"d_model": 36}},
        {"model": MODEL | {"n_layers": 3}},
        {"model": MODEL | {"n_layers": 1}},
        {"optimizer": "adamw"},
    ],
    ids=["wider", "deeper", "shallower", "optimizer"],
)
def test_resuming_with_another_recipe_is_refused(changes: dict[str, Any], tmp_path: Path) -> None:
    trained(tmp_path, max_minutes=0)
    with pytest.raises(ValueError, match="is of another recipe; resume with the one"):
        trained(tmp_path, toy_recipe(**changes), resume=True)


def test_resuming_with_a_recipe_that_is_over_is_refused(tmp_path: Path) -> None:
    trained(tmp_path)
    shorter = toy_recipe(stages=toy_recipe().stages[:1])
    with pytest.raises(ValueError, match="has 8 steps done but the recipe has 3; resume with"):
        trained(tmp_path, shorter, resume=True)


def test_resuming_from_nothing_or_a_broken_state_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="is missing; start without --resume"):
        trained(tmp_path / "nothing", resume=True)
    trained(tmp_path, max_minutes=0)
    path = tmp_path / STATE_FILE
    path.write_bytes(path.read_bytes()[:-7])
    with pytest.raises(ValueError, match=f"{STATE_FILE} cannot be read"):
        trained(tmp_path, resume=True)


@pytest.mark.parametrize("metadata", [{}, {"steps_done": "many"}, {"steps_done": "-1"}])
def test_a_step_count_that_is_none_is_refused(metadata: dict[str, str], tmp_path: Path) -> None:
    toy_trainer().state().write(tmp_path)
    save_file(load_file(tmp_path / STATE_FILE), tmp_path / STATE_FILE, metadata)
    with pytest.raises(ValueError, match=r"steps_done is '.*'; start without --resume"):
        TrainingState.read(tmp_path)


def test_no_state_has_no_steps(tmp_path: Path) -> None:
    assert read_steps_done(tmp_path) is None
    with pytest.raises(ValueError, match="is missing; start without --resume"):
        TrainingState.read(tmp_path)
