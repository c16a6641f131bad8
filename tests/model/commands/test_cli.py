"""Protects the commands' manners: --help, one line for an error, a bar only for a person."""

import json
import math
import os
import signal
import sys
from argparse import Namespace
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from model.commands import About, cli

Run = Callable[[Namespace], cli.Answer]


def run(command: Run) -> int | str | None:
    """The exit code of a command without arguments; None when it ends by itself."""
    module = SimpleNamespace(add_arguments=lambda parser: None, run=command)
    try:
        cli.run(module, [], "test", About("do nothing", "python -m model test"))
    except SystemExit as end:
        return end.code
    return None


def test_a_value_error_of_many_lines_becomes_one(capsys: pytest.CaptureFixture[str]) -> None:
    def fail(arguments: Namespace) -> cli.Answer:
        raise ValueError("two\n  lines; mend it")

    assert run(fail) == 2
    assert capsys.readouterr() == ("", "error: two lines; mend it\n")


def test_a_defect_is_not_dressed_up_as_bad_input() -> None:
    def fail(arguments: Namespace) -> cli.Answer:
        raise KeyError("a defect")

    with pytest.raises(KeyError):
        run(fail)


def test_an_interrupted_command_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    def interrupt(arguments: Namespace) -> cli.Answer:
        raise KeyboardInterrupt

    assert run(interrupt) == 130
    assert capsys.readouterr() == ("", "")


def test_an_answer_that_nobody_reads_to_its_end_says_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as nobody:
        monkeypatch.setattr(sys, "stdout", nobody)
        assert run(lambda arguments: cli.Answer({"a": 1})) == 141
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_leaves_by_the_way_of_exceptions(number: int) -> None:
    """So that half-written files are removed, and a run in training saves its state."""
    cleaned = []

    def wait(arguments: Namespace) -> cli.Answer:
        try:
            signal.raise_signal(number)
        finally:
            cleaned.append(number)
        return cli.Answer({})

    before = signal.getsignal(number)
    assert run(wait) == 128 + number
    assert cleaned == [number]
    assert signal.getsignal(number) is before


def test_result_is_one_line_of_readable_json(capsys: pytest.CaptureFixture[str]) -> None:
    result = {"text": "é\n😀", "number": 0.5}
    assert run(lambda arguments: cli.Answer(result)) is None
    out, err = capsys.readouterr()
    assert (len(out.splitlines()), err) == (1, "")
    assert "é" in out
    assert json.loads(out) == result


def test_what_json_does_not_know_is_null(capsys: pytest.CaptureFixture[str]) -> None:
    result = {"a": math.nan, "b": [1.5, math.inf], "c": {"d": (-math.inf, None, "inf")}}
    run(lambda arguments: cli.Answer(result))
    line = capsys.readouterr().out
    assert json.loads(line, parse_constant=pytest.fail) == {
        "a": None,
        "b": [1.5, None],
        "c": {"d": [None, None, "inf"]},
    }


def test_an_answer_may_have_its_own_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(lambda arguments: cli.Answer({"passed": False}, exit_code=1)) == 1
    assert json.loads(capsys.readouterr().out) == {"passed": False}


def test_the_words_of_the_line_are_kept() -> None:
    seen: list[list[str]] = []

    def look(arguments: Namespace) -> cli.Answer:
        seen.append(arguments.words)
        return cli.Answer({})

    module = SimpleNamespace(add_arguments=lambda parser: parser.add_argument("--a"), run=look)
    cli.run(module, ["--a", "b c"], "test", About("do nothing", "python -m model test"))
    assert seen == [["--a", "b c"]]


def test_no_bar_in_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    with cli.progress_bar("work") as on_progress:
        on_progress(1, 2)
        on_progress(2, 2)
    assert capsys.readouterr() == ("", "")


def test_a_person_sees_how_far_it_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with cli.progress_bar("work") as on_progress:
        on_progress(0, 4)
        on_progress(3, 4)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("\rwork ")
    last = err.rstrip("\n").split("\r")[-1]
    assert " 75%" in last
    assert last.endswith(" left")
