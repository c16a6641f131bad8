"""Protects `python -m model train`: what it prints, what it refuses, and how it is stopped."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from model.commands import train
from model.sources import checkpoint
from model.training.state import STATE_FILE, read_steps_done
from tests.model.builders import SENTENCE
from tests.model.conftest import Command
from tests.model.training.builders import CORPUS, TOML, assert_same_run, log_lines

ROOT = Path(__file__).parents[3]
LONG = TOML.replace("steps = 5", "steps = 250").replace(
    "warmup", 'optimizer = "adamw"\nsave_every = 50\nwarmup'
)


def test_command_trains_evaluates_and_says_so(tmp_path: Path, command: Command) -> None:
    recipe, corpus, out = tmp_path / "recipe.toml", tmp_path / "corpus.txt", tmp_path / "out"
    recipe.write_text(TOML)
    corpus.write_text(100 * f"{SENTENCE}\n\n")
    options = (recipe, "--corpus", corpus, corpus, "--out", out)
    result = command(train, *options)
    assert result.code == 0
    answer = json.loads(result.out[-1])
    assert (answer["finished"], answer["step"]) == (True, 5)
    assert answer["held_out"].keys() == {"corpus 0", "corpus 1"}
    assert checkpoint.load(out).config.d_model == 30
    again = command(train, *options, "--resume")
    assert json.loads(again.out[-1])["finished"] is True


def test_a_stopped_command_is_not_finished(tmp_path: Path, command: Command) -> None:
    recipe, corpus, held_out = (tmp_path / name for name in ("r.toml", "c.txt", "h.txt"))
    recipe.write_text(TOML)
    corpus.write_text(CORPUS.texts[0])
    held_out.write_text(SENTENCE)
    paths = (recipe, "--corpus", corpus, "--held-out", held_out, "--out", tmp_path / "out")
    stopped = command(train, *paths, "--max-minutes", 0)
    assert (stopped.code, json.loads(stopped.out[-1])["finished"]) == (0, False)
    assert stopped.err[-1].startswith("stopped after step 1 of 5; go on with: python -m model")
    result = command(train, *paths, "--resume")
    answer = json.loads(result.out[-1])
    assert answer["finished"] is True
    assert answer["held_out"].keys() == {"h.txt"}


def test_an_out_that_is_a_file_gets_one_line(tmp_path: Path, command: Command) -> None:
    recipe, corpus = tmp_path / "recipe.toml", tmp_path / "corpus.txt"
    recipe.write_text(TOML)
    corpus.write_text(CORPUS.texts[0])
    result = command(train, recipe, "--corpus", corpus, "--out", corpus)
    assert (result.code, len(result.err)) == (2, 1)


def test_in_a_pipe_lines_say_what_is_trained_how_it_goes_and_what_came_out(
    tmp_path: Path, command: Command
) -> None:
    """Sized by its corpus, with some of it set otherwise."""
    corpus, out = tmp_path / "a text.txt", tmp_path / "m"
    corpus.write_text(45 * f"{SENTENCE}\n")
    sets = ("steps=4", "log_every=2", "evaluate_every=2", "batch_tokens=64", "seq_len=32")
    options = [word for change in sets for word in ("--set", change)]
    result = command(train, "--corpus", corpus, "--out", out, *options)
    assert result.code == 0
    scored = json.loads(result.out[-1])["held_out"]["corpus 0"]
    n_tokens = len(corpus.read_text()) - scored["bytes"] + 1  # the end of the text is one
    head, corpus_line, _, files, *lines, last = result.err
    assert head.startswith("m: decoder of 2 layers × 4 heads, d_model 64, 99,520 parameters")
    assert re.match(rf"corpus: {n_tokens:,} tokens, in 4 steps each is seen 0\.\d ×$", corpus_line)
    assert files == f"checkpoint, state and metrics.jsonl in {out}"
    number = r"\d+\.\d+"
    stands = rf"step {{}}/4 · loss {number} · held out {number} · {number} k tok/s · \d\d:\d\d left"
    evaluated = rf"step {{}}: held out {number} · {number} bits per byte( · writes '.*')?"
    for step, (one, other) in zip((2, 4), (lines[:2], lines[2:]), strict=True):
        assert re.fullmatch(stands.format(step), one)
        assert re.fullmatch(evaluated.format(step), other)
    best = re.fullmatch(r"best at step (\d): held out [\d.]+; open it with: (.*)", last)
    held_out = [line["held_out"]["corpus 0"]["loss"] for line in log_lines(out) if line["held_out"]]
    assert int(best[1]) == 2 * (1 + held_out.index(min(held_out)))
    folder = Path(shlex.split(best[2])[-1])
    assert checkpoint.load(folder).config.d_model == 64
    assert folder == (out if best[1] == "4" else out / "best")


def test_a_smoothed_loss_is_named_so(tmp_path: Path, command: Command) -> None:
    corpus = tmp_path / "a.txt"
    corpus.write_text(45 * f"{SENTENCE}\n")
    sets = ("steps=2", "log_every=2", "batch_tokens=64", "seq_len=32", "label_smoothing=0.1")
    options = [word for change in sets for word in ("--set", change)]
    result = command(train, "--corpus", corpus, "--out", tmp_path / "m", *options)
    assert "· smoothed loss " in result.err[-3]


def test_a_text_that_is_seen_too_often_is_told(tmp_path: Path, command: Command) -> None:
    corpus = tmp_path / "a.txt"
    corpus.write_text(45 * f"{SENTENCE}\n")
    options = ("--set", "steps=400", "--set", "batch_tokens=64", "--max-minutes", 0)
    result = command(train, "--corpus", corpus, "--out", tmp_path / "m", *options)
    assert re.search(r"each is seen 26 × over the text: expect overfitting$", result.err[1])


def from_a_shell(*words: object) -> "subprocess.Popen[str]":
    """`python -m model train WORDS`, started, with one thread as these tests have."""
    command = [sys.executable, "-m", "model", "train", *map(str, words)]
    one_thread = os.environ | {"OMP_NUM_THREADS": "1"}
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=ROOT, stdout=pipe, stderr=pipe, text=True, env=one_thread)


@pytest.fixture(scope="module")
def straight(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a recipe, a corpus, and in `out` a run that nothing stopped."""
    folder = tmp_path_factory.mktemp("a run")
    (folder / "recipe.toml").write_text(LONG)
    (folder / "corpus.txt").write_text(CORPUS.texts[0])
    words = (folder / "recipe.toml", "--corpus", folder / "corpus.txt", "--out", folder / "out")
    process = from_a_shell(*words)
    out, _ = process.communicate()
    assert process.returncode == 0
    assert json.loads(out)["finished"] is True
    return folder


