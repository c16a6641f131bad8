"""Protects trainings as processes of their own: how they are begun, watched, steered, refused."""

import json
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from filelock import FileLock

from model.data.text import read_corpus
from model.training import needs, runs, status, watching
from model.training import run as run_module
from model.training.needs import PROCESS_BYTES, needed_memory
from model.training.objectives import LanguageModelling
from model.training.plan import Stage
from model.training.recipe import RECIPE_FILE
from model.training.run import LOCK_FILE, train
from model.training.runs import Run, found_runs, read_run
from model.training.state import read_steps_done
from model.training.trainer import Observer, Trainer, build_model
from tests.model.builders import SENTENCE
from tests.model.training.builders import (
    CPU,
    METRICS_FILE,
    MODEL,
    assert_same_run,
    toy_recipe,
    trained,
)

TEXT = f"{SENTENCE} " * 20


class At(Observer):
    """Does something after one step."""

    def __init__(self, step: int, act: Callable[[], object]) -> None:
        self.step, self.act = step, act

    def after_step(self, trainer: Trainer) -> None:
        """Do it, if it is time to."""
        if trainer.steps_done == self.step:
            self.act()


@pytest.fixture(autouse=True)
def top(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of all trainings."""
    monkeypatch.setenv("HEADLIGHT_HOME", str(tmp_path / "home"))
    return tmp_path / "home" / "runs"


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What would have been started; each process has ended at once, with an error."""
    begun: list[list[str]] = []

    def popen(command: list[str], stdout: Any, **options: object) -> SimpleNamespace:  # noqa: ANN401
        begun.append(command)
        stdout.write(b"a warning\nerror: there is no such thing\n")
        return SimpleNamespace(pid=2**30, poll=lambda: 2)

    monkeypatch.setattr(runs.subprocess, "Popen", popen)
    return begun


def until(folder: Path, state: str) -> Run:
    """The run once it is in a state; it fails in the one that nothing comes after."""
    while (run := read_run(folder)).state != state:
        assert run.state != "failed", run.why
        time.sleep(0.01)
    return run


def test_a_process_is_paused_killed_and_resumed_to_the_weights_of_a_straight_run(
    tmp_path: Path, top: Path
) -> None:
    recipe = toy_recipe(
        stages=(Stage(steps=300, seq_len=7),), batch_tokens=7, evaluate_every=200, save_every=10**6
    )
    folder = runs.start(recipe, text=TEXT)
    assert folder == top / "toy"
    assert read_run(folder).state in ("starting", "running")
    until(folder, "running")
    runs.pause(folder)
    paused = until(folder, "paused")
    assert read_steps_done(folder) == paused.step == read_run(folder).step
    with pytest.raises(ValueError, match="is being trained; stop it first"):
        runs.delete(folder)
    runs.go_on(folder)
    while read_run(folder).step == paused.step:
        time.sleep(0.01)
    process = status.started[folder.resolve()]
    process.kill()
    process.wait()
    killed, saved = read_run(folder), read_steps_done(folder)
    assert (killed.state, killed.step) == ("failed", saved)
    assert killed.why.startswith(
        f"it ended by itself at step {killed.lines[-1]['step']}, last saved at {saved}: step "
    )
    runs.resume(folder)
    finished = until(folder, "finished")
    assert [line["step"] for line in finished.lines] == list(range(2, 301, 2))
    corpus = read_corpus([folder / "corpus.txt"])
    list(train(recipe, corpus, tmp_path / "straight", device=CPU))
    assert_same_run(folder, tmp_path / "straight")
    runs.delete(folder)
    assert found_runs() == []


def test_a_training_begun_anywhere_is_watched_and_obeys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What looks on is called where the pause waits; each time it does one thing more."""
    seen: list[tuple[str, int, int | None]] = []

    def look(seconds: float) -> None:
        run = read_run(tmp_path)
        seen.append((run.state, run.step, read_steps_done(tmp_path)))
        if len(seen) in (2, 4):
            (runs.go_on if len(seen) == 2 else runs.stop)(tmp_path)

    monkeypatch.setattr(watching.time, "sleep", look)
    half = ("a.7.new", "best/a.7.new", "step-000001/a.7.new")  # what a killed one was writing
    for stale in ("control", "failed.txt", *half):
        (tmp_path / stale).parent.mkdir(exist_ok=True)
        (tmp_path / stale).write_text("stop")
    pauses = [At(step, lambda: runs.pause(tmp_path)) for step in (2, 5)]
    trained(tmp_path, observers=pauses)
    assert seen == 2 * [("paused", 2, 2)] + 2 * [("paused", 5, 5)]
    assert (read_run(tmp_path).state, read_run(tmp_path).step) == ("stopped", 5)
    trained(tmp_path, resume=True, observers=[At(7, lambda: runs.stop(tmp_path))])
    assert (read_run(tmp_path).state, read_run(tmp_path).step) == ("stopped", 7)
    trained(tmp_path, resume=True)
    run = read_run(tmp_path)
    assert (run.state, run.step, run.total_steps, run.recipe) == ("finished", 8, 8, toy_recipe())
    assert not list(tmp_path.rglob("*.new"))
    trained(tmp_path / "straight")
    assert_same_run(tmp_path, tmp_path / "straight")
    with pytest.raises(ValueError, match="no training runs in"):
        runs.stop(tmp_path)


def test_one_that_is_told_to_stop_is_stopping_until_its_process_has_ended(top: Path) -> None:
    """Also before its first step, which is when most is loaded."""
    folder, lock = top / "one", FileLock(top / "one" / LOCK_FILE)
    trained(folder)
    assert runs.live_names() == []
    with lock:
        assert runs.live_names() == ["one"]
        runs.stop(folder)
        assert read_run(folder).state == "stopping"
        (folder / METRICS_FILE).unlink()
        assert read_run(folder).state == "stopping"
    assert (read_run(folder).state, runs.live_names()) == ("finished", [])


def test_who_looks_for_a_moment_does_not_keep_a_training_from_beginning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_module, "LOCK_SECONDS", 60)
    lock = FileLock(tmp_path / LOCK_FILE, thread_local=False)
    lock.acquire()
    threading.Timer(0.05, lock.release).start()
    assert len(trained(tmp_path)) == 4


def test_why_a_training_failed_is_told(
    tmp_path: Path, top: Path, monkeypatch: pytest.MonkeyPatch, commands: list[list[str]]
) -> None:
    """One that ends before it begins, one that diverges, and one whose disk is full."""
    folder = runs.start(toy_recipe(), text=TEXT)
    assert (read_run(folder).state, read_run(folder).why) == ("failed", "there is no such thing")

    def fill(out: Path) -> None:
        (out / METRICS_FILE).unlink()
        (out / METRICS_FILE).symlink_to("/dev/full")

    with pytest.raises(
        ValueError, match=r"metrics\.jsonl: No space left on device; free some space"
    ):
        trained(tmp_path / "full", observers=[At(3, lambda: fill(tmp_path / "full"))])
    assert read_steps_done(tmp_path / "full") == 3
    (tmp_path / "full" / METRICS_FILE).unlink()
    assert "free some space" in read_run(tmp_path / "full").why
    for name, content in ((METRICS_FILE, ""), ("failed.txt", ""), ("train.log", "error: full\n")):
        (tmp_path / "full" / name).write_text(content)
    assert read_run(tmp_path / "full").why == "full", "there was no room but in the open log"

    whole = LanguageModelling.loss
    monkeypatch.setattr(LanguageModelling, "loss", lambda *x: whole(*x) * float("nan"))
    with pytest.raises(ValueError, match="diverged"):
        trained(tmp_path / "diverged")
    failed, broken = found_runs([tmp_path / "diverged", tmp_path / "nothing"])[1:]
    assert failed.state == broken.state == "failed"
    assert failed.why.startswith("the training diverged at step 1")
    assert broken.why.endswith("nothing is no training: recipe.toml is missing")
    assert commands[0][-2:] == ["--corpus", str(folder / "corpus.txt")]


@pytest.mark.parametrize(
    ("name", "called"),
    [("../../etc", "etc"), ("", "training"), ("a\n\udcff\0b", "a-udcff-b"), ("ü" * 300, "ü" * 60)],
)
def test_a_folder_is_called_after_the_recipe_whatever_was_typed(
    name: str, called: str, top: Path, commands: list[list[str]]
) -> None:
    folders = [runs.start(toy_recipe(name=name), text=TEXT) for _ in range(2)]
    assert folders == [top / called, top / f"{called}-2"]

    assert [run.folder for run in found_runs([folders[0]])] in (folders, folders[::-1])
    runs.resume(folders[0])
    assert commands[2] == commands[0], "nothing was saved to resume from"


@pytest.mark.parametrize("name", ["induction", "translate", "stories-rope"])
def test_no_training_takes_the_name_of_one_that_is_shipped(
    top: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A lesson that leads to it would show another."""
    monkeypatch.setattr(runs, "_spawn", lambda folder: None)
    assert runs.start(toy_recipe(name=name), text=TEXT) == top / f"{name}-2"


def test_what_cannot_be_trained_is_refused_before_anything_is_there(
    top: Path, monkeypatch: pytest.MonkeyPatch, commands: list[list[str]]
) -> None:
    with pytest.raises(ValueError, match="has 3 bytes; windows of 11 tokens need more than 22"):
        runs.start(toy_recipe(), text="abc")
    with pytest.raises(ValueError, match="a stage has seq_len 11 but max_seq_len is 5"):
        runs.start(toy_recipe(model=MODEL | {"max_seq_len": 5}), text=TEXT)
    monkeypatch.setattr(needs, "free_memory", lambda: 1e5)
    with pytest.raises(ValueError, match=r"needs about 0\.. GB of memory, and 0\.0 GB are free"):
        runs.start(toy_recipe(), text=TEXT)
    assert not top.exists()
    assert not commands


def test_the_memory_has_room_for_four_times_the_weights_and_for_a_batch() -> None:
    recipe = toy_recipe()
    weights = 4 * sum(x.numel() for x in build_model(recipe, 30).parameters())
    assert needed_memory(recipe, 30) - PROCESS_BYTES > 4 * weights
    larger = needed_memory(toy_recipe(batch_tokens=3500), 30)
    assert larger - needed_memory(toy_recipe(batch_tokens=350), 30) > 3150 * 4 * 2 * 30 * 20


def test_only_trainings_of_the_app_are_resumed_or_removed(tmp_path: Path, top: Path) -> None:
    trained(tmp_path / "other")
    top.mkdir(parents=True)
    (top / "link").symlink_to(tmp_path / "other")
    for folder in (tmp_path / "other", top / "link", top, top / "..", top / "a\0b"):
        for act in (runs.delete, runs.resume):
            with pytest.raises(ValueError, match="is no training of"):
                act(folder)
    trained(top / "own")
    (top / "own" / "link").symlink_to(tmp_path / "other")
    with pytest.raises(ValueError, match="own is finished"):
        runs.resume(top / "own")
    runs.delete(top / "own")
    assert not (top / "own").exists()
    assert read_run(tmp_path / "other").state == "finished"


def test_a_log_is_read_as_it_grows_and_anew_when_it_was_cut(tmp_path: Path) -> None:
    trained(tmp_path)
    path, whole = tmp_path / METRICS_FILE, (tmp_path / METRICS_FILE).read_bytes()
    lines = whole.splitlines(keepends=True)
    steps = []
    for content in (b"", lines[0] + lines[1][:9], lines[0] + lines[1], whole, lines[0], lines[1]):
        path.write_bytes(content)
        steps.append([line["step"] for line in read_run(tmp_path).lines])
    assert steps == [[], [2], [2, 4], [2, 4, 6, 8], [2], [4]]


INDEX = (
    '{"layers": 1, "heads": 1, '
    '"texts": [{"text": "a", "queries": ["a"], "keys": ["a"], "is_causal": true}]}'
)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (RECIPE_FILE, "name = 3"),
        (RECIPE_FILE, "a = " + "[" * 100_000),
        (METRICS_FILE, "not JSON"),
        (METRICS_FILE, "[" * 100_000),
        (METRICS_FILE, "[1]"),
        (METRICS_FILE, '{"step": 1}'),
        (METRICS_FILE, '"loss": NaN'),
        (METRICS_FILE, '"loss": 1e999'),
        (METRICS_FILE, '"step": "<b>"'),
        (METRICS_FILE, '"gradient_norms": {"end": []}'),
        (METRICS_FILE, '"held_out": {"a": 3}'),
        ("training.json", "{}"),
        ("attention.jsonl", "{}"),
        ("attention.jsonl", INDEX.replace('"a"', "3")),
        ("attention.jsonl", INDEX.replace("1", "1e9", 1)),
        ("attention.jsonl", INDEX + '\n{"step": 2}\n{"step": 1}'),
    ],
)
def test_a_hostile_folder_is_one_line(name: str, content: str, tmp_path: Path) -> None:
    trained(tmp_path)
    (tmp_path / "attention.f16").write_bytes(b"\0" * 100)
    if content.startswith('"'):  # one value of a line that is else as it should be
        line = json.loads((tmp_path / METRICS_FILE).read_text().splitlines()[0])
        key = content.split('"')[1]
        content = f"{json.dumps({k: v for k, v in line.items() if k != key})[:-1]}, {content}}}"
    (tmp_path / name).write_text(content + "\n")
    with pytest.raises(ValueError, match=name.replace(".", r"\.")) as told:
        read_run(tmp_path)
        runs.read_frames(tmp_path)
    assert "\n" not in str(told.value)
    assert len(str(told.value)) < 1000


def test_pipes_and_links_in_a_folder_hang_nothing(tmp_path: Path) -> None:
    trained(tmp_path)
    for name in ("control", RECIPE_FILE, LOCK_FILE):
        (tmp_path / name).unlink(missing_ok=True)
        os.mkfifo(tmp_path / name)
    with pytest.raises(ValueError, match=r"recipe\.toml is missing"):
        read_run(tmp_path)
    (tmp_path / RECIPE_FILE).unlink()
    (tmp_path / RECIPE_FILE).write_text(toy_recipe().to_toml())
    assert read_run(tmp_path).state == "finished"


def test_a_log_of_before_gradients_were_told_is_read(tmp_path: Path) -> None:
    trained(tmp_path)
    line = json.loads((tmp_path / METRICS_FILE).read_text().splitlines()[0])
    new = ("gradient_norms", "trained_on", "alone", "sample")
    (tmp_path / METRICS_FILE).write_text(json.dumps({k: line[k] for k in line if k not in new}))
    with (tmp_path / METRICS_FILE).open("a") as file:
        file.write("\n")
    assert [line["step"] for line in read_run(tmp_path).lines] == [2]
