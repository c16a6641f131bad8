"""Protects the notebooks in examples/: every cell runs, and what it ends with is shown."""

import ast
import json
from pathlib import Path

import pytest

from tests.model.adopted.families import saved

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize("name", ["stories", "your_own_model"])
def test_every_cell_runs(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = EXAMPLES / f"{name}.ipynb"
    monkeypatch.setenv("MY_MODEL", str(saved(tmp_path / "own")))
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == []
            exec(_shown_at_its_end("".join(cell["source"])), names)
    assert "<attention>" in capsys.readouterr().out


def _shown_at_its_end(text: str) -> str:
    """A cell whose last expression, if it ends with one, is shown as a notebook does."""
    last = ast.parse(text).body[-1]
    if not isinstance(last, ast.Expr):
        return text
    lines = text.splitlines()[: last.lineno - 1]
    shown = f"value = {ast.unparse(last)}"
    return "\n".join([*lines, shown, "getattr(value, '_ipython_display_', value.__repr__)()"])
