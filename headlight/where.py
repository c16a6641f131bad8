"""Where the rest of Headlight lies: beside this package in a clone, inside it where pip put it."""

import sys
from importlib.util import find_spec
from pathlib import Path

INSIDE = Path(__file__).parent / "house"
HOUSE = INSIDE if INSIDE.is_dir() else Path(__file__).parents[1]


def enter() -> None:
    """Have its packages found, before a `model.py` that may lie where Python was started.

    ImportError where another module has the name of one of them already.
    """
    if sys.path[:1] != [str(HOUSE)]:
        sys.path.insert(0, str(HOUSE))
    for name in ("model", "viz"):
        origin = getattr(find_spec(name), "origin", None)
        if Path(str(origin)).parent.parent != HOUSE:
            raise ImportError(
                f"{origin} stands in the place of Headlight's own {name!r}; rename it"
            )
