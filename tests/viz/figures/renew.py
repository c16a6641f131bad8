"""What is stored of every figure; `python -m tests.viz.figures.renew` stores what they are now."""

from collections import Counter
from itertools import groupby
from pathlib import Path

from tests.viz.figures.cases import CASES
from tests.viz.figures.reading import reading

STORED = Path(__file__).parent / "stored"


def _named() -> dict[str, int]:
    """The places of the cases by module and function, from a function's second on with a number."""
    counts: Counter[str] = Counter()
    names = {}
    for place, case in enumerate(CASES):
        name = f"{case.func.__module__.rpartition('.')[2]} {case.func.__name__}"
        counts[name] += 1
        names[name if counts[name] == 1 else f"{name} {counts[name]}"] = place
    return names


NAMED = _named()


def file_of(name: str) -> Path:
    """Where a case is stored, with all those of its module."""
    return STORED / f"{name.split()[0]}.txt"


def described(name: str) -> str:
    """A case: its name, and what its figure shows."""
    return "\n".join([f"== {name}", *reading(CASES[NAMED[name]]())])


if __name__ == "__main__":
    for path, names in groupby(sorted(NAMED), file_of):
        path.write_text("\n\n".join(map(described, names)) + "\n", encoding="utf-8")
