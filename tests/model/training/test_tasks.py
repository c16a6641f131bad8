"""Protects the tasks that make their own data: right rows, held-out rows apart, and heads form."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from model.analysis import heads
from model.commands import train as train_command
from model.data.text import Corpus
from model.data.tokenizer import Tokenizer, train_characters
from model.sources import checkpoint
from model.tap import Recorder, attach
from model.training.objectives import OBJECTIVES, LanguageModelling
from model.training.objectives.base import IGNORED, Accuracy, Examples, accuracy, reading_itself
from model.training.objectives.tasks import Task
from model.training.plan import Plan, Stage
from model.training.presets import presets, title
from model.training.recipe import Recipe
from model.training.run import train
from tests.model.builders import SENTENCE, tiny_model
from tests.model.conftest import Command
from tests.model.training.builders import CPU, Crash, assert_same_run

TASKS = sorted(name for name, kind in OBJECTIVES.items() if issubclass(kind, Task))
SIZES = {"d_model": 16, "n_layers": 1, "n_heads": 2, "d_ff": 16, "max_seq_len": 24}


class Scripted(torch.nn.Module):
    """Says next what `table` has for the token before it."""

    device = CPU

    def __init__(self, table: list[int]) -> None:
        super().__init__()
        self.table = torch.tensor(table)

    def forward(self, ids: Tensor) -> Tensor:
        """All certainty on one token, (B, T, V)."""
        return 9.0 * torch.nn.functional.one_hot(self.table[ids], len(self.table)).float()


def task_of(name: str, seed: int = 0, steps: int = 4) -> tuple[Any, Tokenizer]:
    kind = OBJECTIVES[name]
    data = kind.read([], [])
    tokenizer = train_characters(data.texts)
    plan = Plan((Stage(steps=steps, seq_len=7), Stage(steps=2, seq_len=16)), 160, seed)
    return kind(tokenizer, data, plan), tokenizer


def answer_to(name: str, prompt: str, n: int) -> str:
    """What is right, worked out otherwise than by the task; `n` letters where it has no end."""
    word = prompt[:-1]
    if name == "copy":
        return word
    if name == "reverse":
        return "".join(reversed(word))
    if name == "sort":
        return "".join(x * word.count(x) for x in "0123456789")
    if name == "induction":
        return "".join(word[(i + 1) % len(word)] for i in range(n))
    if name == "brackets":
        left = prompt
        while any(pair in left for pair in ("()", "[]", "{}")):
            left = left.replace("()", "").replace("[]", "").replace("{}", "")
        return left[::-1].translate(str.maketrans("([{", ")]}"))
    numbers = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVW"
    a, b = (numbers.index(x) for x in word.split("+"))
    return numbers[a + b if a + b < 59 else a + b - 59]


@pytest.mark.parametrize("name", TASKS)
def test_rows_ask_for_the_right_answer_and_the_end(name: str) -> None:
    task, tokenizer = task_of(name)
    for batch in task.batches(0):
        ids, targets = batch.inputs["ids"], batch.targets
        assert ids.shape == targets.shape
        for row, wanted in zip(ids, targets, strict=True):
            asked = (wanted != IGNORED).nonzero().flatten()
            prompt = tokenizer.decode(row[: asked[0] + 1].tolist())
            answer = answer_to(name, prompt, len(asked))
            expected = [*tokenizer.encode(answer), tokenizer.end_id][: len(asked)]
            assert wanted[asked].tolist() == expected
            assert asked.tolist() == list(range(int(asked[0]), int(asked[-1]) + 1))
            ends = len(prompt) + len(answer) <= len(row)
            assert len(asked) == len(answer) + ends


@pytest.mark.parametrize("name", TASKS)
def test_what_is_held_out_is_never_trained_on(name: str) -> None:
    """In any seed, and where words are so short that they would come again soon."""
    task, _ = task_of(name)
    held_out = {prompt + answer for prompt, answer in task.rows(300, 7, 5, held_out=True)}
    if name == "modular_addition":
        trained = {prompt + answer for prompt, answer in task.learnt}
        assert len(trained | held_out) == len(trained) + len(held_out)
        assert len(task.learnt) + len(task.held_out) == 59**2
    drawn = {row for seed in range(9) for row in task.rows(300, 7, seed, held_out=False)}
    assert held_out.isdisjoint(prompt + answer for prompt, answer in drawn)


@pytest.mark.parametrize("name", TASKS)
def test_rows_depend_on_seed_and_step_alone(name: str) -> None:
    def seen(seed: int, first: int) -> list[list[list[int]]]:
        return [x.inputs["ids"].tolist() for x in task_of(name, seed)[0].batches(first)]

    assert seen(0, 3) == seen(0, 0)[3:]
    assert seen(0, 0) != seen(1, 0)
    assert seen(0, 0)[0] != seen(0, 0)[1]


def test_a_resumed_run_is_the_same_bit_for_bit(tmp_path: Path) -> None:
    recipe = Recipe.load(presets()["reverse"], ["steps=6", "save_every=3", "batch_tokens=84"])

    def trained(out: Path, **options: Any) -> None:  # noqa: ANN401
        list(train(recipe, OBJECTIVES["reverse"].read([], []), out, device=CPU, **options))

    trained(tmp_path / "whole")
    with pytest.raises(RuntimeError, match="a crash"):
        trained(tmp_path / "again", observers=[Crash(5)])
    trained(tmp_path / "again", resume=True)
    assert_same_run(tmp_path / "again", tmp_path / "whole")


def test_a_model_that_is_right_is_right_alone_and_one_that_errs_goes_astray() -> None:
    """Counting on from a number; the one that errs says 5 after 3, and so goes on from there."""
    rows = torch.arange(8).repeat(3, 1)
    targets = rows[:, 1:].clone()
    targets[:, :2] = IGNORED
    batch = Examples({"ids": rows[:, :-1]}, targets)
    right: Any = Scripted([1, 2, 3, 4, 5, 6, 7, 0])
    errs: Any = Scripted([1, 2, 3, 5, 5, 6, 7, 0])
    assert accuracy(right, [reading_itself(right, batch)]) == accuracy(right, [batch])
    assert accuracy(errs, [batch]).accuracy == 4 / 5
    astray = reading_itself(errs, batch)
    assert astray.inputs["ids"][0].tolist() == [0, 1, 2, 3, 5, 6, 7], "0 1 2 was given"
    assert accuracy(errs, [astray]).accuracy == 1 / 5


@pytest.mark.parametrize("name", TASKS)
def test_a_task_is_scored_written_and_looked_into(name: str) -> None:
    task, tokenizer = task_of(name)
    torch.manual_seed(0)
    sizes = SIZES | {"vocab_size": tokenizer.vocab_size}
    model = tiny_model(**sizes).eval()
    scores = [*task.evaluate(model).values(), task.trained_on(model), task.alone(model)]
    assert all(isinstance(x, Accuracy) and x.targets for x in scores)
    prompt, answer = task.held_out[0]
    (probe,) = task.probes([], 64)
    assert (prompt + answer).startswith(probe.text)
    assert task.sample(model).startswith(prompt)


def test_text_is_continued_from_held_out_beginnings() -> None:
    text = f"{SENTENCE} " * 9
    tokenizer = train_characters([text])
    plan = Plan((Stage(steps=1, seq_len=9),), 9, 0)
    model = tiny_model(vocab_size=tokenizer.vocab_size, max_seq_len=31)
    objective = LanguageModelling(tokenizer, Corpus([text], {"one": text}), plan)
    found = objective.alone(model)
    assert found is not None
    assert found.targets == 64 * 16
    assert objective.beginnings is not None
    ids = objective.beginnings.inputs["ids"]
    asked = objective.beginnings.targets
    assert tokenizer.decode(ids[0].tolist()) == text[:31]
    assert tokenizer.decode(asked[-1, 15:].tolist()) == text[-16:]
    assert (asked[:, :15] == IGNORED).all()
    short = LanguageModelling(tokenizer, Corpus([text], {"one": text[:90]}), plan)
    assert short.alone(model) is None
    assert objective.alone(tiny_model(vocab_size=tokenizer.vocab_size, max_seq_len=30)) is None


def test_what_a_task_cannot_take_is_said(tmp_path: Path, command: Command) -> None:
    recipe, out = presets()["copy"], tmp_path / "m"
    text = tmp_path / "a.txt"
    text.write_text(SENTENCE)
    given = command(train_command, recipe, "--corpus", text, "--out", out)
    assert (given.code, len(given.err)) == (2, 1)
    assert "makes its own rows; leave out --corpus" in given.err[0]
    missing = command(train_command, "--out", out)
    assert (missing.code, len(missing.err)) == (2, 1)
    assert "give --corpus PATH" in missing.err[0]
    assert "copy, reverse, sort, induction, brackets, modular_addition" in missing.err[0]
    short = command(train_command, recipe, "--out", out, "--set", "seq_len=6")
    assert "seq_len 6; a row of this task needs 7" in short.err[0]
    with pytest.raises(ValueError, match='set tokenizer = "characters"'):
        OBJECTIVES["copy"](train_characters(["ab"]), task_of("copy")[0], task_of("copy")[0].plan)


def test_the_command_trains_a_task_without_a_corpus(tmp_path: Path, command: Command) -> None:
    sets = ("--set", "steps=2", "--set", "batch_tokens=84")
    result = command(train_command, presets()["copy"], "--out", tmp_path / "m", *sets)
    assert result.code == 0
    assert json.loads(result.out[-1])["held_out"].keys() == {"held out"}
    assert result.err[1] == "new rows in each of 2 steps"


def test_presets_are_recipes_of_tasks() -> None:
    assert sorted(presets()) == TASKS
    for name, path in presets().items():
        recipe = Recipe.load(path)
        assert recipe.name == recipe.objective == name
        assert title(path)[0] not in "#n"


def test_a_probe_that_is_no_row_of_the_task_is_refused() -> None:
    task, _ = task_of("copy")
    with pytest.raises(ValueError, match="'cat>C' of probes has 'C'; this task has 'abc"):
        task.probes(["cat>C"], 64)
    with pytest.raises(ValueError, match="has 33 tokens; at most 32 are watched"):
        task.probes(["a" * 33], 64)


def learnt(name: str, out: Path, *changes: str) -> tuple[list[float], Task, Any]:
    """Accuracy on held-out rows at each evaluation, the task, and the trained model."""
    recipe = Recipe.load(presets()[name], changes)
    data = OBJECTIVES[name].read([], [])
    lines = [line.held_out for line in train(recipe, data, out, device=CPU)]
    loaded = checkpoint.load(out)
    task: Any = OBJECTIVES[name](loaded.tokenizer, data, recipe.plan)
    return [x["held out"].accuracy for x in lines if x], task, loaded.model


def test_brackets_are_closed_within_seconds(tmp_path: Path) -> None:
    scores, task, model = learnt("brackets", tmp_path, "seed=1", "steps=150", "evaluate_every=150")
    assert scores[-1] >= 0.99
    assert task.alone(model).accuracy >= 0.9


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", TASKS)
def test_recipes_learn_their_task(name: str, seed: int, tmp_path: Path) -> None:
    scores, task, model = learnt(name, tmp_path, f"seed={seed}")
    assert scores[-1] >= 0.99
    assert task.alone(model).accuracy >= 0.9
    if name == "modular_addition":
        assert scores[len(scores) // 8] < 0.5, "what generalises comes late"
    if name == "induction":
        (probe,) = task.probes([], 64)
        assert most_induction(model, probe.inputs["ids"][0].tolist()) >= 0.9


@torch.inference_mode()
def most_induction(model: Any, ids: list[int]) -> float:  # noqa: ANN401
    """The largest induction score of a head."""
    recorder = Recorder(["pattern", "mask"])
    model(torch.tensor([ids]), tap=attach(recorder))
    found = []
    for layer in range(model.config.n_layers):
        at = f"decoder.blocks.{layer}.attn"
        pattern, mask = (recorder.values[f"{at}.{x}"].numpy() for x in ("pattern", "mask"))
        found.append(heads.induction(pattern[0], mask, np.array(ids)).values.max())
    return max(found)
