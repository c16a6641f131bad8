"""A run of eight small steps, its parts, and what it leaves on disk."""

import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor

from model.data.text import Corpus, TokenWindows, encode_texts
from model.training.objectives import LanguageModelling
from model.training.observers import METRICS_FILE
from model.training.plan import Stage
from model.training.recipe import Recipe
from model.training.run import train
from model.training.state import STATE_FILE
from model.training.trainer import Metrics, Observer, Trainer, build_model
from tests.model.builders import SENTENCE, tiny_tokenizer

CPU = torch.device("cpu")
CORPUS = Corpus([f"{SENTENCE} " * 20])
MODEL = {"d_model": 30, "n_layers": 2, "n_heads": 3, "d_ff": 13, "max_seq_len": 11}
TOML = """
name = "toy"
tokenizer = "characters"
vocab_size = 0
batch_tokens = 35
precision = "float32"
warmup_steps = 3
log_every = 2
[model]
d_model = 30
n_layers = 2
n_heads = 3
max_seq_len = 11
[[stages]]
steps = 5
seq_len = 7
"""


class Crash(Observer):
    """Fails after a step, as a full disk or a defect would."""

    def __init__(self, step: int) -> None:
        self.step = step

    def after_step(self, trainer: Trainer) -> None:
        """Fail, if it is time to."""
        if trainer.steps_done == self.step:
            raise RuntimeError("a crash")


def toy_recipe(**changes: object) -> Recipe:
    """Eight steps in two stages, saved every three, logged every two, evaluated every four."""
    fields = {
        "name": "toy",
        "tokenizer": "characters",
        "vocab_size": 0,
        "model": MODEL,
        "stages": (Stage(steps=3, seq_len=7), Stage(steps=5, seq_len=11)),
        "batch_tokens": 35,
        "precision": "float32",
        "warmup_steps": 3,
        "log_every": 2,
        "save_every": 3,
        "evaluate_every": 4,
    }
    return Recipe(**fields | changes)


def toy_trainer(**changes: object) -> Trainer:
    """A trainer before its first step."""
    recipe, tokenizer = toy_recipe(**changes), tiny_tokenizer()
    model = build_model(recipe, tokenizer.vocab_size)
    return Trainer(recipe, model, LanguageModelling(tokenizer, CORPUS, recipe.plan), CPU)


def toy_windows() -> Tensor:
    """Five windows of 7 tokens and their next, (5, 8)."""
    return TokenWindows(encode_texts(tiny_tokenizer(), CORPUS.texts), 7, 5, 0).batch(0)


def trained(out: Path, recipe: Recipe | None = None, **options: Any) -> list[Metrics]:  # noqa: ANN401
    """Train to the end, or as far as the options allow."""
    return list(train(recipe or toy_recipe(), CORPUS, out, device=CPU, **options))


def state(out: Path) -> dict[str, Tensor]:
    """Weights and optimizer moments as saved."""
    return load_file(out / STATE_FILE)


def log_lines(out: Path) -> list[dict[str, Any]]:
    """The training log without what the clock says."""
    lines = [json.loads(line) for line in (out / METRICS_FILE).read_text().splitlines()]
    for line in (*lines, *(scores for x in lines for scores in (x["held_out"] or {}).values())):
        line.pop("tokens_per_second", None)
        line.pop("seconds", None)
    return lines


def assert_same_run(actual: Path, expected: Path) -> None:
    """Bit for bit the same weights, moments and finished checkpoint, and the same log."""
    states = state(actual), state(expected)
    assert states[0].keys() == states[1].keys()
    for name, tensor in states[1].items():
        assert torch.equal(states[0][name], tensor), name
    for name in ("model.safetensors", "config.json", "tokenizer.json"):
        assert (actual / name).exists() == (expected / name).exists()
        if (actual / name).exists():
            assert (actual / name).read_bytes() == (expected / name).read_bytes()
    assert log_lines(actual) == log_lines(expected)
