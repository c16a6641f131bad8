"""Planting a fault, and asking who should notice it, in a process of its own."""

import importlib.abc
import importlib.util
import multiprocessing
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

from tests.sabotage.faults import SELF_CHECK, Fault

ROOT = Path(__file__).parents[2]
Answers = Any  # a queue of lists of lines
SENTENCE = "Tom had a red ball. Tom gave Sam the red ball."


def planted(fault: Fault) -> str:
    """The source of the fault's file with the fault in it."""
    source = (ROOT / fault.file).read_text(encoding="utf-8")
    if source.count(fault.old) != 1:
        raise ValueError(
            f"{fault.name}: {fault.file} has its place {source.count(fault.old)} times"
        )
    return source.replace(fault.old, fault.new)


class Planter(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports one module from a source that has a fault, and leaves all others alone."""

    def __init__(self, fault: Fault) -> None:
        self.path, self.source = ROOT / fault.file, planted(fault)
        file = Path(fault.file)
        self.is_package = file.stem == "__init__"
        self.module = ".".join((file.parent if self.is_package else file.with_suffix("")).parts)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """A spec for the one module."""
        if fullname != self.module:
            return None
        within = [str(self.path.parent)] if self.is_package else None
        return importlib.util.spec_from_file_location(
            fullname, self.path, loader=self, submodule_search_locations=within
        )

    def create_module(self, spec: ModuleSpec) -> None:
        """As usual."""

    def exec_module(self, module: ModuleType) -> None:
        """Run the source with the fault."""
        exec(compile(self.source, str(self.path), "exec"), vars(module))


def failed_checks(model: str) -> list[str]:
    """The names of the checks of one run that failed, in this process."""
    from model.sources import checkpoint

    loaded = checkpoint.load(model, "cpu")
    found = loaded.check(loaded.trace(SENTENCE).trace)
    return [item.name for item in found if not item.passed]


def _asked(fault: Fault, answers: Answers) -> None:
    sys.meta_path.insert(0, Planter(fault))
    try:
        answers.put(failed_checks(fault.model))
    except Exception as error:
        answers.put([f"it does not run: {type(error).__name__}: {error}"])


def noticed(fault: Fault) -> list[str]:
    """What the self-check says of a fault, asked in a child that has not imported the model yet."""
    if fault.probe != SELF_CHECK:
        raise ValueError(f"{fault.name} is for another probe: {fault.probe}")
    return _in_a_child(_asked, fault)


def _in_a_child(
    ask: Callable[[Fault, "multiprocessing.Queue[list[str]]"], None], fault: Fault
) -> list[str]:
    if any(name == "model" or name.startswith("model.") for name in sys.modules):
        raise RuntimeError("this process has imported the model: a child would have it too")
    context = multiprocessing.get_context("fork")  # torch, once imported, need not be again
    answers = context.Queue()
    child = context.Process(target=ask, args=(fault, answers))
    child.start()
    found = answers.get(timeout=120)
    child.join()
    return found
