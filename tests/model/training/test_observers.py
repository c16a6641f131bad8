"""Protects what a run leaves behind: its log, its state, its checkpoint, its snapshots."""

import dataclasses
import json
from pathlib import Path

import pytest
import torch
from torch import Tensor

from model.architectures.decoder import DecoderTransformer
from model.data.text import Corpus
from model.sources import checkpoint
from model.sources.checkpoint import Training, read_training
from model.training import observers
from model.training.objectives import LanguageModelling
from model.training.objectives.base import Accuracy
from model.training.observers import BEST, METRICS_FILE, Saver
from model.training.plan import Stage
from model.training.run import train
from model.training.state import TrainingState, read_steps_done
from model.training.trainer import DivergedError, Metrics, Trainer
from tests.model.builders import SENTENCE, tiny_tokenizer
from tests.model.training.builders import (
    CORPUS,
    CPU,
    Crash,
    log_lines,
    state,
    toy_recipe,
    toy_trainer,
    toy_windows,
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


def test_a_run_that_diverges_stops_and_keeps_its_last_good_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The fourth loss is not a number, its gradient neither."""
    of_batch, seen = LanguageModelling.loss, []

    def loss(self: LanguageModelling, model: DecoderTransformer, batch: Tensor) -> Tensor:
        seen.append(of_batch(self, model, batch))
        return seen[-1] * (float("nan") if len(seen) == 4 else 1)

    monkeypatch.setattr(LanguageModelling, "loss", loss)
    said = r"diverged at step 4: .* what step 3 left is kept. .* matrix_lr=0.0006"
    with pytest.raises(DivergedError, match=said):
        trained(tmp_path)
    kept = TrainingState.read(tmp_path)
    assert kept.steps_done == 3
    assert all(weight.isfinite().all() for weight in kept.weights.values())
    assert checkpoint.load(tmp_path, device="cpu").model.embed.weight.isfinite().all()
    lines = (tmp_path / METRICS_FILE).read_text().splitlines()
    assert [json.loads(line, parse_constant=pytest.fail)["step"] for line in lines] == [2]


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


def test_each_save_is_a_checkpoint_that_says_where_its_training_stands(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="a crash"):
        trained(tmp_path, observers=[Crash(5)])
    loaded = checkpoint.load(tmp_path, device="cpu")
    assert torch.equal(
        loaded.model.embed.weight, state(tmp_path)["model.embed.weight"].half().float()
    )
    source = checkpoint.CheckpointSource()
    before = source.revision(str(tmp_path))
    assert source.described(str(tmp_path))[-1] == "step 3 of 8"
    trained(tmp_path, resume=True)
    assert source.described(str(tmp_path))[-1] == "context 11"
    assert source.revision(str(tmp_path)) != before
    (tmp_path / checkpoint.TRAINING).write_text('{"step": "3"}')
    with pytest.raises(ValueError, match="training lacks steps"):
        source.described(str(tmp_path))


def test_an_evaluation_and_half_a_minute_are_saved_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = Corpus(CORPUS.texts, {"a text": SENTENCE})
    with pytest.raises(RuntimeError, match="a crash"):
        list(train(toy_recipe(), corpus, tmp_path / "a", device=CPU, observers=[Crash(5)]))
    assert read_steps_done(tmp_path / "a") == 4
    monkeypatch.setattr(observers, "SAVE_SECONDS", -1)
    with pytest.raises(RuntimeError, match="a crash"):
        trained(tmp_path / "b", observers=[Crash(2)])
    assert read_steps_done(tmp_path / "b") == 2


def test_the_best_on_held_out_data_is_kept_also_after_a_resume(tmp_path: Path) -> None:
    trainer = toy_trainer()
    for losses in ((3.0, 2.0, 2.5), (2.2, 2.1)):
        saver = Saver(tmp_path, tiny_tokenizer(), 100)
        for loss in losses:
            trainer.step(toy_windows())
            saver.after_metrics(trainer, _scored(trainer, loss))
    assert read_training(tmp_path / BEST) == Training(step=2, steps=8, held_out=2.0)
    assert checkpoint.load(tmp_path / BEST, device="cpu").config.d_model == 30


def _scored(trainer: Trainer, loss: float) -> Metrics:
    """A line of the log with the losses of two texts, whose mean is the one given."""
    scores = {name: Accuracy(loss + by, 0.5, 10) for name, by in (("a", -0.5), ("b", 0.5))}
    return Metrics(trainer.steps_done, 1.0, 0.1, 10, 5.0, scores)


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
    trained(tmp_path, toy_recipe(snapshots=4))
    names = sorted(path.name for path in tmp_path.glob("step-*"))
    assert names == ["step-000000", "step-000001", "step-000002", "step-000004", "step-000008"]
    first = checkpoint.load(tmp_path / "step-000002", device="cpu")
    last = checkpoint.load(tmp_path / "step-000008", device="cpu")
    finished = checkpoint.load(tmp_path, device="cpu")
    assert torch.equal(last.model.embed.weight, finished.model.embed.weight)
    assert not torch.equal(first.model.embed.weight, finished.model.embed.weight)
