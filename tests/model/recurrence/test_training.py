"""Protects training and what it leaves: the seed decides, and what is stored is what was shown."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors import safe_open

from model.commands import cli, recurrence
from model.files import LARGEST_CONFIG
from model.recurrence import stored
from model.recurrence.scored import rows_of, score
from model.recurrence.task import LONGEST, TASKS, TRAINED
from model.recurrence.training import Recipe, Stage, batch_of, read_recipe, started, train
from model.recurrence.translators import n_parameters

TINY = """
batch = 16
[[stages]]
steps = 20
lr = 1e-2
horizon = 30
warmup_steps = 5
[[stages]]
steps = 10
lr = 5e-3
warmup_steps = 2
[model]
architecture = "recurrent"
n_embedding = 8
n_encoder = 8
n_decoder = 8
n_attention = 8
"""
LARGEST = 500_000  # bytes of a shipped weights file


def test_a_batch_depends_on_its_step_and_the_seed() -> None:
    recipe = Recipe(stages=(), batch=6, model={})
    sources, answers = batch_of(3, recipe)
    again, _ = batch_of(3, recipe)
    assert torch.equal(sources, again)
    assert len(sources) == 6
    assert sources.shape[1] == answers.shape[1] + 1
    assert sources[:, 0].tolist() == [TASKS["reverse"]] * 3 + [TASKS["copy"]] * 3
    lengths = {batch_of(step, recipe)[1].shape[1] - 1 for step in range(300)}
    assert lengths == set(range(1, TRAINED + 1))


def test_the_rate_rises_and_falls() -> None:
    stage = Stage(steps=1000, lr=2.0, warmup_steps=100)
    assert stage.rate(0) == pytest.approx(0.02)
    assert stage.rate(99) == stage.rate(100) == 2.0
    assert stage.rate(550) == pytest.approx(1.0)
    assert stage.rate(999) < 0.001
    assert replace(stage, horizon=1900).rate(1000) == pytest.approx(1.0)


def test_a_further_stage_begins_with_what_is_stored(tmp_path: Path) -> None:
    (tmp_path / "tiny.toml").write_text(TINY, encoding="utf-8")
    recipe = read_recipe(tmp_path / "tiny.toml")
    at_once, first = started(recipe), started(recipe)
    whole = list(train(recipe, at_once))
    assert whole[-1]["loss"] < 3.3  # −ln of an even guess of 30 is 3.40
    list(train(replace(recipe, stages=recipe.stages[:1]), first))
    stored.save(tmp_path / "first", first)
    again = stored.load(tmp_path / "first")
    assert list(train(recipe, again, 1)) == whole[1:]
    for name, weight in at_once.state_dict().items():
        assert torch.equal(weight, again.state_dict()[name]), name


def test_the_command_trains_scores_and_saves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "additive.toml").write_text(TINY, encoding="utf-8")
    monkeypatch.setattr(stored, "SHIPPED", tmp_path)
    folder = tmp_path / "own"
    words = ["--model", "additive", "--out", str(folder), "--rows", "3"]
    cli.main("recurrence", words)
    said = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert said["exact"].keys() == TASKS.keys()
    found = stored.read_scores(folder)
    assert len(found) == 2 * LONGEST
    assert {score.n_rows for score in found} == {3}
    assert n_parameters(stored.load(folder)) == said["parameters"]
    assert len((folder / "metrics.jsonl").read_text().splitlines()) == 2
    with pytest.raises(SystemExit):
        cli.main("recurrence", [*words[:-1], "0", "--score"])
    assert "--rows is 0; give 1 to 1,000,000" in capsys.readouterr().err
    assert recurrence.ROWS == 500


def test_what_is_broken_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "tiny.toml").write_text(TINY, encoding="utf-8")
    folder = tmp_path / "own"
    stored.save(folder, started(read_recipe(tmp_path / "tiny.toml")))
    (folder / "config.json").write_text('{"architecture": "recurrent"}', encoding="utf-8")
    with pytest.raises(ValueError, match="lacks n_decoder, n_embedding, n_encoder"):
        stored.load(folder)
    (folder / "accuracy.json").write_text('{"scores": [{"task": "copy"}]}', encoding="utf-8")
    with pytest.raises(ValueError, match="is not a list of scores; score again"):
        stored.read_scores(folder)
    (tmp_path / "odd.toml").write_text(TINY.replace("batch", "bunch"), encoding="utf-8")
    with pytest.raises(ValueError, match="bunch"):
        read_recipe(tmp_path / "odd.toml")


@pytest.mark.parametrize("name", stored.NAMES)
def test_what_is_shipped(name: str) -> None:
    """About as many numbers each, small files, the sizes of the recipe, scores of those weights."""
    folder, model = stored.SHIPPED / name, stored.shipped(name)
    assert {path.suffix for path in folder.iterdir()} == {".json", ".jsonl", ".md", ".safetensors"}
    assert (folder / "model.safetensors").stat().st_size < LARGEST
    assert abs(n_parameters(model) / 149_000 - 1) < 0.01
    with safe_open(folder / "model.safetensors", "pt") as file:
        assert set(file.keys()) == set(model.own_weights())
    recipe = read_recipe(stored.SHIPPED / f"{name}.toml")
    assert started(recipe).fields() == model.fields()
    lines = [json.loads(x) for x in (folder / "metrics.jsonl").read_text().splitlines()]
    assert lines[-1]["step"] == recipe.steps
    found = {(x.task, x.n_letters): x for x in stored.read_scores(folder)}
    assert set(found) == {(task, n) for task in TASKS for n in range(1, LONGEST + 1)}
    for task, n in (("reverse", 5), ("copy", 19)):
        kept = found[task, n]
        again = score(model, task, rows_of(task, n, kept.n_rows))
        assert abs(again.n_exact - kept.n_exact) <= 2, (task, n)  # of logits that are all but equal
        assert abs(again.n_right - kept.n_right) <= 4, (task, n)
    assert (folder / "accuracy.json").stat().st_size < LARGEST_CONFIG


def test_the_transformer_and_attention_learned_the_task() -> None:
    for name in ("transformer", "additive"):
        for kept in stored.read_scores(stored.SHIPPED / name):
            if kept.n_letters <= TRAINED:
                assert kept.n_exact / kept.n_rows > 0.99, (name, kept)
