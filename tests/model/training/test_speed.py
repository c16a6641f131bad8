"""Protects how long a training is said to take: steps times what is timed of one."""

from dataclasses import replace

import pytest

from model.training import speed
from model.training.plan import Stage
from model.training.presets import presets
from model.training.recipe import Recipe
from model.training.sized import recipe_for

COPY = Recipe.load(presets()["copy"])


def test_steps_are_times_what_is_timed_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """A step whose tokens are too many is timed by a part of them; the optimizers once a step."""
    monkeypatch.setattr(speed, "_fastest", lambda *parts: [0.5, 0.25])
    recipe = replace(
        COPY, batch_tokens=640, stages=(Stage(steps=10, seq_len=64), Stage(steps=100, seq_len=32))
    )
    assert speed.expected_seconds(recipe, 20) == pytest.approx(110 * 0.75)
    monkeypatch.setattr(speed, "_work", lambda *about: speed.MOST_WORK)  # one window each
    expected = 10 * (0.5 * 10 + 0.25) + 100 * (0.5 * 20 + 0.25)
    assert speed.expected_seconds(recipe, 20) == pytest.approx(expected)


def test_each_part_is_timed_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0, 9, 99, *(x for i in range(speed.ROUNDS) for x in (0, 3 - i, 8 - i))])
    monkeypatch.setattr(speed.time, "perf_counter", lambda: next(clock))
    done: list[str] = []
    assert speed._fastest(lambda: done.append("a"), lambda: done.append("b")) == [1, 5]
    assert done == ["a", "b"] * (1 + speed.ROUNDS)


def test_it_is_timed_here_or_too_large() -> None:
    assert 0 < speed.expected_seconds(COPY, 20) < 60  # type: ignore[operator]
    large = recipe_for(1000, "large").with_changes(["d_model=2048", "n_layers=8"])
    assert speed.expected_seconds(large, 100) is None


@pytest.mark.parametrize(
    "changes",
    [
        ["n_layers=1000", "d_model=8", "n_heads=1"],
        ["max_seq_len=8192", "seq_len=8192", "batch_tokens=8192"],
        ["d_model=384", "n_layers=10", "max_seq_len=4096", "seq_len=4096", "batch_tokens=4096"],
    ],
)
def test_what_a_person_would_wait_for_is_not_timed(
    changes: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(speed, "build_model", None)
    assert speed.expected_seconds(COPY.with_changes(changes), 20) is None
