"""Protects the commands' manners: --help, one line for an error, a bar only for a person."""

import json
import subprocess
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from types import ModuleType

import pytest
import torch

from model import evaluate, generate, train
from model.commands import cli, trace
from tests.model.builders import tiny_checkpoint
from tests.model.conftest import Command

ROOT = Path(__file__).parent.parent.parent
COMMANDS = [train, evaluate, generate, trace]


def run(command: ModuleType, monkeypatch: pytest.MonkeyPatch) -> int | str | None:
    """The exit code of a command without arguments; None when it ends by itself."""
    monkeypatch.setattr(sys, "argv", ["command"])
    try:
        cli.run("A test.", lambda parser: None, command)
    except SystemExit as end:
        return end.code
    return None


@pytest.mark.parametrize("module", COMMANDS, ids=lambda module: module.__name__)
def test_help_names_every_option(module: ModuleType, command: Command) -> None:
    parser = ArgumentParser()
    module._arguments(parser)
    result = command(module, "--help")
    text = "\n".join(result.out)
    assert (result.code, result.err) == (0, [])
    assert {option for option in parser._option_string_actions if option not in text} == set()
    assert "--device" in text


@pytest.mark.parametrize("module", COMMANDS, ids=lambda module: module.__name__)
def test_no_arguments_is_bad_usage(module: ModuleType, command: Command) -> None:
    result = command(module)
    assert result.code == 2
    assert "required" in result.err[-1]


def test_broken_checkpoint_from_a_shell(tmp_path: Path) -> None:
    """The whole way once: exit code 2, one line, no traceback."""
    folder = tiny_checkpoint(tmp_path)
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-7])
    command = [sys.executable, "-m", "model.generate", "--checkpoint", folder, "--prompt", "the"]
    answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert (answer.returncode, answer.stdout) == (2, "")
    assert len(answer.stderr.splitlines()) == 1
    assert answer.stderr.startswith("error: ")
    assert "it may be cut, copy it again" in answer.stderr


def test_a_value_error_of_many_lines_becomes_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(arguments: Namespace) -> dict[str, object]:
        raise ValueError("two\n  lines; mend it")

    assert run(fail, monkeypatch) == 2
    assert capsys.readouterr() == ("", "error: two lines; mend it\n")


def test_a_defect_is_not_dressed_up_as_bad_input(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(arguments: Namespace) -> dict[str, object]:
        raise KeyError("a defect")

    with pytest.raises(KeyError):
        run(fail, monkeypatch)


def test_an_interrupted_command_says_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(arguments: Namespace) -> dict[str, object]:
        raise KeyboardInterrupt

    assert run(interrupt, monkeypatch) == 130
    assert capsys.readouterr() == ("", "")


def test_result_is_one_line_of_readable_json(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    result = {"text": "é\n😀", "number": 0.5}
    assert run(lambda arguments: result, monkeypatch) is None
    out, err = capsys.readouterr()
    assert (len(out.splitlines()), err) == (1, "")
    assert "é" in out
    assert json.loads(out) == result


def test_no_bar_in_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    with cli.progress_bar("work") as on_progress:
        on_progress(1, 2)
    assert capsys.readouterr() == ("", "")


def test_a_person_sees_how_far_it_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with cli.progress_bar("work") as on_progress:
        on_progress(0, 0)
        on_progress(3, 4)
    assert "work " + "█" * 22 + "·" * 8 + "  75%" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("warp", "device 'warp' is unknown; use auto, cpu or cuda"),
        ("", "device '' is unknown"),
        ("meta", "device 'meta' is not supported; use"),
        ("cuda:99", r"device is cuda:99 but this machine has \d CUDA devices; use cpu"),
    ],
)
def test_devices_this_machine_lacks_are_refused(setting: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        cli.choose_device(setting)


@pytest.mark.parametrize(("has_cuda", "expected"), [(True, "cuda"), (False, "cpu")])
def test_auto_is_cuda_when_there_is_one(
    has_cuda: bool, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: has_cuda)
    assert cli.choose_device("auto").type == expected
    assert cli.choose_device("cpu") == torch.device("cpu")