@pytest.mark.nightly
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_saves_and_says_how_to_go_on(
    number: int, straight: Path, tmp_path: Path, command: Command
) -> None:
    """A real signal to a real process; what it says is then done, and changes no bit."""
    out = tmp_path / "the run"
    words = (straight / "recipe.toml", "--corpus", straight / "corpus.txt", "--out", out)
    process = from_a_shell(*words)
    while process.poll() is None and not (out / "metrics.jsonl").is_file():
        time.sleep(0.01)
    time.sleep(0.1)  # some steps, of which none is told apart from the others
    process.send_signal(number)
    told, said = process.communicate()
    assert (process.returncode, told) == (128 + number, "")
    pattern = r"stopped after step (\d+) of 250; go on with: (python -m model train .* --resume)"
    step, again = re.fullmatch(pattern, said.splitlines()[-1]).groups()
    assert 0 < read_steps_done(out) == int(step) < 250
    assert not list(out.glob("*.new"))
    resumed = command(train, *shlex.split(again)[4:])
    assert resumed.code == 0
    assert_same_run(out, straight / "out")


@pytest.mark.nightly
def test_killed_after_a_save_it_is_the_same_run(
    straight: Path, tmp_path: Path, command: Command
) -> None:
    out = tmp_path / "out"
    words = (straight / "recipe.toml", "--corpus", straight / "corpus.txt", "--out", out)
    process, log = from_a_shell(*words), out / "metrics.jsonl"
    while process.poll() is None and not (log.is_file() and log.read_text().count("\n") > 30):
        time.sleep(0.01)  # until step 60 and more, of which 50 are saved
    process.kill()
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert checkpoint.read_training(out).step == read_steps_done(out) >= 50
    assert checkpoint.load(out).config.d_model == 30
    assert command(train, *words, "--resume").code == 0
    assert_same_run(out, straight / "out")


def test_a_signal_before_the_first_step_says_that_nothing_is_saved(
    tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe, corpus, out = tmp_path / "recipe.toml", tmp_path / "corpus.txt", tmp_path / "out"
    recipe.write_text(TOML)
    corpus.write_text(CORPUS.texts[0])

    def stop(*arguments: object) -> None:
        signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr("model.training.run.build_model", stop)
    result = command(train, recipe, "--corpus", corpus, "--out", out)
    assert (result.code, result.out) == (143, [])
    assert result.err[-1] == "stopped before the first step; nothing is saved, start again"
    assert not (out / STATE_FILE).exists()
    monkeypatch.undo()
    result = command(train, recipe, "--corpus", corpus, "--out", out)
    assert json.loads(result.out[-1])["finished"] is True
