"""Commands run in this process, on one thread, with no request to anywhere."""

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import pytest
import torch

from model.commands import COMMANDS, cli

os.environ["HF_HUB_OFFLINE"] = "1"  # read when transformers is imported, which is later

Command = Callable[..., "Result"]


@dataclass(frozen=True)
class Result:
    """How a command ended."""

    code: int
    out: list[str]
    err: list[str]

    @property
    def fields(self) -> dict[str, Any]:
        """The JSON that it ends with."""
        return json.loads(self.out[-1])

    @property
    def answer(self) -> dict[str, Any]:
        """The same of one that did what it was asked and had nothing to say beside it."""
        assert (self.code, self.err) == (0, [])
        return self.fields


@pytest.fixture(autouse=True, scope="package")
def one_thread() -> Iterator[None]:
    """On models this small threads only wait for each other, on a busy machine for minutes."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    """Run a command's module as `python -m model` would; a subprocess takes seconds."""

    def run(module: ModuleType, *arguments: object) -> Result:
        name = module.__name__.rpartition(".")[2]
        capsys.readouterr()
        code = 0
        try:
            cli.run(module, [str(word) for word in arguments], name, COMMANDS[name])
        except SystemExit as end:
            code = end.code
        out, err = capsys.readouterr()
        return Result(code, out.splitlines(), err.splitlines())

    return run
