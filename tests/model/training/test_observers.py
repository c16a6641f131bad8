"""Protects what a run leaves behind: its log, its state, its checkpoint, its snapshots."""

import dataclasses
import json
from pathlib import Path

import pytest
import torch

from model.data.text import Corpus
from model.sources import checkpoint
from model.training.observers import METRICS_FILE, Progress
from model.training.plan import Stage
from model.training.run import train
from model.training.state import read_steps_done
from tests.model.builders import SENTENCE
from tests.model.training.builders import (
    CORPUS,
    CPU,
    Crash,
    log_lines,
    state,
    toy_recipe,
    trained,
)

TWENTY_STEPS = (Stage(steps=20, seq_len=7),)


def test_metrics_are_yielded_and_written(tmp_path: Path) -> None:
    corpus = Corpus(CORPUS.texts, {"a text": SENTENCE})
    metrics = list(train(toy_recipe(), corpus, tmp_path, device=CPU))
    assert [line.step for line in metrics] == [2, 4, 6, 8]
    assert [line.held_out is not None for line in metrics] == [False, True, False, True]
    assert metrics[1].held_out["a text"].tokens == len(SENTENCE)
    lines = [json.loads(line) for line in (tmp_path / METRICS_FILE).read_text().splitlines()]
    assert lines == [json.loads(json.dumps(dataclasses.asdict(line))) for line in metrics]


def test_the_log_of_a_run_that_diverges_is_still_json(tmp_path: Path) -> None:
    recipe = toy_recipe()
    for name in ("matrix_lr", "other_lr"):  # beyond what a recipe may say
        object.__setattr__(recipe, name, 1e30)
    with pytest.raises(ValueError, match="cannot hold"):
        list(train(recipe, CORPUS, tmp_path, device=CPU))
    lines = (tmp_path / METRICS_FILE).read_text().splitlines()
    assert json.loads(lines[-1], parse_constant=pytest.fail)["loss"] is None


def test_tokens_are_those_really_seen(tmp_path: Path) -> None:
    """35 tokens hold three windows of 11, which are 33."""
    assert [line.tokens for line in trained(tmp_path)] == [70, 138, 204, 270]


def test_log_is_cut_back_to_the_saved_step(tmp_path: Path) -> None:
    recipe = toy_recipe(save_every=6, stages=TWENTY_STEPS)
    with pytest.raises(RuntimeError, match="a crash"):
        trained(tmp_path, recipe, observers=[Crash(step=8)])
    assert [line["step"] for line in log_lines(tmp_path)] == [2, 4, 6, 8]
    assert read_steps_done(tmp_path) == 6
    trained(tmp_path, recipe, resume=True)
    assert [line["step"] for line in log_lines(tmp_path)] == list(range(2, 21, 2))


def test_half_a_line_at_the_end_of_the_log_is_cut_off(tmp_path: Path) -> None:
    """What a power cut may leave."""
    recipe = toy_recipe(log_every=1)
    trained(tmp_path, recipe, max_minutes=0)
    with (tmp_path / METRICS_FILE).open("a") as file:
        file.write('{"step": 1, "lo')
    trained(tmp_path, recipe, resume=True)
    assert [line["step"] for line in log_lines(tmp_path)] == list(range(1, 9))


def test_state_is_saved_every_so_many_steps(tmp_path: Path) -> None:
    saved = []
    for step in (2, 3, 5, 6):
        out = tmp_path / str(step)
        with pytest.raises(RuntimeError, match="a crash"):
            trained(out, observers=[Crash(step)])
        saved.append(read_steps_done(out))
    assert saved == [None, 3, 3, 6]


def test_finished_checkpoint_can_be_loaded(tmp_path: Path) -> None:
    trained(tmp_path)
    assert not list(tmp_path.glob("step-*")), "no snapshot unasked"
    loaded = checkpoint.load(tmp_path, device="cpu")
    assert loaded.tokenizer.decode(loaded.tokenizer.encode(SENTENCE)) == SENTENCE
    for name, weight in loaded.model.state_dict().items():
        if name != "unembed.weight":
            expected = state(tmp_path)[f"model.{name}"].half().float()
            assert torch.equal(weight, expected), name


def test_snapshots_are_checkpoints_of_their_step(tmp_path: Path) -> None:
    trained(tmp_path, toy_recipe(snapshot_every=2))
    names = sorted(path.name for path in tmp_path.glob("step-*"))
    assert names == ["step-000002", "step-000004", "step-000006", "step-000008"]
    first = checkpoint.load(tmp_path / "step-000002", device="cpu")
    last = checkpoint.load(tmp_path / "step-000008", device="cpu")
    finished = checkpoint.load(tmp_path, device="cpu")
    assert torch.equal(last.model.embed.weight, finished.model.embed.weight)
    assert not torch.equal(first.model.embed.weight, finished.model.embed.weight)


def test_progress_counts_steps_of_all(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    progress = Progress(lambda done, total: seen.append((done, total)))
    trained(tmp_path, max_minutes=0)
    trained(tmp_path, resume=True, observers=[progress])
    assert seen == [(step, 8) for step in range(2, 9)]
