"""The log of a training, read as it grows."""

import json
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from model.config import LARGEST_NUMBER
from model.files import opened
from model.lines import quoted, spelled
from model.training.evaluation import LARGEST_LOG

MOST_LOGS = 64  # kept in memory

_reading = threading.Lock()


@dataclass
class _Log:
    """What was read of a log: so many bytes, the last line of them, and all lines parsed."""

    n_bytes: int = 0
    tail: bytes = b""
    lines: list[Mapping[str, Any]] = field(default_factory=list)


_logs: dict[Path, _Log] = {}


def read_lines(path: Path) -> tuple[Mapping[str, Any], ...]:
    """The whole lines of a log; only what is new since the last time is read."""
    if not path.is_file():
        return ()
    with _reading, opened(path, LARGEST_LOG) as file:
        log = _logs.pop(path, _Log())
        file.seek(log.n_bytes - len(log.tail))
        if file.read(len(log.tail)) != log.tail:  # it was begun again, or cut
            log = _Log()
            file.seek(0)
        whole, end, _half = file.read().rpartition(b"\n")
        if end:
            new = whole.split(b"\n")
            log.lines += [_parsed(line, path) for line in new]
            log.n_bytes, log.tail = log.n_bytes + len(whole) + 1, new[-1] + end
        _logs[path] = log
        if len(_logs) > MOST_LOGS:
            del _logs[next(iter(_logs))]
        return tuple(log.lines)


def _parsed(line: bytes, path: Path) -> Mapping[str, Any]:
    """A line of metrics; ValueError when a value is of another kind, or not finite."""
    try:
        found = json.loads(line, parse_constant=_refuse, parse_float=_number, parse_int=_number)
        scores = [*(found["held_out"] or {}).values(), found.get("trained_on"), found.get("alone")]
        losses = [*(score["loss"] for score in scores if score is not None), found["loss"]]
        numbers = [found[name] for name in ("learning_rate", "tokens", "tokens_per_second")]
        numbers += [found.get("seconds"), *losses, *found.get("gradient_norms", {}).values()]
        is_right = isinstance(found["step"], int) and isinstance(found.get("sample", ""), str)
        if not is_right or not all(x is None or isinstance(x, int | float) for x in numbers):
            raise ValueError("a value is of another kind")
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise ValueError(
            f"{spelled(path)} is not a log of training: {quoted(error)}; remove it"
        ) from None
    return found


def _number(text: str) -> float:
    """A number of JSON that a figure can draw."""
    number = float(text) if re.search(r"[.eE]", text) else int(text)
    if not abs(number) < LARGEST_NUMBER:
        _refuse(text)
    return number


def _refuse(text: str) -> NoReturn:
    raise ValueError(f"{quoted(text)} is too large or no number")
