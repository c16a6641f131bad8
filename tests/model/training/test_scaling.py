"""Protects `python -m model scale`: every run has a whole schedule, and is not trained twice."""

import json
from pathlib import Path

import pytest

from model.commands import scale
from model.training.recipe import Recipe
from model.training.scaling import Planned, grid, recipe_of
from tests.model.conftest import Command

BASE = Path(__file__).parents[3] / "assets" / "scaling" / "recipe.toml"


def test_each_run_has_its_own_whole_schedule() -> None:
    base = Recipe.load(BASE)
    for planned in grid():
        recipe = recipe_of(base, planned)
        assert recipe.plan.tokens_until(recipe.total_steps) == planned.tokens
        assert recipe.lr_share(recipe.total_steps) == pytest.approx(0, abs=1e-9)
        assert recipe.warmup_steps == recipe.total_steps // 16
    assert len(grid()) == 9


def test_too_few_tokens_get_one_line() -> None:
    with pytest.raises(ValueError, match="500 tokens fill no step of 2,048"):
        recipe_of(Recipe.load(BASE), Planned(32, 2, 500))


def test_a_run_is_measured_stored_and_not_trained_again(tmp_path: Path, command: Command) -> None:
    text = tmp_path / "text.txt"
    text.write_text("Tom had a red ball. He saw a dog in the park. " * 200)
    words = (BASE, "--corpus", text, "--held-out", text, "--out", tmp_path / "out",
             "--sizes", "32x1", "--tokens", "4096")  # fmt: skip
    first = command(scale, *words)
    assert first.code == 0, first.err
    stored = tmp_path / "out" / "runs.json"
    before = stored.read_bytes()
    (run,) = json.loads(before)["runs"]
    assert run["tokens"] == 4096
    assert run["held_out"]["text.txt"]["window"] == 128
    log = tmp_path / "out" / "32-4096" / "metrics.jsonl"
    trained = log.stat().st_mtime_ns
    assert command(scale, *words).code == 0
    assert stored.read_bytes() == before
    assert log.stat().st_mtime_ns == trained
