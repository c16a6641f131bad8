"""Protects the independent side of the lesson on recurrence: as the models that run, by itself."""

import ast
import json
from pathlib import Path

import numpy as np
import pytest

from model.recurrence import stored
from model.recurrence.reading import attended, cross_patterns, n_right, on_own_letter, written
from model.recurrence.steps import steps
from model.recurrence.task import ids_of
from model.recurrence.translators import OfTransformer, Recurrent, n_parameters
from model.verify import recurred
from model.verify.recurred import IndependentRecurrence

ROWS = [("reverse", "headlight"), ("copy", "zzaazq"), ("reverse", "a"), ("copy", "xw" * 15)]
ALLOWED = 5e-6


def close(found: np.ndarray, independent: np.ndarray) -> None:
    """Equal but for float32, relative to the largest."""
    size = np.abs(independent).max()
    np.testing.assert_allclose(found, independent, atol=ALLOWED * size, rtol=0)


@pytest.mark.parametrize(("task", "text"), ROWS)
def test_all_of_a_row_is_as_the_models_have_it(task: str, text: str) -> None:
    side, letters = IndependentRecurrence(task, text), ids_of(text)
    for name in stored.NAMES:
        model = stored.shipped(name)
        target = written(model, task, letters)
        assert tuple(side.array(f"recurrence.{name}.written").tolist()) == target
        assert side.array(f"recurrence.{name}.right") == n_right(task, letters, target)
        assert side.array(f"recurrence.{name}.parameters") == n_parameters(model)
        for what, n in steps(model, len(letters))._asdict().items():
            assert side.array(f"recurrence.{name}.{what}") == n, (name, what)
        if isinstance(model, Recurrent) and model.attention is not None:
            found = attended(model, task, letters, target)
            for what in ("energies", "weights", "contexts"):
                close(getattr(found, what), side.array(f"recurrence.additive.{what}"))
        if isinstance(model, OfTransformer):
            patterns = cross_patterns(model, task, letters, target)
            close(patterns, side.array("recurrence.transformer.patterns"))
            own = on_own_letter(patterns, task, len(letters))
            close(own, side.array("recurrence.transformer.own"))


@pytest.mark.parametrize("task", ["reverse", "copy"])
@pytest.mark.parametrize("name", stored.NAMES)
def test_stored_shares(name: str, task: str) -> None:
    side = IndependentRecurrence("copy", "ab")
    for what, of_rows in (("rows", True), ("letters", False)):
        lengths, shares = stored.accuracy_by_length(stored.SHIPPED / name, task, of_rows=of_rows)
        np.testing.assert_array_equal(side.array(f"recurrence.{name}.length.{task}"), lengths)
        np.testing.assert_allclose(side.array(f"recurrence.{name}.{what}.{task}"), shares)


def test_a_part_and_what_is_not_there() -> None:
    side = IndependentRecurrence("reverse", "abc")
    assert side.array("recurrence.transformer.patterns[1,2]").shape[1] == 5
    assert side.labels() == ["reverse", "a", "b", "c", "end"]
    with pytest.raises(ValueError, match=r"nothing at recurrence\.fixed\.weights"):
        side.array("recurrence.fixed.weights")


def test_it_uses_nothing_of_the_models_that_run() -> None:
    tree = ast.parse(Path(recurred.__file__).read_text(encoding="utf-8"))
    modules = {
        node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module
    }
    own = {module for module in modules if module.startswith("model")}
    assert own == {"model", "model.verify.named", "model.verify.texts"}  # of model: reference


def test_shares_are_in_order_however_they_are_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recurred, "FOLDER", tmp_path)
    (tmp_path / "fixed").mkdir()
    lines = [
        {"task": "copy", "n_letters": 2, "n_rows": 4, "n_exact": 1, "n_right": 6},
        {"task": "copy", "n_letters": 1, "n_rows": 4, "n_exact": 3, "n_right": 3},
        {"task": "reverse", "n_letters": 1, "n_rows": 4, "n_exact": 0, "n_right": 0},
    ]
    (tmp_path / "fixed" / "accuracy.json").write_text(json.dumps({"scores": lines}))
    side = IndependentRecurrence("copy", "ab")
    assert side.array("recurrence.fixed.rows.copy").tolist() == [0.75, 0.25]
    assert side.array("recurrence.fixed.letters.copy").tolist() == [0.75, 0.75]
