"""Protects `python -m model`: it says what there is, fast, and hands on to the command."""

import re
import shlex
import subprocess
import sys
from argparse import ArgumentParser
from importlib import import_module
from pathlib import Path

import pytest

from model import commands
from model.__main__ import main
from model.commands import COMMANDS

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
