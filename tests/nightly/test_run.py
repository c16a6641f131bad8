"""Protects a run as a whole: it can be stopped anywhere, by anything, and goes on bit for bit."""

import signal
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import torch

from model.data.text import Corpus
from model.training import state as state_module
from model.training.evaluation import evaluate
from model.training.objectives import language_modelling
from model.training.observers import MetricsLog
from model.training.plan import Stage
from model.training.run import train
from model.training.state import read_steps_done
from model.training.trainer import Trainer
from tests.model.builders import SENTENCE
from tests.model.training.builders import (
    CORPUS,
    CPU,
    assert_same_run,
    log_lines,
    toy_recipe,
    trained,
)

JUDGED = Corpus(CORPUS.texts, {"a text": SENTENCE})


def interrupt_at(call: int, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, with Ctrl-C in the middle of one of its calls."""
    calls = 0

    def interrupted(*arguments: object, **options: object) -> object:
        nonlocal calls
        calls += 1
        if calls == call:
            signal.raise_signal(signal.SIGINT)
        return function(*arguments, **options)

    return interrupted


@pytest.mark.parametrize(
    ("owner", "name", "call", "steps_done"),
    [
        (Trainer, "_loss", 1, 1),
        (Trainer, "_loss", 5, 5),
        (torch.optim.Muon, "step", 4, 4),
        (state_module, "save_file", 1, 3),
        (state_module, "save_file", 2, 4),
        (MetricsLog, "after_metrics", 2, 4),
        (language_modelling, "evaluate", 1, 4),
        (language_modelling, "evaluate", 2, 8),
    ],
)
def test_ctrl_c_anywhere_saves_whole_steps(
    owner: object,
    name: str,
    call: int,
    steps_done: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In a gradient, an update, a save, a line of the log, an evaluation and the last of them."""
    list(train(toy_recipe(), JUDGED, tmp_path / "straight", device=CPU))
    with monkeypatch.context() as patch:
        patch.setattr(owner, name, interrupt_at(call, getattr(owner, name)))
        with pytest.raises(KeyboardInterrupt):
            list(train(toy_recipe(), JUDGED, tmp_path / "resumed", device=CPU))
    assert read_steps_done(tmp_path / "resumed") == steps_done
    assert not list((tmp_path / "resumed").glob("*.new"))
    list(train(toy_recipe(), JUDGED, tmp_path / "resumed", device=CPU, resume=True))
    assert_same_run(tmp_path / "resumed", tmp_path / "straight")


def test_ctrl_c_in_the_save_after_ctrl_c_does_no_harm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trained(tmp_path / "straight")
    with monkeypatch.context() as patch:
        patch.setattr(language_modelling, "evaluate", interrupt_at(1, evaluate))
        patch.setattr(state_module, "save_file", interrupt_at(2, state_module.save_file))
        with pytest.raises(KeyboardInterrupt):
            list(train(toy_recipe(), JUDGED, tmp_path / "resumed", device=CPU))
    assert read_steps_done(tmp_path / "resumed") == 4
    trained(tmp_path / "resumed", resume=True)
    assert [line["loss"] for line in log_lines(tmp_path / "resumed")] == [
        line["loss"] for line in log_lines(tmp_path / "straight")
    ]


def test_a_signal_that_breaks_a_step_leaves_the_state_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Broken before the weights changed, the run is saved; while they changed, it is not."""
    trained(tmp_path / "straight")

    def broken(owner: type, method: str) -> Callable[..., Any]:
        whole, calls = getattr(owner, method), count(1)

        def fail(*arguments: Any, **options: Any) -> Any:  # noqa: ANN401
            if next(calls) == 5:
                signal.raise_signal(signal.SIGINT)
                raise RuntimeError("what Ctrl-C had killed")
            return whole(*arguments, **options)

        return fail

    for owner, method, saved in ((Trainer, "_loss", 4), (torch.optim.Muon, "step", 3)):
        out = tmp_path / method
        with monkeypatch.context() as patch:
            patch.setattr(owner, method, broken(owner, method))
            with pytest.raises(KeyboardInterrupt):
                trained(out)
        assert read_steps_done(out) == saved
        trained(out, resume=True)
        assert_same_run(out, tmp_path / "straight")


def test_a_compiled_run_needs_a_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", str(tmp_path / "no-compiler"))
    with pytest.raises(ValueError, match=r"no-compiler, and there is none; install it, or set"):
        trained(tmp_path / "out", toy_recipe(compile=True))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("minutes", [-1.0, float("nan")])
def test_an_impossible_time_is_refused(minutes: float, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"the time to train is .* it must be at least 0"):
        trained(tmp_path, max_minutes=minutes)


def test_a_second_training_in_one_folder_is_refused(tmp_path: Path) -> None:
    lines = train(toy_recipe(), CORPUS, tmp_path, device=CPU)
    for resume in (False, True):  # before the first state is saved, and after it
        next(lines)
        with pytest.raises(ValueError, match="is being trained in by another process; wait for"):
            trained(tmp_path, resume=resume)
    lines.close()
    trained(tmp_path, resume=True)


def test_what_a_killed_run_left_half_written_goes(tmp_path: Path) -> None:
    trained(tmp_path, max_minutes=0)
    for name in ("training_state.safetensors.99.new", "step-000004/model.safetensors.99.new"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"half")
    trained(tmp_path, resume=True)
    assert list(tmp_path.rglob("*.new")) == []


def test_forgetting_to_resume_destroys_nothing(tmp_path: Path) -> None:
    """A new tokenizer under old weights would load, and speak nonsense."""
    trained(tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(ValueError, match="resume"):
        trained(tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_resuming_a_finished_run_changes_nothing(tmp_path: Path) -> None:
    trained(tmp_path / "straight")
    trained(tmp_path / "twice")
    assert trained(tmp_path / "twice", resume=True) == []
    assert_same_run(tmp_path / "twice", tmp_path / "straight")


def test_windows_longer_than_the_context_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="a stage has seq_len 12 but max_seq_len is 11; lower"):
        trained(tmp_path, toy_recipe(stages=(Stage(steps=1, seq_len=12),)))
