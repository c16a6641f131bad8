"""Protects `python -m model`: it says what there is, fast, and hands on to the command."""

import json
import os
import re
import shlex
import subprocess
import sys
from argparse import ArgumentParser
from collections.abc import Callable
from importlib import import_module
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from headlight.__main__ import main as headlight
from model import commands
from model.__main__ import main
from model.commands import COMMANDS
from tests.model.builders import tiny_checkpoint

ROOT = Path(__file__).parents[3]
FOLDER = Path(commands.__file__).parent


def test_the_table_has_every_module_of_the_folder() -> None:
    modules = {path.stem for path in FOLDER.glob("*.py")} - {"__init__", "cli"}
    assert set(COMMANDS) == modules


@pytest.mark.parametrize("words", [["--help"], []], ids=["help", "nothing"])
def test_help_names_each_command_with_an_example(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        main(words)
    out, err = capsys.readouterr()
    assert (end.value.code, err) == (0, "")
    assert out.startswith("usage: python -m model ")
    for name, about in COMMANDS.items():
        assert re.search(rf"\n    {name}\s", out)
        assert about.summary in " ".join(out.split())
        assert f"\n  {about.example}\n" in out
        assert about.example.startswith(f"python -m model {name} ")


@pytest.mark.parametrize("name", COMMANDS)
def test_examples_are_lines_the_command_understands(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its option names exist, and none that is required is left out."""
    parser = ArgumentParser()
    import_module(f"model.commands.{name}").add_arguments(parser)
    parser.parse_args(shlex.split(COMMANDS[name].example)[4:])
    assert capsys.readouterr() == ("", "")


def test_help_does_not_import_torch() -> None:
    code = (
        "import sys\nfrom model.__main__ import main\n"
        "try:\n    main(['--help'])\n"
        "finally:\n    print(sorted({'torch', 'numpy', 'tqdm'} & set(sys.modules)))"
    )
    command = [sys.executable, "-c", code]
    answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert answer.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    ("main", "words"),
    [
        (main, ["check", "--text", "日本 →", "--checkpoint"]),
        (main, ["generate", "--prompt", "日本 →", "--checkpoint"]),
        (headlight, ["check", "--text", "日本 →"]),
    ],
    ids=["check", "generate", "headlight"],
)
def test_what_is_printed_is_utf_8_whatever_the_locale(
    main: Callable[[list[str]], None],
    words: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A command did its work and then had no letter for ᵀ."""
    printed = TextIOWrapper(BytesIO(), encoding="cp1252")
    monkeypatch.setattr(sys, "stdout", printed)
    main([*words, str(tiny_checkpoint(tmp_path / "mine"))])
    *lines, last = printed.buffer.getvalue().decode("utf-8").splitlines()
    assert json.loads(last) and re.search("日本 →|ᵀ", "\n".join(lines))


def test_so_is_the_line_of_a_mistake() -> None:
    """Of the program itself, where what is printed is said to be in Windows' own letters."""
    environment = {**os.environ, "PYTHONIOENCODING": "cp1252"}
    program = [sys.executable, "-m", "headlight", "check", "日本"]
    done = subprocess.run(program, cwd=ROOT, env=environment, capture_output=True)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode("utf-8").startswith("error: '日本'")
