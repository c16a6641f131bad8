"""Protects the saved state: what is written is whole, what is broken or foreign is refused."""

import itertools
import os
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from model.data.text import Corpus
from model.data.tokenizer import train_characters
from model.training import state as state_module
from model.training.optimizers import OPTIMIZERS
from model.training.plan import Stage
from model.training.run import train
from model.training.state import STATE_FILE, TrainingState, read_steps_done
from model.weights import initialise
from tests.model.builders import SENTENCE
from tests.model.training.builders import (
    CORPUS,
    CPU,
    MODEL,
    toy_recipe,
    toy_trainer,
    toy_windows,
    trained,
)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("n_steps", [0, 3])
def test_a_restored_trainer_takes_the_same_next_step(
    optimizer: str, n_steps: int, tmp_path: Path
) -> None:
    trainer, twin = toy_trainer(optimizer=optimizer), toy_trainer(optimizer=optimizer)
    initialise(twin.model, seed=5)
    for _ in range(n_steps):
        trainer.step(toy_windows())
    trainer.state().write(tmp_path)
    assert read_steps_done(tmp_path) == n_steps
    twin.restore(TrainingState.read(tmp_path))
    assert torch.equal(trainer.step(toy_windows()), twin.step(toy_windows()))
    for weight, expected in zip(twin.model.parameters(), trainer.model.parameters(), strict=True):
        assert torch.equal(weight, expected)
    assert [x.item() for x in twin.unlogged] == [x.item() for x in trainer.unlogged]


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
    with pytest.raises(ValueError, match=r"cannot write .*disk full; choose another place"):
        trainer.state().write(tmp_path)
    assert (tmp_path / STATE_FILE).read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == [STATE_FILE]


def test_steps_are_read_while_the_state_is_replaced(tmp_path: Path) -> None:
    """By files of other sizes, as losses that are not yet in the log make them."""
    trainer = toy_trainer()
    for n_steps in (1, 2):
        trainer.step(toy_windows())
        trainer.state().write(tmp_path)
        os.link(tmp_path / STATE_FILE, tmp_path / str(n_steps))
    done = threading.Event()

    def replace() -> None:
        for n_steps in itertools.cycle("12"):
            if done.is_set():
                return
            os.link(tmp_path / n_steps, tmp_path / "new")
            os.replace(tmp_path / "new", tmp_path / STATE_FILE)

    thread = threading.Thread(target=replace)
    thread.start()
    try:
        seen = {read_steps_done(tmp_path) for _ in range(2000)}
    finally:
        done.set()
        thread.join()
    assert seen == {1, 2}


OTHER: dict[str, dict[str, Any]] = {
    "model.d_model": {"model": MODEL | {"d_model": 36}},
    "model.n_layers": {"model": MODEL | {"n_layers": 3}},
    "model.bias": {"model": MODEL | {"bias": False}},
    "optimizer": {"optimizer": "adamw"},
    "seed": {"seed": 1},
    "matrix_lr": {"matrix_lr": 1e-3},
    "other_lr": {"other_lr": 1e-3},
    "weight_decay": {"weight_decay": 0.5},
    "warmup_steps": {"warmup_steps": 2},
    "final_lr_share": {"final_lr_share": 0.1},
    "max_grad_norm": {"max_grad_norm": 0.5},
    "batch_tokens": {"batch_tokens": 44},
    "precision": {"precision": "bfloat16"},
    "stages": {"stages": (Stage(steps=3, seq_len=7), Stage(steps=6, seq_len=11))},
}


@pytest.mark.parametrize(("field", "changes"), OTHER.items(), ids=OTHER)
def test_resuming_with_another_recipe_is_refused(
    field: str, changes: dict[str, Any], tmp_path: Path
) -> None:
    trained(tmp_path, max_minutes=0)
    before = (tmp_path / STATE_FILE).read_bytes()
    with pytest.raises(ValueError, match=f"begun with something else: {field} was .* and is "):
        trained(tmp_path, toy_recipe(**changes), resume=True)
    assert (tmp_path / STATE_FILE).read_bytes() == before


def test_a_resumed_run_may_be_watched_otherwise(tmp_path: Path) -> None:
    watching = {"log_every": 1, "save_every": 7, "evaluate_every": 3, "snapshots": 4}
    trained(tmp_path, max_minutes=0)
    trained(tmp_path, toy_recipe(name="another name", **watching), resume=True)
    assert read_steps_done(tmp_path) == toy_recipe().total_steps


@pytest.mark.parametrize(
    "corpus",
    [
        Corpus([CORPUS.texts[0].replace("cat", "dog", 1)]),
        Corpus([*CORPUS.texts, "more"]),
        Corpus([CORPUS.texts[0][:9], CORPUS.texts[0][9:]]),
    ],
    ids=["a word", "a file", "cut in two"],
)
def test_resuming_on_another_corpus_is_refused(corpus: Corpus, tmp_path: Path) -> None:
    trained(tmp_path, max_minutes=0)
    with pytest.raises(ValueError, match="begun with something else: the corpus was"):
        list(train(toy_recipe(), corpus, tmp_path, device=CPU, resume=True))


def test_resuming_with_another_tokenizer_is_refused(tmp_path: Path) -> None:
    trained(tmp_path, max_minutes=0)
    letters = sorted(set(SENTENCE))
    train_characters(["".join(letters[:-1]) + "Z"]).save(tmp_path / "tokenizer.json")
    with pytest.raises(ValueError, match="begun with something else: the tokenizer was"):
        trained(tmp_path, resume=True)


def test_resuming_from_nothing_or_a_broken_state_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="is missing; start without --resume"):
        trained(tmp_path / "nothing", resume=True)
    trained(tmp_path, max_minutes=0)
    path = tmp_path / STATE_FILE
    path.write_bytes(path.read_bytes()[:-7])
    with pytest.raises(ValueError, match=f"{STATE_FILE} cannot be read"):
        trained(tmp_path, resume=True)


def test_a_flipped_bit_anywhere_is_refused(tmp_path: Path) -> None:
    """Also in the header, where the step count stands, and in what still looks like numbers."""
    trained(tmp_path, max_minutes=0)
    path = tmp_path / STATE_FILE
    whole = path.read_bytes()
    for place in [*range(0, 600, 17), *np.linspace(600, len(whole) - 1, 40, dtype=int).tolist()]:
        flipped = bytearray(whole)
        flipped[place] ^= 1
        path.write_bytes(flipped)
        with pytest.raises(ValueError, match=f"{STATE_FILE} "):
            TrainingState.read(tmp_path)
    path.write_bytes(whole)
    assert TrainingState.read(tmp_path).steps_done == 1


def test_a_state_without_a_checksum_is_refused(tmp_path: Path) -> None:
    toy_trainer().state().write(tmp_path)
    save_file(load_file(tmp_path / STATE_FILE), tmp_path / STATE_FILE, {"steps_done": "0"})
    with pytest.raises(ValueError, match="has no checksum; start again in another folder"):
        TrainingState.read(tmp_path)


@pytest.mark.parametrize("steps_done", ["", "many", "-1"])
def test_a_step_count_that_is_none_is_refused(steps_done: str, tmp_path: Path) -> None:
    toy_trainer().state().write(tmp_path)
    header = {"steps_done": steps_done}
    save_file(load_file(tmp_path / STATE_FILE), tmp_path / STATE_FILE, header)
    with pytest.raises(ValueError, match=r"steps_done is '.*'; start again"):
        read_steps_done(tmp_path)
